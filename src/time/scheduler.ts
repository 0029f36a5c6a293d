import { SandboxError } from '../model/errors.ts'
import { LAST_INSTANT } from '../model/formats.ts'
import { realLater } from '../runtime/real-time.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { isSliceOver, ownTurn } from '../runtime/slices.ts'
import { type AdvanceOptions, type AdvanceResult, advance } from './advance.ts'
import type { Clock } from './clock.ts'
import type { CommitOrder, Fired, KindOptions, TimerHandler, TimerRow, TimerRows } from './timer.ts'
import { createRunner, firedTimer, type RunnerDeps } from './timer-runner.ts'

export {
  type CommitOrder,
  createCommitOrder,
  type Fired,
  type TimerHandler,
  type TimerRow,
} from './timer.ts'

export type SchedulerDeps = RunnerDeps & {
  clock: Clock
  rows: TimerRows
  /** Called when the clock moved only part of the way and its new time could not be stored. */
  onHalfway?: () => void
  runtime?: Pick<Runtime, 'later' | 'yieldsToOthers'>
}

// setTimeout fires immediately if the delay exceeds 2^31-1 ms; one day ahead is enough.
const MAX_SLEEP = 86_400_000
// A timer whose change could not be written is retried after this time, real ms.
const RETRY_MS = 1_000
// A repeatable run must not depend on elapsed time: it yields after this number of batches.
const BATCHES_IN_A_ROW = 16

// An advance waits this long (real ms) for attempts that it did not start: its caller may be their receiver.
const RECEIVER_WAIT_MS = 1_000

/** The error of an advance whose caller may be the receiver that it waits for. */
const receiverBusy = () =>
  new SandboxError(
    'receiver_busy',
    'A webhook attempt is still waiting for the response of your receiver. The clock was not moved. A webhook handler must respond before it advances the clock. Any other caller may try again; tests that run in parallel need one client each, such as the base path /@worker-1.',
  )

/**
 * Runs stored timers when they are due on a client's clock. On a ticking clock a real timer runs them. An advance runs
 * each timer at its own instant, in order of time and then of insertion, and waits for the deliveries that it causes.
 */
export function createScheduler({
  clock,
  rows,
  onError,
  onRun,
  onHalfway,
  runtime: { later, yieldsToOthers } = { later: realLater, yieldsToOthers: true },
}: SchedulerDeps) {
  const runner = createRunner({ rows, onError, onRun })
  const { soonest } = runner
  let endSleep = () => {}
  let turn: Promise<unknown> = Promise.resolve()
  let isAdvancing = false
  // Incremented when the timers are reloaded.
  let epoch = 0
  let stopped = true

  // ---- letting others in

  let batches = 0
  /** Whether this work has run long enough and should yield. */
  function shouldYield(): boolean {
    if (yieldsToOthers) return isSliceOver()
    batches = (batches + 1) % BATCHES_IN_A_ROW
    return batches === 0
  }
  /** Calls `run` after other work had its turn; returns a function that cancels it. */
  function continueLater(run: () => void): () => void {
    if (!yieldsToOthers) return later(0, run)
    let isWanted = true
    ownTurn().then(() => {
      if (isWanted) run()
    })
    return () => {
      isWanted = false
    }
  }
  const yieldToOthers = () =>
    shouldYield() ? new Promise<void>((resolve) => void continueLater(resolve)) : undefined

  // ---- while the clock ticks

  /** Sets the one real timer for the next due timer. */
  function arm() {
    endSleep()
    if (stopped || isAdvancing) return
    const timer = soonest()
    if (!timer) return
    const delay = clock.realDelayUntil(timer.due_at)
    if (delay === Number.POSITIVE_INFINITY) return
    endSleep = later(Math.min(Math.ceil(delay), MAX_SLEEP), tick)
  }

  /** Runs the timers that are due now. */
  function tick() {
    let isFirst = true
    for (let due = soonest(); due && due.due_at <= clock.now(); due = soonest()) {
      if (!isFirst && shouldYield()) {
        endSleep()
        if (!stopped) endSleep = continueLater(tick)
        return
      }
      isFirst = false
      try {
        runner.runDue(clock.now())
      } catch (error) {
        onError(error, due)
        endSleep()
        if (!stopped) endSleep = later(RETRY_MS, tick)
        return
      }
    }
    arm()
  }

  // ---- moved by a call

  /** Runs calls that move the clock one after the other. */
  function serialized<T>(task: () => Promise<T>): Promise<T> {
    const mine = turn.then(task)
    turn = mine.catch(() => {})
    return mine
  }

  /**
   * Waits a moment for the attempts that wait for receivers; throws `receiver_busy` if a receiver does not respond in
   * time.
   */
  async function waitForReceivers(): Promise<void> {
    let cancel = () => {}
    const late = new Promise<boolean>((resolve) => {
      cancel = later(RECEIVER_WAIT_MS, () => resolve(true))
    })
    const isLate = await Promise.race([runner.receiversDone().then(() => false), late])
    cancel()
    if (isLate) throw receiverBusy()
  }

  /** Moves the clock to a target that is computed when it is this call's turn. */
  async function move(getTarget: () => number, options: AdvanceOptions): Promise<AdvanceResult> {
    const { signal } = options
    // An advance cannot know whether its caller is a webhook handler, which would then never respond.
    if (runner.isWaitingForReceivers) await waitForReceivers()
    return serialized(async () => {
      if (signal?.aborted) return { now: clock.iso(), fired: [], omitted: 0 }
      endSleep()
      isAdvancing = true
      try {
        return await advance(getTarget(), options, {
          clock,
          runner,
          getEpoch: () => epoch,
          onHalfway,
          yieldToOthers,
        })
      } finally {
        isAdvancing = false
        arm()
      }
    })
  }

  return {
    /** Registers the handler of a kind of timer. */
    handle(kind: string, handler: TimerHandler, options: KindOptions = {}) {
      runner.handle(kind, handler, options)
    },
    /** Stores a timer; it runs when the client's clock reaches `due_at`. */
    schedule({ due_at, kind, resource_id, payload }: Omit<TimerRow, 'timer_id' | 'seq'>): TimerRow {
      const seq = rows.nextSeq()
      const row: TimerRow = {
        timer_id: `tmr_${seq}`,
        seq,
        // The clock never goes beyond this instant.
        due_at: Math.min(due_at, LAST_INSTANT),
        kind,
        resource_id,
        payload,
      }
      rows.put(row)
      const next = runner.peek()
      runner.find(row)
      if (!next || row.due_at < next.due_at) arm()
      return row
    },
    cancel(id: string) {
      rows.remove(id)
    },
    /** Cancels the timers of one kind and resource; with `isAffected` only those whose payload it accepts. */
    cancelAll(
      kind: string,
      resourceId: string,
      isAffected: (payload: TimerRow['payload']) => boolean = () => true,
    ) {
      const theirs = [...rows.all()].filter(
        (timer) =>
          timer.kind === kind && timer.resource_id === resourceId && isAffected(timer.payload),
      )
      for (const { timer_id } of theirs) rows.remove(timer_id)
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
    /** Runs a function when no call moves the clock, so that it can replace state that such a call uses. */
    whenIdle: <T>(run: () => T): Promise<T> => serialized(async () => run()),
    /** Runs one timer now without waiting for the deliveries that it causes. */
    runNow(timer: TimerRow) {
      runner.run(timer)
    },
    /** All pending timers, soonest first. */
    pending: (): TimerRow[] => [...rows.all()].sort((a, b) => a.due_at - b.due_at || a.seq - b.seq),
    next: soonest,
    advanceTo: (target: number, options: AdvanceOptions = {}) => move(() => target, options),
    /** Moves the clock by a span from its time at this call's turn. */
    advanceBy: (span: number, options: AdvanceOptions = {}) =>
      move(() => clock.now() + span, options),
    /** Moves the clock to the next timer; does not move it if there is none. */
    advanceToNext: (options: AdvanceOptions = {}) =>
      move(() => soonest()?.due_at ?? clock.now(), options),
    /** Reloads the stored timers: at start, and after a reset. */
    reload() {
      // A reset by a timer is part of the running advance; any other reset ends the advance.
      if (!runner.isInBatch) epoch++
      runner.reload()
      arm()
    },
    /** Sets the real timer again after the clock was frozen, resumed or changed its speed. */
    arm,
    start() {
      stopped = false
      arm()
    },
    stop() {
      stopped = true
      endSleep()
    },
  }
}

/** A world's scheduler. */
export type Scheduler = ReturnType<typeof createScheduler>
