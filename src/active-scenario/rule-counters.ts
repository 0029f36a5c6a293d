import type { CompiledScenario } from '../scenarios/compiled.ts'
import type { Counter } from '../scenarios/decide.ts'
import type { Library } from '../scenarios/library.ts'
import { counterName } from '../scenarios/references.ts'
import type { SandboxTables } from '../tables/tables.ts'
import { describeScenario, Expectations } from './current-scenario.ts'

// Tests can push any number of rules, and each of them has a counter.
const MAX_COUNTERS = 10_000

/** What happened in all clients since the start of the process, deleted ones too. A reset changes nothing of it. */
export class Totals {
  /** The calls while the start scenario of the sandbox was in force. */
  readonly expectations = new Expectations()
  readonly #hits = new Map<string, number>()
  /** The counters of imposed scenarios that count over the whole run. */
  readonly counters = new Map<string, Counter>()

  countHit(counter: string) {
    const hits = this.#hits.get(counter)
    if (hits !== undefined || this.#hits.size < MAX_COUNTERS)
      this.#hits.set(counter, (hits ?? 0) + 1)
  }

  /** A scenario of the library with the hits of its rules and its expectations, over all clients. */
  describe(scenario: CompiledScenario, library: Library) {
    const layers = library.ownLayersOf(scenario)
    return describeScenario(scenario, layers, this.hitsOf, this.expectations.of(scenario))
  }

  hitsOf = (rule: { scenario: string; id: string }) => this.#hits.get(counterName(rule)) ?? 0
}

/** The stored counters of the rules of one world: how often each rule matched and acted. */
export function createRuleCounters(
  store: SandboxTables,
  totals: Totals,
  countsOverRun: (counter: string) => boolean,
) {
  const { counters } = store.tables
  const get = (name: string): Counter | undefined =>
    countsOverRun(name) ? totals.counters.get(name) : counters.get(name)

  return {
    get,
    set(name: string, { matched, hits }: Counter) {
      // The counter of a rule with a `key` has the value of the key in a second line.
      if (hits > (get(name)?.hits ?? 0)) totals.countHit(name.split('\n', 1)[0]!)
      if (countsOverRun(name)) totals.counters.set(name, { matched, hits })
      else store.put('counters', { name, matched, hits })
    },
    hitsOf(rule: { scenario: string; id: string }): number {
      const name = counterName(rule)
      if (countsOverRun(name)) return totals.hitsOf(rule)
      let hits = 0
      for (const row of counters.rows())
        if (row.name === name || row.name.startsWith(`${name}\n`)) hits += row.hits
      return hits
    },
    remove(scenario?: string) {
      const prefix = scenario === undefined ? '' : `${scenario}#`
      for (const { name } of [...counters.rows()])
        if (name.startsWith(prefix)) store.remove('counters', name)
    },
  }
}

export type RuleCounters = ReturnType<typeof createRuleCounters>
