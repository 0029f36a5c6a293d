// What happened to a payment, in the order in which it happened.
import type { Delivery, Step } from '../api.ts'

/** A status that the payment reached, or an event that was sent without a status change; with its deliveries. */
export type Moment = {
  key: string
  at: string
  /** The status; for an event without a status change, the status at that time. */
  status: Step['status']
  isStep: boolean
  deliveries: Delivery[]
}

// An event is created with its status change; an event later than this was triggered by hand.
const MAX_EVENT_DELAY_MS = 60_000

const eventOf = (status: string) => `transaction.${status.toLowerCase()}`

/** Whether a delivery belongs to the event of a status change. */
function belongsTo({ at, status, deliveries }: Moment, { event, event_id, created_at }: Delivery) {
  if (event !== eventOf(status)) return false
  const delay = Date.parse(created_at) - Date.parse(at)
  if (delay < 0 || delay > MAX_EVENT_DELAY_MS) return false
  // An event may be delivered in several copies.
  return deliveries.every((one) => event_id !== null && one.event_id === event_id)
}

/** Assigns the deliveries (newest first) to the status changes that they report. */
export function storyOf(steps: readonly Step[], deliveries: readonly Delivery[]): Moment[] {
  const states: Moment[] = steps.map(({ status, at }) => ({
    key: status,
    at,
    status,
    isStep: true,
    deliveries: [],
  }))
  const others: Moment[] = []
  const oldestFirst = deliveries.toReversed()
  for (const delivery of oldestFirst) {
    const { event_id, delivery_id: key, created_at: at } = delivery
    const state = states.find((one) => belongsTo(one, delivery))
    const same = others.find(
      ({ deliveries: [first] }) => event_id !== null && first!.event_id === event_id,
    )
    const { status } = states.findLast((one) => one.at <= at) ?? states[0]!
    if (state) state.deliveries.push(delivery)
    else if (same) same.deliveries.push(delivery)
    else others.push({ key, at, status, isStep: false, deliveries: [delivery] })
  }
  // If times are equal, which is normal on a frozen clock, the deliveries give the order.
  const ranks = new Map<Moment, number>()
  let rank = 0
  for (const moment of states) {
    const [first] = moment.deliveries
    rank = Math.max(rank, first ? oldestFirst.indexOf(first) : 0)
    ranks.set(moment, rank)
  }
  for (const moment of others) ranks.set(moment, oldestFirst.indexOf(moment.deliveries[0]!))
  return [...states, ...others].sort(
    (a, b) => a.at.localeCompare(b.at) || ranks.get(a)! - ranks.get(b)!,
  )
}

/** Returns the number of a copy: `dlv_…_2` is the second. An event that was only recorded, such as `rec_2`, has no copies. */
export const copyOf = (delivery_id: string): string | undefined =>
  /^dlv_[^_]+_(\d+)$/.exec(delivery_id)?.[1]

const attemptsText = (count: number) => (count === 1 ? '1 attempt' : `${count} attempts`)

/** Describes how a delivery ended, or what it waits for. */
export function deliveryText({
  status,
  attempts,
  rule,
  hold_until,
  next_attempt_at,
}: Omit<Delivery, 'delivery_id'>): string {
  const tried = attemptsText(attempts.length)
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

/** Describes how an attempt ended. If there was no response, the message says why. */
export function attemptText({ ok, status, error }: Delivery['attempts'][number]): string {
  if (status === null) return `failed: ${error?.message ?? 'no response'}`
  return `${ok ? 'accepted' : 'rejected'} (${status})`
}
