// How a delivery ended, in words.
import type { Delivery } from '../api.ts'
import { countText } from '../format.ts'

/** Returns the number of a copy: `dlv_…_2` is the second. An event that was only recorded, such as `rec_2`, has no copies. */
export const copyOf = (delivery_id: string): string | undefined =>
  /^dlv_[^_]+_(\d+)$/.exec(delivery_id)?.[1]

/** Describes how a delivery ended, or what it waits for. */
export function deliveryText({
  status,
  attempts,
  rule,
  hold_until,
  next_attempt_at,
}: Omit<Delivery, 'delivery_id'>): string {
  const tried = countText(attempts.length, 'attempt')
  switch (status) {
    case 'delivered':
      return attempts.length === 1 ? 'delivered' : `delivered after ${tried}`
    case 'failed':
      return `delivery failed after ${tried}`
    case 'dropped':
      return `not sent: dropped by ${rule ?? 'a rule'}`
    case 'cancelled':
      return attempts.length === 0 ? 'cancelled before it was sent' : `cancelled after ${tried}`
    case 'recorded':
      return 'not sent: no webhook was set'
    default:
      if (attempts.length > 0) return `not delivered after ${tried}, will be retried`
      if (hold_until !== null) return `waits for ${hold_until}`
      return next_attempt_at === null ? 'waits for the previous event' : 'not sent yet'
  }
}
