import { SandboxError } from '../model/errors.ts'
import type { CommitOrder, Fired, KindOptions, TimerHandler, TimerRow, TimerRows } from './timer.ts'

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

// The most timers that run as one change.
const MAX_BATCH = 64
// And the most ops of one change, but for the last timer: one that creates 1,000 users takes 50 ms. Not a time, because runs repeat.
const MAX_CHANGES = 1_000
// While this much work runs, an advance starts no more of it, so that it can be ended.
const MAX_RUNNING = 64

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

/** Runs timers with the handlers of their kinds, and knows the work that they have started. */
export function createRunner({ rows, onError, onRun, onUnknownKind }: RunnerDeps) {
  const kinds = new Map<string, KindOptions & { handler: TimerHandler }>()
  const running = new Set<Promise<void>>()
  // Those that wait for a receiver.
  const attempts = new Set<Promise<void>>()
  let isInBatch = false
  let epoch = 0

  function kindOf({ kind }: TimerRow) {
    if (!kinds.has(kind)) onUnknownKind?.()
    return kinds.get(kind)
  }

  const runsInParallel = (timer: TimerRow) => kindOf(timer)?.parallel === true

  /** Tracks work until it ends. The returned promise does not reject. */
  function track(begun: Promise<void>, timer: TimerRow): Promise<void> {
    const tracked = begun
      .catch((error) => onError(error, timer))
      .then(() => {
        running.delete(tracked)
        attempts.delete(tracked)
      })
    running.add(tracked)
    if (runsInParallel(timer)) attempts.add(tracked)
    return tracked
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
      if (isTemporary(error)) throw error
      // A failing handler would fail forever and block all later timers.
      rows.remove(timer.timer_id)
      onError(error, timer)
      result = false
    }
    if (result instanceof Promise) return { happened: true, begun: track(result, timer) }
    return result === false ? { happened: false } : { happened: true, ...(result && { result }) }
  }

  /**
   * Runs the timers that are due at an instant, up to a maximum, as one change: one write for all of them. With
   * an `order` it returns the fired timers, and the work of one timer ends before the next one runs, except for
   * parallel kinds. After a large one, other work should have its turn.
   */
  function runDue(at: number, order?: CommitOrder) {
    const fired: Fired[] = []
    let ran = 0
    let isLarge = false
    isInBatch = true
    try {
      rows.change(() => {
        for (let timer = rows.soonest(); timer && timer.due_at <= at; timer = rows.soonest()) {
          if (ran === MAX_BATCH || isLarge) break
          if (order && running.size > 0 && !runsInParallel(timer)) break
          ran++
          const { happened, result } = run(timer, order)
          if (order && happened) fired.push(firedTimer(timer, result))
          isLarge = rows.changeSize() > MAX_CHANGES
        }
      })
    } finally {
      isInBatch = false
    }
    return { ran, fired, isLarge }
  }

  /** Resolves when all started work has ended. */
  const settled = async () => void (await Promise.all(running))

  return {
    handle(kind: string, handler: TimerHandler, options: KindOptions = {}) {
      kinds.set(kind, { handler, ...options })
    },
    run,
    runDue,
    settled,
    /** Resolves when the next timer of an advance may run: all work has ended, or the timer runs beside it. */
    async ready(at: number): Promise<void> {
      const next = running.size > 0 ? rows.soonest() : undefined
      if (!next || next.due_at > at || !runsInParallel(next)) return settled()
      while (running.size >= MAX_RUNNING) await Promise.race(running)
    },
    /** Whether an attempt waits for the response of its receiver. */
    isWaitingForReceivers: () => attempts.size > 0,
    /** Resolves when the receivers of all current attempts have responded. */
    receiversDone: () => Promise.all(attempts),
    /** Notes that the timers were replaced. A reset by a timer is part of the running advance; any other ends it. */
    replaced() {
      if (!isInBatch) epoch++
    },
    /** Changes when the timers were replaced: an advance that began before must not run the new ones. */
    epoch: () => epoch,
    /** The number of timers that are known to run until an instant, without those that they will schedule. */
    countDue(end: number): number {
      let count = 0
      for (const timer of rows.all()) {
        if (timer.due_at > end) break
        count += kindOf(timer)?.countRuns?.(timer, end) ?? 1
      }
      return count
    },
  }
}

export type Runner = ReturnType<typeof createRunner>
