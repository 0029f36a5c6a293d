import type { TimerRow } from '../model/delivery.ts'
import { SandboxError } from '../model/errors.ts'
import type { Later } from '../runtime/real-time.ts'
import type { Clock } from './clock.ts'

/** A timer that ran, as `clock/advance` returns it. */
export type Fired = { at: string; kind: string; timer_id: string; resource_id?: string } & Record<
  string,
  unknown
>

/** The order in which the results of parallel timers are stored, so that a run is repeatable. */
export type CommitOrder = {
  /** Resolves when the result of the previous timer is stored. */
  last: Promise<void>
}

export const createCommitOrder = (): CommitOrder => ({ last: Promise.resolve() })

/** Runs a timer; an advance waits for a promise. Returned fields override the payload in the report; `false`: no effect any more. */
export type TimerHandler = (
  timer: TimerRow,
  /** Undefined on a ticking clock: then no call waits for a slow receiver. */
  order: CommitOrder | undefined,
) => Promise<void> | Readonly<Record<string, unknown>> | false | undefined

export type KindOptions = {
  /** They are sent to a receiver; an advance starts those of one instant in parallel and waits for all of them. */
  parallel?: boolean
  /** How often a repeating timer runs up to and including an instant. */
  countRuns?: (timer: TimerRow, at: number) => number
}

/** How timers are stored; `change` makes a timer's end and its effects one write. */
export type TimerRows = {
  /** All timers, soonest first; of those that are due together, the one that was inserted first. */
  all: () => TimerRow[]
  soonest: () => TimerRow | undefined
  count: () => number
  get: (id: string) => TimerRow | undefined
  /** Adds a timer whose id is new. */
  insert: (row: TimerRow) => void
  remove: (id: string) => void
  change: <T>(run: () => T) => T
  changeSize: () => number
  nextSeq: () => number
}

/** What a timer did: whether it took effect, the work that it started, and the fields to report besides its payload. */
type RunResult = { happened: boolean; begun?: Promise<void>; result?: object }

export type TimeDeps = {
  clock: Clock
  rows: TimerRows
  later: Later
  onError: (error: unknown, timer: TimerRow) => void
  /** Called inside the change that removes a timer. */
  onRun?: ((timer: TimerRow) => void) | undefined
  /** Called when the clock moved only part of the way and its new time could not be stored. */
  onHalfway?: (() => void) | undefined
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
export function createRunner({ rows, onError, onRun }: TimeDeps) {
  const kinds = new Map<string, KindOptions & { handler: TimerHandler }>()
  const running = new Set<Promise<void>>()
  // Those that wait for a receiver.
  const attempts = new Set<Promise<void>>()
  let isInBatch = false
  let epoch = 0

  const runsInParallel = ({ kind }: TimerRow) => kinds.get(kind)?.parallel === true

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
        return kinds.get(timer.kind)?.handler(timer, order)
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
   * Runs the timers that are due at an instant, up to a maximum, as one change. With an `order` it returns the fired timers,
   * and the work of one timer ends before the next one runs, except for parallel kinds.
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
        count += kinds.get(timer.kind)?.countRuns?.(timer, end) ?? 1
      }
      return count
    },
  }
}

export type Runner = ReturnType<typeof createRunner>
