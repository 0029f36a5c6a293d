/** The kinds of event in a client's stream, `GET /__admin/events`; docs/testing.md (Watch it live) says what each reports. */
export type FeedKind =
  | 'request'
  | 'change'
  | 'timer'
  | 'delivery'
  | 'clock'
  | 'scenario'
  | 'reset'
  | 'restore'

/** The event kinds that a reader of the stream receives. `gap`: some requested events are no longer stored. */
export type StreamKind = FeedKind | 'gap'
