import type { CompiledScenario } from '../scenarios/compiled.ts'
import type { Library } from '../scenarios/library.ts'
import { counterName } from '../scenarios/rule-ids.ts'
import { describeScenario } from './describe-scenario.ts'
import { Expectations } from './expectations.ts'

// Tests can push any number of rules, and each of them has a counter.
const MAX_COUNTERS = 10_000

/** What happened in all clients since the start of the process, deleted ones too. A reset changes nothing of it. */
export class Totals {
  /** The calls while the start scenario of the sandbox was in force. */
  readonly expectations = new Expectations()
  readonly #hits = new Map<string, number>()

  /** Counts a hit of the rule with this counter. */
  countHit(counter: string) {
    const hits = this.#hits.get(counter)
    if (hits !== undefined || this.#hits.size < MAX_COUNTERS)
      this.#hits.set(counter, (hits ?? 0) + 1)
  }

  /** A scenario of the library with the hits of its rules and its expectations, over all clients. */
  describe(scenario: CompiledScenario, library: Library) {
    const layers = library.ownLayersOf(scenario)
    return describeScenario(scenario, layers, this.#hitsOf, this.expectations.of(scenario))
  }

  #hitsOf = (rule: { scenario: string; id: string }): number =>
    this.#hits.get(counterName(rule)) ?? 0
}
