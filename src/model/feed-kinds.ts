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

// Describes the result of a delivery that was just sent. The CLI and the console both use it, so this file imports
// nothing.

/** The fields of a delivery that the descriptions need. */
export type SentDelivery = {
  status: string
  next_attempt_at: string | null
  attempts: readonly { ok: boolean; status: number | null; error: { message: string } | null }[]
}

/** The result of the last attempt: its error message, or the status of the response. */
export function lastResult({ attempts }: Pick<SentDelivery, 'attempts'>): string {
  const last = attempts.at(-1)
  if (!last) return 'not sent'
  return last.error?.message ?? `${last.status}`
}

/** Whether the receiver rejected the last attempt. */
export const isRejected = ({ status, attempts }: SentDelivery): boolean =>
  status === 'failed' || attempts.at(-1)?.ok === false

/** The status with the last result. A delivery that was accepted before stays delivered when a redelivery fails. */
export const sentStatus = (one: SentDelivery): string =>
  one.status === 'delivered' && isRejected(one)
    ? `delivered before, this redelivery failed (${lastResult(one)})`
    : `${one.status} (${lastResult(one)})`

/** Says when the next attempt is, with its time as `timeText` formats it; undefined if there is none. */
export const nextAttempt = (
  { status, next_attempt_at }: SentDelivery,
  timeText = (at: string) => at,
): string | undefined =>
  status === 'pending' && next_attempt_at !== null
    ? `the next attempt is at ${timeText(next_attempt_at)}`
    : undefined
