/** A size budget that several rings share: their total size and its maximum. */
export type Budget = { used: number; readonly max: number }

export type RingOptions<T> = {
  /** The maximum number of items. */
  max: number
  /** The maximum total size of the items, in the unit of `sizeOf`; without it only their number is limited. */
  maxSize?: number
  sizeOf?: (item: T) => number
}

/**
 * A ring buffer: stores the newest items and drops the oldest when there are too many or they are too large in total.
 */
export class Ring<T> {
  readonly #options: RingOptions<T>
  readonly #budget: Budget | undefined
  #items: (T | undefined)[] | undefined
  #start = 0
  #count = 0
  #size = 0
  #dropped = 0

  /** Rings of the same kind can share the options. */
  constructor(options: RingOptions<T>, budget?: Budget) {
    this.#options = options
    this.#budget = budget
  }

  push(item: T) {
    const { max } = this.#options
    if (this.#count === max) this.#dropOldest()
    this.#items ??= []
    this.#items[(this.#start + this.#count) % max] = item
    this.#count++
    this.#grow(this.#sizeOf(item))
    // The newest item always stays, whatever its size.
    while (this.#count > 1 && this.#isOver()) this.#dropOldest()
  }

  get count(): number {
    return this.#count
  }

  get size(): number {
    return this.#size
  }

  /** The number of items dropped since the ring was last empty. */
  get dropped(): number {
    return this.#dropped
  }

  get oldest(): T | undefined {
    return this.#count === 0 ? undefined : this.#at(0)
  }

  *newestFirst(): Generator<T> {
    for (let i = this.#count - 1; i >= 0; i--) yield this.#at(i)
  }

  *oldestFirst(): Generator<T> {
    for (let i = 0; i < this.#count; i++) yield this.#at(i)
  }

  clear() {
    this.#grow(-this.#size)
    this.#items = undefined
    this.#start = 0
    this.#count = 0
    this.#dropped = 0
  }

  #at(i: number): T {
    return this.#items![(this.#start + i) % this.#options.max] as T
  }

  #sizeOf(item: T): number {
    return this.#options.sizeOf?.(item) ?? 0
  }

  #grow(by: number) {
    this.#size += by
    if (this.#budget) this.#budget.used += by
  }

  #dropOldest() {
    const { max } = this.#options
    this.#grow(-this.#sizeOf(this.#at(0)))
    this.#items![this.#start] = undefined
    this.#start = (this.#start + 1) % max
    this.#count--
    this.#dropped++
  }

  #isOver(): boolean {
    const { maxSize = Number.POSITIVE_INFINITY } = this.#options
    return (
      this.#size > maxSize || (this.#budget !== undefined && this.#budget.used > this.#budget.max)
    )
  }
}
