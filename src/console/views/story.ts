// What happened to a payment, in the order in which it happened.
import type { Delivery, Step } from '../types.ts'

/** A state that the payment came into, or an event that was fired without one; with what was told of it. */
export type Moment = {
  key: string
  at: string
  /** The state; of an event without one, that in which the payment was. */
  status: Step['status']
  isStep: boolean
  deliveries: Delivery[]
}

// An event is made as its state is stored; what is later than this was fired by hand.
const AT_ONCE_MS = 60_000

const eventOf = (status: string) => `transaction.${status.toLowerCase()}`

/** Whether a delivery is of the event that a state makes. */
function isOf({ at, status, deliveries }: Moment, { event, event_id, created_at }: Delivery) {
  if (event !== eventOf(status)) return false
  const late = Date.parse(created_at) - Date.parse(at)
  if (late < 0 || late > AT_ONCE_MS) return false
  // An event may be delivered in several copies.
  return deliveries.every((one) => event_id !== null && one.event_id === event_id)
}

/** Puts the deliveries, newest first as they are listed, to the states that they tell of. */
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
    const state = states.find((one) => isOf(one, delivery))
    const same = others.find(
      ({ deliveries: [first] }) => event_id !== null && first!.event_id === event_id,
    )
    const { status } = states.findLast((one) => one.at <= at) ?? states[0]!
    if (state) state.deliveries.push(delivery)
    else if (same) same.deliveries.push(delivery)
    else others.push({ key, at, status, isStep: false, deliveries: [delivery] })
  }
  // Within one instant, normal on a frozen clock, the deliveries tell what came first.
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

/** The number of a further copy: `dlv_…_2` is the second. An event that was only recorded, `rec_2`, has no copies. */
export const copyOf = (delivery_id: string): string | undefined =>
  /^dlv_[^_]+_(\d+)$/.exec(delivery_id)?.[1]

const times = (count: number) => (count === 1 ? '1 attempt' : `${count} attempts`)

/** How a delivery ended, or what it waits for. */
export function fateOf({
  status,
  attempts,
  rule,
  hold_until,
  next_attempt_at,
}: Omit<Delivery, 'delivery_id'>): string {
  const tried = times(attempts.length)
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
      return 'not sent: there was no webhook'
    default:
      if (attempts.length > 0) return `not delivered after ${tried}, to be tried again`
      if (hold_until !== null) return `held until ${hold_until}`
      return next_attempt_at === null ? 'waits for the event before it' : 'to be sent'
  }
}

/** How an attempt ended. Where no answer came, the message says why. */
export function endOf({ ok, status, error }: Delivery['attempts'][number]): string {
  if (status === null) return `failed: ${error?.message ?? 'no answer'}`
  return `${ok ? 'accepted' : 'refused'} (${status})`
}
