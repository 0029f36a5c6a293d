/** One way in which events may arrive: at least once each, in any order. */
export type ArrivalOrder<T> = {
  /** The events in order of arrival; an event that is delivered twice is here twice. */
  sequence: T[]
  /** The same as positions in the given list, from 0. */
  indexes: number[]
  /** The number of repeated deliveries. */
  copies: number
  /** The distance from the given order: the number of swapped pairs, plus how late each repeat arrives. */
  disturbance: number
}

export type ArrivalOrdersInput<T> = {
  /** The events of one resource, in the order they happened. */
  events: readonly T[]
  /** A fraction in [0, 1), from the world's seeded source. */
  random: () => number
  /** The maximum number of orders; the given order is not one of them. */
  max_orders: number
}

// This share of the orders of one length has the smallest distance. The others are drawn from all orders, since a bug
// may need a larger distance than a bounded search in order reaches.
const NEAREST_SHARE = 0.75
// A draw that repeats a known order is repeated at most this often.
const DRAWS_PER_ORDER = 8

type Draft = { indexes: number[]; disturbance: number }

/** Every permutation of 0..n-1 with exactly `swaps` pairs out of order. */
function* permutations(rest: number[], swaps: number): Generator<number[]> {
  const left = rest.length - 1
  if (left < 0) {
    if (swaps === 0) yield []
    return
  }
  // Taking the item at position i moves it before i others; the rest can have at most left*(left-1)/2 swaps.
  for (let i = Math.max(0, swaps - (left * (left - 1)) / 2); i <= Math.min(left, swaps); i++) {
    const others = rest.filter((_, at) => at !== i)
    for (const tail of permutations(others, swaps - i)) yield [rest[i]!, ...tail]
  }
}

/** Every way to put `copies` repeats into `base`, each after `from`, with a total delay of `late` positions. */
function* withCopies(base: number[], copies: number, late: number, from = 0): Generator<number[]> {
  if (copies === 0) {
    if (late === 0) yield base
    return
  }
  for (let at = from + 1; at <= base.length; at++) {
    const seen = new Set<number>()
    for (let back = at - 1; back >= 0 && at - 1 - back <= late; back--) {
      const event = base[back]!
      if (seen.has(event)) continue
      seen.add(event)
      const longer = [...base.slice(0, at), event, ...base.slice(at)]
      yield* withCopies(longer, copies - 1, late - (at - 1 - back), at)
    }
  }
}

/** Every order of n events with this number of repeats, smallest distance first. */
function* nearest(n: number, copies: number): Generator<Draft> {
  const inOrder = Array.from({ length: n }, (_, i) => i)
  const most = (n * (n - 1)) / 2 + copies * (n + copies)
  for (let disturbance = 0; disturbance <= most; disturbance++)
    for (let swaps = 0; swaps <= disturbance; swaps++)
      for (const base of permutations(inOrder, swaps))
        for (const indexes of withCopies(base, copies, disturbance - swaps))
          yield { indexes, disturbance }
}

/** One random order of n events with this number of repeats. */
function draw(n: number, copies: number, random: () => number): Draft {
  const below = (limit: number) => Math.min(limit - 1, Math.floor(random() * limit))
  const indexes = Array.from({ length: n }, (_, i) => i)
  for (let i = n - 1; i > 0; i--) {
    const j = below(i + 1)
    ;[indexes[i], indexes[j]] = [indexes[j]!, indexes[i]!]
  }
  for (let k = 0; k < copies; k++) {
    const of = below(indexes.length)
    indexes.splice(of + 1 + below(indexes.length - of), 0, indexes[of]!)
  }
  return { indexes, disturbance: disturbanceOf(indexes) }
}

function disturbanceOf(indexes: number[]): number {
  const lastAt = new Map<number, number>()
  let sum = 0
  indexes.forEach((event, at) => {
    const before = lastAt.get(event)
    if (before !== undefined) sum += at - before - 1
    else for (const earlier of lastAt.keys()) if (earlier > event) sum++
    lastAt.set(event, at)
  })
  return sum
}

/** At most `room` orders of one length: all of them, or the nearest ones and a random choice of the others. */
function ordersOfLength(
  n: number,
  copies: number,
  maxCount: number,
  random: () => number,
): Draft[] {
  const found: Draft[] = []
  for (const order of nearest(n, copies)) {
    if (order.disturbance === 0 && copies === 0) continue
    // One order more than the maximum proves that these are not all.
    if (found.push(order) > maxCount) break
  }
  if (found.length <= maxCount) return found
  const chosen = new Map(
    found
      .slice(0, Math.ceil(maxCount * NEAREST_SHARE))
      .map((order) => [order.indexes.join(), order]),
  )
  for (let tries = 0; chosen.size < maxCount && tries < maxCount * DRAWS_PER_ORDER; tries++) {
    const order = draw(n, copies, random)
    if (order.disturbance > 0 || copies > 0) chosen.set(order.indexes.join(), order)
  }
  return [...chosen.values()].sort((a, b) => a.disturbance - b.disturbance)
}

/**
 * Yields the orders in which a receiver can get the events of one resource by at-least-once delivery, except for the
 * original order: first reordered, then with one repeated delivery, then with two, up to the number of events.
 *
 * Shorter orders come first, and within one length those with the smallest distance; so the first order that breaks a
 * receiver is as short as any that was tried. No order is repeated, every order has all events, and the same input and
 * draws give the same orders. Each length may use half of the remaining `maxOrders`, so that the many reorderings of a
 * long list leave space for the repeats.
 */
export function* arrivalOrders<T>({
  events,
  random,
  max_orders: maxOrders,
}: ArrivalOrdersInput<T>): Generator<ArrivalOrder<T>> {
  let left = Math.max(0, Math.floor(maxOrders))
  for (let copies = 0; copies <= events.length && left > 0 && events.length > 0; copies++) {
    const maxCount = copies === events.length ? left : Math.ceil(left / 2)
    for (const { indexes, disturbance } of ordersOfLength(
      events.length,
      copies,
      maxCount,
      random,
    )) {
      yield { sequence: indexes.map((i) => events[i]!), indexes, copies, disturbance }
      left--
    }
  }
}
