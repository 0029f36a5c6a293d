import type { TimerRow } from './timer.ts'

const isBefore = (a: TimerRow, b: TimerRow) =>
  a.due_at < b.due_at || (a.due_at === b.due_at && a.seq < b.seq)

/** A binary heap of timers, soonest first; the caller skips cancelled timers at the top. */
export function createTimerHeap() {
  const items: TimerRow[] = []
  function up(start: number) {
    let i = start
    const item = items[i]!
    while (i > 0) {
      const parent = (i - 1) >> 1
      if (!isBefore(item, items[parent]!)) break
      items[i] = items[parent]!
      i = parent
    }
    items[i] = item
  }
  function down() {
    let i = 0
    const item = items[0]!
    for (;;) {
      let child = 2 * i + 1
      if (child >= items.length) break
      if (child + 1 < items.length && isBefore(items[child + 1]!, items[child]!)) child++
      if (!isBefore(items[child]!, item)) break
      items[i] = items[child]!
      i = child
    }
    items[i] = item
  }
  return {
    peek: () => items[0],
    push(timer: TimerRow) {
      items.push(timer)
      up(items.length - 1)
    },
    pop() {
      const last = items.pop()
      if (last && items.length > 0) {
        items[0] = last
        down()
      }
    },
    clear: () => {
      items.length = 0
    },
    /** All timers in no order, including cancelled ones. */
    all: (): readonly TimerRow[] => items,
  }
}
