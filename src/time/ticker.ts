import type { Later } from '../runtime/real-time.ts'
import type { Clock } from './clock.ts'
import type { TimerRow } from './timer.ts'
import type { Runner } from './timer-runner.ts'
import type { Yielding } from './yielding.ts'

// setTimeout fires immediately if the delay exceeds 2^31-1 ms; one day ahead is enough.
const MAX_SLEEP = 86_400_000
// A timer whose change could not be written is retried after this time, real ms.
const RETRY_MS = 1_000

export type TickerDeps = {
  clock: Clock
  runner: Runner
  yielding: Yielding
  later: Later
  onError: (error: unknown, timer: TimerRow) => void
}

/** Runs timers when they are due on a ticking clock, with one real timer for the next of them. */
export function createTicker({ clock, runner, yielding, later, onError }: TickerDeps) {
  let endSleep = () => {}
  let isStopped = true
  let isPaused = false

  /** Sets the real timer for the next due timer. */
  function arm() {
    endSleep()
    if (isStopped || isPaused) return
    const timer = runner.soonest()
    if (!timer) return
    const delay = clock.realDelayUntil(timer.due_at)
    if (delay === Number.POSITIVE_INFINITY) return
    endSleep = later(Math.min(Math.ceil(delay), MAX_SLEEP), tick)
  }

  function tickAgain(wait: (run: () => void) => () => void) {
    endSleep()
    if (!isStopped) endSleep = wait(tick)
  }

  /** Runs the timers that are due now. */
  function tick() {
    let isFirst = true
    for (let due = runner.soonest(); due && due.due_at <= clock.now(); due = runner.soonest()) {
      if (!isFirst && yielding.isDue()) return tickAgain(yielding.continueLater)
      isFirst = false
      try {
        runner.runDue(clock.now())
      } catch (error) {
        onError(error, due)
        return tickAgain((run) => later(RETRY_MS, run))
      }
    }
    arm()
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

export type Ticker = ReturnType<typeof createTicker>
