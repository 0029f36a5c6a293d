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
  assume?: Readings
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

/**
 * Adapts stored settings, of a snapshot or of another client, to the start options of this client: the clock continues
 * from the stored time, and the scenario stays.
 */
export function adoptSettings(tables: SandboxTables, start: WorldStart, wall: () => number) {
  const scenario = tables.tables.settings.get('scenario')
  if (scenario?.name === 'scenario')
    tables.put('settings', {
      name: 'scenario',
      value: { ...scenario.value, startedAs: start.scenario },
    })
  const clock = storedClock(tables)
  if (clock) {
    const value = { ...clock, wallAnchor: wall(), startedAs: startedAsOf(start) }
    tables.put('settings', { name: 'clock', value })
  }
}
