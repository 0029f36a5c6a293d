import { ASSUMPTIONS, Assumed, DEFAULT_READINGS, type Readings } from '../assumptions/readings.ts'
import type { ActiveScenario } from '../tables/rows.ts'
import { type SandboxTables, settingOf } from '../tables/tables.ts'
import type { Feed } from './feed.ts'

export type WorldAssumptionsDeps = {
  tables: SandboxTables
  start: Readings
  /** The readings of a scenario (default: of the active one). */
  ofScenario: (scenario?: StoredScenario) => Readings
  imposed: () => Readings
  feed: Feed
}

type StoredScenario = Pick<ActiveScenario, 'name' | 'definition'>

/** Changes of readings; `null` undoes an earlier change. */
export type ReadingChanges = Readonly<Record<string, string | null>>

/** Where a reading in force comes from, lowest priority first. */
export const READING_SOURCES = ['default', 'start', 'scenario', 'call', 'imposed'] as const

/** The readings of one client, by priority: imposed scenario, call, active scenario, options of the start, default. */
export class WorldAssumptions extends Assumed {
  readonly #deps: WorldAssumptionsDeps

  constructor(deps: WorldAssumptionsDeps) {
    super()
    this.#deps = deps
  }

  get #called(): Readings {
    return settingOf(this.#deps.tables.tables.settings, 'assumptions') ?? {}
  }

  #store(value: Readings) {
    const { tables } = this.#deps
    if (Object.keys(value).length > 0) tables.put('settings', { name: 'assumptions', value })
    else tables.remove('settings', 'assumptions')
  }

  /** Puts the readings in force after the scenario or the stored changes were replaced. */
  update() {
    const { start, ofScenario, imposed } = this.#deps
    this.use({ ...start, ...ofScenario(), ...this.#called, ...imposed() })
  }

  /** Changes readings; they are valid. */
  change(changes: ReadingChanges) {
    const { tables, feed } = this.#deps
    const called = Object.entries({ ...this.#called, ...changes })
    tables.change(() =>
      this.#store(
        Object.fromEntries(called.filter((entry): entry is [string, string] => entry[1] !== null)),
      ),
    )
    this.update()
    feed.publishAfterCommit('assumptions', { changed: Object.keys(changes) })
  }

  /** The readings that are not the default, if this scenario is active and calls have chosen these readings. */
  notDefault(scenario: StoredScenario, called: Readings): Readings {
    const { start, ofScenario } = this.#deps
    const all = Object.entries({ ...start, ...ofScenario(scenario), ...called })
    return Object.fromEntries(all.filter(([name, reading]) => DEFAULT_READINGS[name] !== reading))
  }

  /** Stores changes that lead to exactly these readings with this scenario; `update` must follow the commit. */
  replace(scenario: StoredScenario, readings: Readings) {
    const { start, ofScenario } = this.#deps
    const below: Readings = { ...DEFAULT_READINGS, ...start, ...ofScenario(scenario) }
    const wanted = Object.entries({ ...DEFAULT_READINGS, ...readings })
    this.#store(Object.fromEntries(wanted.filter(([name, reading]) => below[name] !== reading)))
  }

  /** Captures the changes, and returns the function that stores them after a reset of only the data. */
  capture() {
    const called = this.#called
    return () => this.#store(called)
  }

  /** Removes the changes; `update` must follow the commit. */
  reset() {
    this.#store({})
  }

  describe() {
    const { start, ofScenario, imposed } = this.#deps
    const layers = { start, scenario: ofScenario(), call: this.#called, imposed: imposed() }
    return ASSUMPTIONS.map((assumption) => {
      const { name } = assumption
      const source = READING_SOURCES.findLast(
        (one) => one === 'default' || layers[one][name] !== undefined,
      )!
      return { assumption, reading: this.readings[name]!, source }
    })
  }
}
