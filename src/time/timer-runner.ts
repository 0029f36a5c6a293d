import { SandboxError } from '../model/errors.ts'
import { RunningWork } from './running-work.ts'
import type { CommitOrder, Fired, KindOptions, TimerHandler, TimerRow, TimerRows } from './timer.ts'
import { createTimerHeap } from './timer-heap.ts'

/**
 * The result of running a timer: whether it took effect, the work that it started, and the fields to report besides its
 * payload.
 */
type RunResult = { happened: boolean; begun?: Promise<void>; result?: object }

export type RunnerDeps = {
  rows: TimerRows
  onError: (error: unknown, timer: TimerRow) => void
  /** Called inside the change that removes a timer. */
  onRun?: ((timer: TimerRow) => void) | undefined
  /** Called for a timer whose kind has no handler yet. */
  onUnknownKind?: (() => void) | undefined
}

// The maximum cost of the timers that run as one change; at least one timer runs.
const BATCH_COST = 64
/** Whether a timer may succeed on a retry: its change could not be written. */
export const isTemporary = (error: unknown): error is SandboxError =>
  error instanceof SandboxError && error.code === 'storage_unavailable'

export const firedTimer = (timer: TimerRow, result?: object): Fired => ({
  at: new Date(timer.due_at).toISOString(),
  kind: timer.kind,
  timer_id: timer.timer_id,
  ...(timer.resource_id === undefined ? {} : { resource_id: timer.resource_id }),
  ...timer.payload,
  ...result,
})

/** Finds the next due timer, and runs timers with the handlers of their kinds. */
export function createRunner({ rows, onError, onRun, onUnknownKind }: RunnerDeps) {
  const heap = createTimerHeap()
  const kinds = new Map<string, KindOptions & { handler: TimerHandler }>()
  const work = new RunningWork()
  let isInBatch = false
  let epoch = 0

  function kindOf({ kind }: TimerRow) {
    if (!kinds.has(kind)) onUnknownKind?.()
    return kinds.get(kind)
  }

  const runsInParallel = (timer: TimerRow) => kindOf(timer)?.parallel === true

  /** The row of an entry of the heap; a row that was replaced has another entry. */
  function currentRow({ timer_id, due_at, seq }: TimerRow): TimerRow | undefined {
    const row = rows.get(timer_id)
    return row?.due_at === due_at && row.seq === seq ? row : undefined
  }

  /** The soonest timer that still exists. */
  function soonest(): TimerRow | undefined {
    for (let due = heap.peek(); due; due = heap.peek()) {
      const row = currentRow(due)
      if (row) return row
      heap.pop()
    }
    return undefined
  }

  function run(timer: TimerRow, order?: CommitOrder): RunResult {
    let result: ReturnType<TimerHandler>
    try {
      result = rows.change(() => {
        rows.remove(timer.timer_id)
        onRun?.(timer)
        return kindOf(timer)?.handler(timer, order)
      })
    } catch (error) {
      // The row was restored, so put it back on the heap.
      heap.push(timer)
      if (isTemporary(error)) throw error
      // A failing handler would fail forever and block all later timers.
      rows.remove(timer.timer_id)
      onError(error, timer)
      result = false
    }
    if (result instanceof Promise) {
      const begun = work.track(result, runsInParallel(timer), (error) => onError(error, timer))
      return { happened: true, begun }
    }
    return result === false ? { happened: false } : { happened: true, ...(result && { result }) }
  }

  /**
   * Runs the timers that are due at an instant, up to a maximum cost, as one change: one write for all of them. With
   * an `order` it returns the fired timers, and the work of one timer ends before the next one runs, except for
   * parallel kinds.
   */
  function runDue(at: number, order?: CommitOrder): { ran: number; fired: Fired[] } {
    const taken: TimerRow[] = []
    const fired: Fired[] = []
    let cost = 0
    isInBatch = true
    try {
      rows.change(() => {
        for (let timer = soonest(); timer && timer.due_at <= at; timer = soonest()) {
          const more = kindOf(timer)?.cost?.(timer) ?? 1
          if (cost > 0 && cost + more > BATCH_COST) break
          if (order && work.isAny && !runsInParallel(timer)) break
          cost += more
          heap.pop()
          taken.push(timer)
          const { happened, result } = run(timer, order)
          if (order && happened) fired.push(firedTimer(timer, result))
        }
      })
    } catch (error) {
      // All rows were restored, so put them back on the heap.
      for (const timer of taken) heap.push(timer)
      throw error
    } finally {
      isInBatch = false
    }
    return { ran: taken.length, fired }
  }

  return {
    handle(kind: string, handler: TimerHandler, options: KindOptions = {}) {
      kinds.set(kind, { handler, ...options })
    },
    work,
    soonest,
    run,
    runDue,
    runsInParallel,
    /** Adds a stored timer; returns whether it may be the next one. */
    add(timer: TimerRow): boolean {
      const next = heap.peek()
      heap.push(timer)
      return !next || timer.due_at < next.due_at
    },
    /** Reloads the stored timers. */
    reload() {
      // A reset by a timer is part of the running advance; any other reset ends the advance.
      if (!isInBatch) epoch++
      heap.clear()
      for (const timer of rows.all()) heap.push(timer)
    },
    /** Changes when the timers were replaced: an advance that began before must not run the new ones. */
    epoch: () => epoch,
    /** The number of timers that are known to run until an instant, without those that they will schedule. */
    countDue(end: number): number {
      let count = 0
      for (const timer of heap.all())
        if (timer.due_at <= end && currentRow(timer))
          count += kindOf(timer)?.countRuns?.(timer, end) ?? 1
      return count
    },
  }
}

export type Runner = ReturnType<typeof createRunner>
