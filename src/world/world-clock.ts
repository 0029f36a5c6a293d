import type { Later } from '../runtime/real-time.ts'
import type { SandboxTables } from '../tables/tables.ts'
import { Clock, type ClockState } from '../time/clock.ts'
import {
  clockAtStart,
  startedAsOf,
  startingClock,
  storeClock,
  storedClock,
  type WorldStart,
} from './start-options.ts'

// The delay before the clock is stored again after a failure, real ms.
const RETRY_MS = 1_000

export type WorldClockDeps = {
  tables: SandboxTables
  start: WorldStart
  /** The monotonic wall clock that drives the client's clock. */
  wall: () => number
  later: Later
}

/** A world's clock and its stored state, so that a restart continues from there. */
export function createWorldClock({ tables, start, wall, later }: WorldClockDeps) {
  const startedAs = startedAsOf(start)
  const { isContinued, state: first } = clockAtStart(tables, start, wall)
  const clock = new Clock(first, wall)
  // Whether the clock is ahead of its stored state, because a write failed.
  let isUnsaved = false
  let cancelRetry = () => {}

  const store = (state: ClockState) => storeClock(tables, state, startedAs)

  function persist() {
    store(clock.state)
    isUnsaved = false
  }

  function tryToPersist(): boolean {
    try {
      if (isUnsaved) persist()
    } catch {
      // Not yet.
    }
    return !isUnsaved
  }

  function persistSoon() {
    isUnsaved = true
    cancelRetry = later(RETRY_MS, () => {
      if (!tryToPersist()) persistSoon()
    })
  }

  /** The present state of the clock, as it can be stored in a snapshot or another world. */
  function now(): ClockState {
    const { mode, speed } = clock.state
    return { mode, speed, anchor: clock.now(), wallAnchor: wall() }
  }

  return {
    clock,
    now,
    persist,
    /** Stores the state of the clock as soon as the disk accepts it. */
    persistSoon,
    /** Stores the present time, for a snapshot. */
    persistNow: () => store(now()),
    /** Changes the clock and stores it; if it cannot be stored, the change is rolled back. */
    change(run: () => void) {
      const before = clock.state
      try {
        run()
        persist()
      } catch (error) {
        clock.load(before)
        throw error
      }
    },
    /** Stores the clock of the start options; returns its time, ms. `reload` must follow the commit. */
    restart(): number {
      const state = startingClock(start, wall)
      store(state)
      return state.anchor
    },
    /** Continues from the stored state after it was replaced. */
    reload() {
      const state = storedClock(tables)
      if (state) clock.load(state)
    },
    start() {
      if (!isContinued) persist()
    },
    stop() {
      tryToPersist()
      cancelRetry()
    },
  }
}

export type WorldClock = ReturnType<typeof createWorldClock>
