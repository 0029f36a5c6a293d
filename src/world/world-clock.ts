import type { Later } from '../runtime/real-time.ts'
import type { SandboxTables } from '../tables/tables.ts'
import { Clock, type ClockState } from '../time/clock.ts'
import type { WorldStart } from './world-deps.ts'

/** The start time of `--clock frozen`: fixed, so that two runs give the same bytes. */
const FROZEN_AT = Date.parse('2026-01-01T00:00:00.000Z')

/** The clock of the start options. */
export function startingClock({ clock, clockSpeed }: WorldStart, wall: () => number): ClockState {
  const wallAnchor = wall()
  if (clock === 'real') return { mode: 'real', speed: clockSpeed, anchor: wallAnchor, wallAnchor }
  const anchor = clock === 'frozen' ? FROZEN_AT : Date.parse(clock)
  return { mode: 'frozen', speed: clockSpeed, anchor, wallAnchor }
}

/** The clock options as they are stored with a clock, to find out at a start whether they have changed. */
export const startedAsOf = ({ clock, clockSpeed }: WorldStart) => `${clock} ${clockSpeed}`

/** The stored state of a world's clock. */
export function storedClock({ tables }: SandboxTables) {
  const setting = tables.settings.get('clock')
  return setting?.name === 'clock' ? setting.value : undefined
}

/** The clock of a client at its start: the stored one continues, unless the clock options have changed. */
export function clockAtStart(tables: SandboxTables, start: WorldStart, wall: () => number) {
  const stored = storedClock(tables)
  return stored?.startedAs === startedAsOf(start)
    ? { isContinued: true, state: stored }
    : { isContinued: false, state: startingClock(start, wall) }
}

/** Stores the state of a world's clock. */
export function storeClock(tables: SandboxTables, state: ClockState, startedAs: string) {
  tables.put('settings', { name: 'clock', value: { ...state, startedAs } })
}

/** The stored choice of the active scenario. */
export function storedScenario({ tables }: SandboxTables) {
  const setting = tables.settings.get('scenario')
  return setting?.name === 'scenario' ? setting.value : undefined
}

/**
 * Adapts stored settings, of a snapshot or of another client, to the start options of this client: the clock continues
 * from the stored time, and the scenario stays.
 */
export function adoptSettings(tables: SandboxTables, start: WorldStart, wall: () => number) {
  const scenario = storedScenario(tables)
  if (scenario) {
    const value = { ...scenario, startedAs: start.scenario }
    tables.put('settings', { name: 'scenario', value })
  }
  const clock = storedClock(tables)
  if (clock) storeClock(tables, { ...clock, wallAnchor: wall() }, startedAsOf(start))
}

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
