import type { Counter } from '../scenarios/decide.ts'
import { counterName } from '../scenarios/rule-ids.ts'
import type { SandboxTables } from '../tables/tables.ts'
import type { Totals } from './totals.ts'

/** The stored counters of the rules of one world: how often each rule matched and acted. */
export class RuleCounters {
  readonly #store: SandboxTables
  readonly #rows: SandboxTables['tables']['counters']
  readonly #totals: Totals

  constructor(store: SandboxTables, totals: Totals) {
    this.#store = store
    this.#totals = totals
    this.#rows = store.tables.counters
  }

  get(name: string): Counter | undefined {
    return this.#rows.get(name)
  }

  set(name: string, { matched, hits }: Counter) {
    // The counter of a rule with a `key` has the value of the key in a second line.
    if (hits > (this.get(name)?.hits ?? 0)) this.#totals.countHit(name.split('\n', 1)[0]!)
    this.#store.put('counters', { name, matched, hits })
  }

  /** Returns how often a rule acted, over all values of its `key`. */
  hitsOf = (rule: { scenario: string; id: string }): number => {
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
