/** A size budget that several rings share: their total size and its maximum. */
export type Budget = { used: number; readonly max: number }

export type RingOptions<T> = {
  max: number
  /** The maximum total size of the items, in the unit of `sizeOf`. */
  maxSize: number
  sizeOf: (item: T) => number
}

/** Stores the newest items and drops the oldest when there are too many or they are too large in total. */
export class Ring<T> {
  readonly #options: RingOptions<T>
  readonly #budget: Budget
  readonly #items: T[] = []
  #size = 0
  #dropped = 0

  constructor(
    options: RingOptions<T>,
    budget: Budget = { used: 0, max: Number.POSITIVE_INFINITY },
  ) {
    this.#options = options
    this.#budget = budget
  }

  push(item: T) {
    this.#items.push(item)
    this.#grow(this.#options.sizeOf(item))
    // The newest item always stays, whatever its size.
    while (this.#items.length > 1 && this.#isFull()) {
      this.#grow(-this.#options.sizeOf(this.#items.shift()!))
      this.#dropped++
    }
  }

  get count(): number {
    return this.#items.length
  }

  /** The number of items dropped since the ring was last empty. */
  get dropped(): number {
    return this.#dropped
  }

  newestFirst(): T[] {
    return this.#items.toReversed()
  }

  oldestFirst(): T[] {
    return [...this.#items]
  }

  clear() {
    this.#grow(-this.#size)
    this.#items.length = 0
    this.#dropped = 0
  }

  #grow(by: number) {
    this.#size += by
    this.#budget.used += by
  }

  #isFull(): boolean {
    const { max, maxSize } = this.#options
    const { used, max: budget } = this.#budget
    return this.#items.length > max || this.#size > maxSize || used > budget
  }
}
