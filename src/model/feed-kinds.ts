/** The kinds of event in a client's stream, `GET /__admin/events`; docs/testing.md (Watch it live) says what each reports. */
export type FeedKind =
  | 'request'
  | 'waiting'
  | 'change'
  | 'timer'
  | 'delivery'
  | 'clock'
  | 'scenario'
  | 'assumptions'
  | 'reset'
  | 'restore'

/** The event kinds that a reader of the stream receives. `gap`: some requested events are no longer stored. */
export type StreamKind = FeedKind | 'gap'

/** One event of the live stream of a client's world. */
export type SandboxEvent = {
  /** The id to resume the stream after this event, as `lastEventId`. */
  id: string
  /** `gap`: some requested events are no longer stored. */
  kind: StreamKind
  /** The fields of the kind, as listed in docs/testing.md (Watch it live). */
  data: Record<string, unknown>
}
