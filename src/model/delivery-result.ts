// How a delivery that was just sent ended, in words. The CLI and the console both say them, so this file imports nothing.

/** What the words need to know of a delivery. */
export type SentDelivery = {
  status: string
  next_attempt_at: string | null
  attempts: readonly { ok: boolean; status: number | null; error: { message: string } | null }[]
}

/** How the last attempt ended: its error, or the status of the answer. */
export function lastResult({ attempts }: Pick<SentDelivery, 'attempts'>): string {
  const last = attempts.at(-1)
  if (!last) return 'not sent'
  return last.error?.message ?? `${last.status}`
}

/** Whether the receiver did not accept the delivery when it was last sent. */
export const isRejected = ({ status, attempts }: SentDelivery): boolean =>
  status === 'failed' || attempts.at(-1)?.ok === false

/** The status with the last result. A delivery that was accepted before stays delivered when a redelivery fails. */
export const sentStatus = (one: SentDelivery): string =>
  one.status === 'delivered' && isRejected(one)
    ? `delivered before, this redelivery failed (${lastResult(one)})`
    : `${one.status} (${lastResult(one)})`

/** When a delivery is tried again; undefined where it is not. */
export const nextAttempt = ({ status, next_attempt_at }: SentDelivery): string | undefined =>
  status === 'pending' && next_attempt_at !== null
    ? `the next attempt is at ${next_attempt_at}`
    : undefined
