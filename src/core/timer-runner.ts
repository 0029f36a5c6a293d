import { SandboxError } from '../model/errors.ts'
import type { CommitOrder, Fired, KindOptions, TimerHandler, TimerRow, TimerRows } from './timer.ts'
import { createTimerHeap } from './timer-heap.ts'

/** What running a timer came to: whether it happened, what it began, and what is told of it besides its payload. */
type RunResult = { happened: boolean; begun?: Promise<void>; result?: object }

export type RunnerDeps = {
  rows: TimerRows
  onError: (error: unknown, timer: TimerRow) => void
  /** Told inside the change that ends a timer. */
  onRun?: ((timer: TimerRow) => void) | undefined
}

// The work of the timers that run as one change: about this much, and at least one timer.
const BATCH_COST = 64
// Of those that go together an advance begins no more while so many run, until so few do: a long backlog is not
// begun as a whole.
const [MANY_RUNNING, FEW_RUNNING] = [128, 64]

/** Whether a timer may run well the next time: its change could not be written. */
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

/** Finds the timer that is due next, and runs timers by the handlers of their kinds. */
export function createRunner({ rows, onError, onRun }: RunnerDeps) {
  const heap = createTimerHeap()
  const kinds = new Map<string, KindOptions & { handler: TimerHandler }>()
  const running = new Set<Promise<void>>()
  /** Attempts whose receivers have not answered yet. */
  const receiverAttempts = new Set<Promise<void>>()
  // Called when so few run that an advance may begin more.
  let fewRunning = () => {}
  let isInBatch = false

  const runsInParallel = ({ kind }: TimerRow) => kinds.get(kind)?.parallel === true

  // A row that was replaced has another place in the heap.
  const isCurrent = ({ timer_id, due_at, seq }: TimerRow) => {
    const row = rows.get(timer_id)
    return row !== undefined && row.due_at === due_at && row.seq === seq
  }

  /** The soonest timer that still exists. */
  function soonest(): TimerRow | undefined {
    for (let due = heap.peek(); due; due = heap.peek()) {
      if (isCurrent(due)) return rows.get(due.timer_id)
      heap.pop()
    }
    return undefined
  }

  /** Follows what a timer has begun to its end. */
  function track(begun: Promise<void>, timer: TimerRow): Promise<void> {
    const tracked = begun
      .catch((error) => onError(error, timer))
      .then(() => {
        receiverAttempts.delete(tracked)
        running.delete(tracked)
        if (running.size <= FEW_RUNNING) fewRunning()
      })
    running.add(tracked)
    if (runsInParallel(timer)) receiverAttempts.add(tracked)
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
      // It is stored again, and must be found again.
      heap.push(timer)
      if (isTemporary(error)) throw error
      // A handler that fails would fail for ever and keep back all that is due after it.
      rows.remove(timer.timer_id)
      onError(error, timer)
      result = false
    }
    if (result instanceof Promise) return { happened: true, begun: track(result, timer) }
    return result === false ? { happened: false } : { happened: true, ...(result && { result }) }
  }

  /**
   * Runs what is due at an instant, up to an amount of work, as one change: one write for all of them.
   * With an order they are told, and what one of them has begun ends before the next runs, but for kinds that go
   * together.
   */
  function runDue(at: number, order?: CommitOrder): { ran: number; fired: Fired[] } {
    const taken: TimerRow[] = []
    const fired: Fired[] = []
    let cost = 0
    isInBatch = true
    try {
      rows.change(() => {
        for (let timer = soonest(); timer && timer.due_at <= at; timer = soonest()) {
          const more = kinds.get(timer.kind)?.cost?.(timer) ?? 1
          if (cost > 0 && cost + more > BATCH_COST) break
          if (order && running.size > 0 && !runsInParallel(timer)) break
          cost += more
          taken.push(timer)
          const { happened, result } = run(timer, order)
          if (order && happened) fired.push(firedTimer(timer, result))
        }
      })
    } catch (error) {
      // All of them are stored again, and must be found again.
      for (const timer of taken) heap.push(timer)
      throw error
    } finally {
      isInBatch = false
    }
    return { ran: taken.length, fired }
  }

  return {
    handle(kind: string, handler: TimerHandler, options: KindOptions) {
      kinds.set(kind, { handler, ...options })
    },
    soonest,
    run,
    runDue,
    runsInParallel,
    /** The soonest one known, which may be cancelled. */
    peek: heap.peek,
    find: (timer: TimerRow) => heap.push(timer),
    /** Takes the stored timers as they are. */
    reload() {
      heap.clear()
      for (const timer of rows.all()) heap.push(timer)
    },
    /** How many timers are known to run until an instant; those that they will schedule are not counted. */
    countDue(end: number): number {
      let count = 0
      for (const timer of heap.all())
        if (timer.due_at <= end && isCurrent(timer))
          count += kinds.get(timer.kind)?.countRuns?.(timer, end) ?? 1
      return count
    },
    get isInBatch() {
      return isInBatch
    },
    get isAnyRunning() {
      return running.size > 0
    },
    /** Whether a receiver has been sent something and has not answered yet. */
    get isWaitingForReceivers() {
      return receiverAttempts.size > 0
    },
    /** Resolves when the receivers that have been sent something by now have answered. */
    receiversDone: async (): Promise<void> => {
      await Promise.all(receiverAttempts)
    },
    /** Resolves when all that was begun has ended. */
    settled: async (): Promise<void> => {
      await Promise.all(running)
    },
    /** Resolves when an advance may begin more. */
    room: async (): Promise<void> => {
      if (running.size < MANY_RUNNING) return
      await new Promise<void>((resolve) => {
        fewRunning = resolve
      })
    },
  }
}

export type Runner = ReturnType<typeof createRunner>
