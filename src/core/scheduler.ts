import { SandboxError } from '../model/errors.ts'
import { LAST_INSTANT } from '../model/text.ts'
import { type AdvanceOptions, type AdvanceResult, advance } from './advance.ts'
import type { Clock } from './clock.ts'
import { realLater } from './later.ts'
import type { Runtime } from './runtime.ts'
import type { CommitOrder, Fired, KindOptions, TimerHandler, TimerRow, TimerRows } from './timer.ts'
import { createRunner, firedTimer, type RunnerDeps } from './timer-runner.ts'
import { isSliceOver, ownTurn } from './turns.ts'

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
  /** Called when time moved only part of the way and the new time could not be stored. */
  onHalfway?: () => void
  outside?: Pick<Runtime, 'later' | 'yieldsToOthers'>
}

// setTimeout fires at once beyond 2^31-1 ms; a day is far enough to look ahead.
const MAX_SLEEP = 86_400_000
// A timer whose change could not be written is tried again after this long, real ms.
const RETRY_MS = 1_000
// A run that must be repeatable cannot look at how long work took: it lets others in after so many batches.
const BATCHES_IN_A_ROW = 16

// An advance waits this long for attempts that it did not begin, real ms: its caller may be their receiver.
const RECEIVER_WAIT_MS = 1_000

/** A call that moves time; its signal says whether its caller is gone. */
type ClockMove = { signal: AbortSignal | undefined }

/** The refusal of an advance while another one waits for a receiver. */
const advanceInHandler = () =>
  new SandboxError(
    'receiver_busy',
    'Another advance of this client is waiting for the response of a webhook receiver. A webhook handler must not move the clock before it responds. Respond to the webhook first, then advance. Tests that run in parallel need one client each, such as the base path /@worker-1.',
  )

/** The refusal of an advance whose caller may be the receiver that it waits for. */
const receiverBusy = () =>
  new SandboxError(
    'receiver_busy',
    'A webhook attempt is still waiting for the response of your receiver. The clock was not moved. A webhook handler must respond before it advances the clock. Any other caller may try again.',
  )

/**
 * Runs stored timers when they are due on a client's clock: by ticking, or by being advanced, when each runs at its
 * own instant, in order of time and then of insertion, and the deliveries it causes are waited for.
 */
export function createScheduler({
  clock,
  rows,
  onError,
  onRun,
  onHalfway,
  outside: { later, yieldsToOthers } = { later: realLater, yieldsToOthers: true },
}: SchedulerDeps) {
  const runner = createRunner({ rows, onError, onRun })
  const { soonest } = runner
  let endSleep = () => {}
  let turn: Promise<unknown> = Promise.resolve()
  // The signal of the advance that runs now.
  let advancing: ClockMove | undefined
  // The signal of the advance that waits for attempts of others before its turn.
  let waiting: ClockMove | undefined
  // Raised when the timers are taken anew.
  let epoch = 0
  let stopped = true

  // ---- letting others in

  let batches = 0
  /** Whether this work has taken long enough for now. */
  function shouldYield(): boolean {
    if (yieldsToOthers) return isSliceOver()
    batches = (batches + 1) % BATCHES_IN_A_ROW
    return batches === 0
  }
  /** Goes on when others had their turn; the answer gives that up. */
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

  /** Sets the one real timer for what is due next. */
  function arm() {
    endSleep()
    if (stopped || advancing) return
    const timer = soonest()
    if (!timer) return
    const delay = clock.realDelayUntil(timer.due_at)
    if (delay === Number.POSITIVE_INFINITY) return
    endSleep = later(Math.min(Math.ceil(delay), MAX_SLEEP), tick)
  }

  /** Runs what is due now. */
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

  /** One call that moves time at once; the next one waits for it. */
  function serialized<T>(task: () => Promise<T>): Promise<T> {
    const mine = turn.then(task)
    turn = mine.catch(() => {})
    return mine
  }

  /** Waits a moment for the attempts that are at receivers; refused where one of them is not answered by then. */
  async function waitForReceivers(mine: ClockMove): Promise<void> {
    let cancel = () => {}
    const late = new Promise<boolean>((resolve) => {
      cancel = later(RECEIVER_WAIT_MS, () => resolve(true))
    })
    waiting = mine
    const isLate = await Promise.race([runner.receiversDone().then(() => false), late])
    cancel()
    if (waiting === mine) waiting = undefined
    if (isLate) throw receiverBusy()
  }

  // One whose caller is gone ends by itself, so it refuses nobody.
  const isWanted = (mover: ClockMove | undefined) => mover !== undefined && !mover.signal?.aborted

  /** Moves time to a target that is known when it is this call's turn. */
  async function move(getTarget: () => number, options: AdvanceOptions): Promise<AdvanceResult> {
    const { signal } = options
    if (runner.isWaitingForReceivers) {
      if (isWanted(advancing) || isWanted(waiting)) throw advanceInHandler()
      // An advance cannot know whether its caller is a handler, whose answer would then never come.
      await waitForReceivers({ signal })
    }
    return serialized(async () => {
      if (signal?.aborted) return { now: clock.iso(), fired: [], omitted: 0 }
      endSleep()
      advancing = { signal }
      try {
        return await advance(getTarget(), options, {
          clock,
          runner,
          getEpoch: () => epoch,
          onHalfway,
          yieldToOthers,
        })
      } finally {
        advancing = undefined
        arm()
      }
    })
  }

  return {
    /** Names what a kind of timer does. */
    handle(kind: string, handler: TimerHandler, options: KindOptions = {}) {
      runner.handle(kind, handler, options)
    },
    /** Stores a timer; it runs when the client's clock gets there. */
    schedule({ due_at, kind, resource_id, payload }: Omit<TimerRow, 'timer_id' | 'seq'>): TimerRow {
      const seq = rows.nextSeq()
      const row: TimerRow = {
        timer_id: `tmr_${seq}`,
        seq,
        // Later the clock never gets.
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
    /** Cancels what is to happen to one resource, or those of it that are `unfit`. */
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
    /** Whether a timer runs before its time, and so maybe before others of its resource. */
    isEarly: ({ due_at }: TimerRow) => due_at > clock.now(),
    /** Runs one timer now, whatever its time; nothing is told of one that could not happen. */
    async fire(timer: TimerRow, order?: CommitOrder): Promise<Fired[]> {
      const at = clock.iso()
      const { happened, begun, result } = runner.run(timer, order)
      await begun
      return happened ? [{ ...firedTimer(timer, result), at }] : []
    },
    /** Runs a function when no call moves time: what it replaces is then no longer needed by one that does. */
    whenIdle: <T>(run: () => T): Promise<T> => serialized(async () => run()),
    /** Runs one timer now, and does not wait for the deliveries it causes. */
    runNow(timer: TimerRow) {
      runner.run(timer)
    },
    /** Everything that is to happen, soonest first. */
    pending: (): TimerRow[] => [...rows.all()].sort((a, b) => a.due_at - b.due_at || a.seq - b.seq),
    next: soonest,
    advanceTo: (target: number, options: AdvanceOptions = {}) => move(() => target, options),
    /** Moves by a span from the time it is when its turn comes. */
    advanceBy: (span: number, options: AdvanceOptions = {}) =>
      move(() => clock.now() + span, options),
    /** Jumps to the next timer; stays where there is none. */
    advanceToNext: (options: AdvanceOptions = {}) =>
      move(() => soonest()?.due_at ?? clock.now(), options),
    /** Takes the stored timers as they are: at start, and after a reset. */
    reload() {
      // A reset by a timer of its own is part of an advance; any other ends it.
      if (!runner.isInBatch) epoch++
      runner.reload()
      arm()
    },
    /** Looks at the clock anew: it was frozen, resumed or changed its speed. */
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
