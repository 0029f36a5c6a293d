/** A first-in, first-out queue. The cost of `push` and `take` does not grow with its length. */
export function createQueue<T>() {
  let items: T[] = []
  let next = 0
  return {
    get size() {
      return items.length - next
    },
    push(item: T) {
      items.push(item)
    },
    /** Removes the first item and returns it; the queue must not be empty. */
    take(): T {
      const item = items[next++]!
      if (next === items.length) {
        items = []
        next = 0
      } else if (next > 1_024 && next * 2 > items.length) {
        items = items.slice(next)
        next = 0
      }
      return item
    },
    clear() {
      items = []
      next = 0
    },
  }
}
