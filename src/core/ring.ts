/** A size that several rings share: what all of them hold together, and how much that may be. */
export type Budget = { used: number; readonly most: number }

export type RingOptions<T> = {
  /** How many it holds at most. */
  most: number
  /** How large all it holds may be together, in the unit of `sizeOf`. */
  maxSize: number
  sizeOf: (item: T) => number
  budget?: Budget
}

/** Holds the newest of what it is given; the oldest goes where they are too many, or too large together. */
export function createRing<T>({ most, maxSize: mostSize, sizeOf, budget }: RingOptions<T>) {
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
    start = (start + 1) % most
    count--
    dropped++
  }

  const isOver = () => size > mostSize || (budget !== undefined && budget.used > budget.most)

  return {
    push(item: T) {
      if (count === most) dropOldest()
      items[(start + count) % most] = item
      count++
      grow(sizeOf(item))
      // What has just come stays, whatever it weighs.
      while (count > 1 && isOver()) dropOldest()
    },
    get count() {
      return count
    },
    get size() {
      return size
    },
    /** How many were pushed out since it was empty. */
    get dropped() {
      return dropped
    },
    *newestFirst(): Generator<T> {
      for (let i = count - 1; i >= 0; i--) yield items[(start + i) % most] as T
    },
    *oldestFirst(): Generator<T> {
      for (let i = 0; i < count; i++) yield items[(start + i) % most] as T
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
