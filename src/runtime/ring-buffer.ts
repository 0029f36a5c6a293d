/** A size budget that several rings share: their total size and its maximum. */
export type Budget = { used: number; readonly max: number }

export type RingOptions<T> = {
  /** The maximum number of items. */
  max: number
  /** The maximum total size of the items, in the unit of `sizeOf`; without it only their number is limited. */
  maxSize?: number
  sizeOf?: (item: T) => number
  budget?: Budget
}

/**
 * A ring buffer: stores the newest items and drops the oldest when there are too many or they are too large in total.
 */
export function createRing<T>({
  max,
  maxSize = Number.POSITIVE_INFINITY,
  sizeOf = () => 0,
  budget,
}: RingOptions<T>) {
  let items: (T | undefined)[] = []
  let start = 0
  let count = 0
  let size = 0
  let dropped = 0

  function grow(by: number) {
    size += by
    if (budget) budget.used += by
  }

  function dropOldest() {
    grow(-sizeOf(items[start] as T))
    items[start] = undefined
    start = (start + 1) % max
    count--
    dropped++
  }

  const isOver = () => size > maxSize || (budget !== undefined && budget.used > budget.max)

  return {
    push(item: T) {
      if (count === max) dropOldest()
      items[(start + count) % max] = item
      count++
      grow(sizeOf(item))
      // The newest item always stays, whatever its size.
      while (count > 1 && isOver()) dropOldest()
    },
    get count() {
      return count
    },
    get size() {
      return size
    },
    /** The number of items dropped since the ring was last empty. */
    get dropped() {
      return dropped
    },
    *newestFirst(): Generator<T> {
      for (let i = count - 1; i >= 0; i--) yield items[(start + i) % max] as T
    },
    *oldestFirst(): Generator<T> {
      for (let i = 0; i < count; i++) yield items[(start + i) % max] as T
    },
    clear() {
      grow(-size)
      items = []
      start = 0
      count = 0
      dropped = 0
    },
  }
}
