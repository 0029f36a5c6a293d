import type { TimerRow } from '../model/delivery.ts'
import { LAST_INSTANT } from '../model/formats.ts'
import { type AdvanceOptions, BATCHES_IN_A_ROW, createMoves } from './advance.ts'
import {
  type CommitOrder,
  createRunner,
  type Fired,
  firedTimer,
  type Runner,
  type TimeDeps,
} from './runner.ts'

// setTimeout fires immediately if the delay exceeds 2^31-1 ms; one day ahead is enough.
const MAX_SLEEP = 86_400_000
// A timer whose change could not be written is retried after this time, real ms.
const RETRY_MS = 1_000

const timerId = (seq: number) => `tmr_${seq}`

/** Runs timers when they are due on a ticking clock, with one real timer for the next of them. */
function createTicker({ clock, rows, later, onError }: TimeDeps, runner: Runner) {
  let endSleep = () => {}
  let isStopped = true
  let isPaused = false

  function sleep(ms: number) {
    endSleep()
    if (!isStopped && !isPaused) endSleep = later(ms, tick)
  }

  /** Sets the real timer for the next due timer. */
  function arm() {
    endSleep()
    const timer = rows.soonest()
    const delay = timer ? clock.realDelayUntil(timer.due_at) : Number.POSITIVE_INFINITY
    if (delay < Number.POSITIVE_INFINITY) sleep(Math.min(Math.ceil(delay), MAX_SLEEP))
  }

  /** Runs the timers that are due now; other work has its turn between many of them. */
  function tick() {
    for (let batches = 0; ; batches++) {
      const due = rows.soonest()
      if (!due || due.due_at > clock.now()) return arm()
      if (batches >= BATCHES_IN_A_ROW) return sleep(0)
      try {
        if (runner.runDue(clock.now()).isLarge) batches = BATCHES_IN_A_ROW
      } catch (error) {
        onError(error, due)
        return sleep(RETRY_MS)
      }
    }
  }

  return {
    arm,
    /** Runs no timers while a call moves the clock. */
    pause() {
      isPaused = true
      endSleep()
    },
    resume() {
      isPaused = false
      arm()
    },
    start() {
      isStopped = false
      arm()
    },
    stop() {
      isStopped = true
      endSleep()
    },
  }
}

/** Runs stored timers: a real timer on a ticking clock, an advance each at its own instant, with the deliveries that it causes. */
export function createScheduler(deps: TimeDeps) {
  const { clock, rows } = deps
  const runner = createRunner(deps)
  const ticker = createTicker(deps, runner)
  const { move, whenIdle } = createMoves({ ...deps, runner, ticker })

  // A search, because an index makes each payment slower, and few calls need one.
  const ofResource = (id: string) => rows.all().filter(({ resource_id }) => resource_id === id)

  return {
    handle: runner.handle,
    /** Stores a timer; it runs when the client's clock reaches `due_at`. */
    schedule({ due_at, kind, resource_id, payload }: Omit<TimerRow, 'timer_id' | 'seq'>): TimerRow {
      let seq = rows.nextSeq()
      while (rows.get(timerId(seq))) seq = rows.nextSeq()
      const row: TimerRow = {
        timer_id: timerId(seq),
        seq,
        // The clock never goes beyond this instant.
        due_at: Math.min(due_at, LAST_INSTANT),
        kind,
        resource_id,
        payload,
      }
      rows.insert(row)
      if (rows.soonest() === row) ticker.arm()
      return row
    },
    cancel: (id: string) => rows.remove(id),
    /** Cancels the timers of one kind and resource; with `isAffected` only those whose payload it accepts. */
    cancelAll(
      kind: string,
      resourceId: string,
      isAffected: (payload: TimerRow['payload'], due_at: number) => boolean = () => true,
    ) {
      for (const timer of ofResource(resourceId))
        if (timer.kind === kind && isAffected(timer.payload, timer.due_at))
          rows.remove(timer.timer_id)
    },
    /** Whether a timer runs before its due time, and so possibly before others of its resource. */
    isEarly: ({ due_at }: TimerRow) => due_at > clock.now(),
    /** Runs one timer now, whatever its due time. Returns an empty list if the timer could not take effect. */
    async fire(timer: TimerRow, order?: CommitOrder): Promise<Fired[]> {
      const at = clock.iso()
      const { happened, begun, result } = runner.run(timer, order)
      await begun
      return happened ? [{ ...firedTimer(timer, result), at }] : []
    },
    /** Runs one timer now without waiting for the deliveries that it causes. */
    runNow(timer: TimerRow) {
      runner.run(timer)
    },
    whenIdle,
    isWaitingForReceivers: runner.isWaitingForReceivers,
    get: rows.get,
    pending: rows.all,
    ofResource,
    countPending: rows.count,
    next: rows.soonest,
    advanceTo: (target: number, options?: AdvanceOptions) => move(() => target, options),
    /** Moves the clock by a span from its time at this call's turn. */
    advanceBy: (span: number, options?: AdvanceOptions) => move(() => clock.now() + span, options),
    /** Moves the clock to the next timer; does not move it if there is none. */
    advanceToNext: (options?: AdvanceOptions) =>
      move(() => rows.soonest()?.due_at ?? clock.now(), options),
    /** Takes the timers of the table after they were replaced: at start, and after a reset. */
    reload() {
      runner.replaced()
      ticker.arm()
    },
    /** Sets the real timer again after the clock was frozen, resumed or changed its speed. */
    arm: ticker.arm,
    start: ticker.start,
    stop: ticker.stop,
  }
}

export type Scheduler = ReturnType<typeof createScheduler>
