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

/** What a reader of the stream gets: also `gap`, some events that it asked for are no longer kept. */
export type StreamKind = FeedKind | 'gap'
