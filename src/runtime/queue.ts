/** A first-in, first-out queue. The cost of `push` and `take` does not grow with its length. */
export class Queue<T> {
  #items: T[] = []
  #next = 0

  get size(): number {
    return this.#items.length - this.#next
  }

  push(item: T) {
    this.#items.push(item)
  }

  /** Removes the first item and returns it; the queue must not be empty. */
  take(): T {
    const item = this.#items[this.#next++]!
    if (this.#next === this.#items.length) this.clear()
    else if (this.#next > 1_024 && this.#next * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#next)
      this.#next = 0
    }
    return item
  }

  clear() {
    this.#items = []
    this.#next = 0
  }
}
