import type { Counter } from '../scenarios/decide.ts'
import { counterName } from '../scenarios/rule-ids.ts'
import type { SandboxTables } from '../tables/tables.ts'

/** The stored counters of the rules of one world: how often each rule matched and acted. */
export class RuleCounters {
  readonly #store: SandboxTables
  readonly #rows: SandboxTables['tables']['counters']

  constructor(store: SandboxTables) {
    this.#store = store
    this.#rows = store.tables.counters
  }

  get(name: string): Counter | undefined {
    return this.#rows.get(name)
  }

  set(name: string, { matched, hits }: Counter) {
    this.#store.put('counters', { name, matched, hits })
  }

  /** Returns how often a rule acted, over all values of its `key`. */
  hitsOf(rule: { scenario: string; id: string }): number {
    const name = counterName(rule)
    let hits = 0
    for (const row of this.#rows.rows())
      if (row.name === name || row.name.startsWith(`${name}\n`)) hits += row.hits
    return hits
  }

  /** Removes the counters of a scenario, or all. */
  remove(scenario?: string) {
    const prefix = scenario === undefined ? '' : `${scenario}#`
    for (const { name } of [...this.#rows.rows()])
      if (name.startsWith(prefix)) this.#store.remove('counters', name)
  }
}
