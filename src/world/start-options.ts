import type { Readings } from '../assumptions/readings.ts'
import type { SandboxTables } from '../tables/tables.ts'
import type { ClockState } from '../time/clock.ts'

/** The start options of a world, which a reset restores. */
export type WorldStart = {
  randomSeed: number
  clock: string
  clockSpeed: number
  scenario: string
  /** Readings of open points of the contract. */
  assume?: Readings | undefined
}

/** The start options of one client. */
export type ClientStart = WorldStart & {
  /** The start scenario of the sandbox, for a client whose own one was deleted. */
  fallbackScenario: string
}

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
  // Each field by its name: copies of states would have a hidden class of their own for each client.
  const { mode, speed, anchor, wallAnchor } = state
  const value = { mode, speed, anchor, wallAnchor, startedAs }
  tables.put('settings', { name: 'clock', value })
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
