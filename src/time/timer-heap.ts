import type { TimerRow } from './timer.ts'

/** The timers of one instant in order of insertion, from `next` on. */
type Bucket = { timers: TimerRow[]; next: number }

/** Puts a timer at its place; only one that is put back is not the last, and it may be there already. */
function insert({ timers, next }: Bucket, timer: TimerRow) {
  let place = timers.length
  while (place > next && timers[place - 1]!.seq > timer.seq) place--
  if (place > next && timers[place - 1]!.seq === timer.seq) timers[place - 1] = timer
  else if (place === timers.length) timers.push(timer)
  else timers.splice(place, 0, timer)
}

/** Moves the last number of a binary heap up to its place. */
function up(heap: number[]) {
  let i = heap.length - 1
  const item = heap[i]!
  while (i > 0) {
    const parent = (i - 1) >> 1
    if (item >= heap[parent]!) break
    heap[i] = heap[parent]!
    i = parent
  }
  heap[i] = item
}

/** Moves the first number of a binary heap down to its place. */
function down(heap: number[]) {
  let i = 0
  const item = heap[0]!
  for (;;) {
    let child = 2 * i + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && heap[child + 1]! < heap[child]!) child++
    if (heap[child]! >= item) break
    heap[i] = heap[child]!
    i = child
  }
  heap[i] = item
}

/**
 * Timers, soonest first; the caller skips cancelled timers at the top. The heap has only the instants: many timers
 * share one, and comparing the timers themselves would read each from memory.
 */
export function createTimerHeap() {
  const instants: number[] = []
  const buckets = new Map<number, Bucket>()
  let first: Bucket | undefined

  function findFirst() {
    first = instants.length === 0 ? undefined : buckets.get(instants[0]!)
  }

  return {
    peek: () => first?.timers[first.next],
    push(timer: TimerRow) {
      const { due_at } = timer
      const bucket = buckets.get(due_at)
      if (bucket) return insert(bucket, timer)
      buckets.set(due_at, { timers: [timer], next: 0 })
      instants.push(due_at)
      up(instants)
      findFirst()
    },
    pop() {
      if (!first || ++first.next < first.timers.length) return
      buckets.delete(instants[0]!)
      const last = instants.pop()!
      if (instants.length > 0) {
        instants[0] = last
        down(instants)
      }
      findFirst()
    },
    clear() {
      instants.length = 0
      buckets.clear()
      first = undefined
    },
    /** All timers in no order, including cancelled ones. */
    *all(): Generator<TimerRow> {
      for (const { timers, next } of buckets.values())
        for (let i = next; i < timers.length; i++) yield timers[i]!
    },
  }
}
