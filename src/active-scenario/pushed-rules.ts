import { SandboxError } from '../model/errors.ts'
import { quoteInput } from '../model/mask.ts'
import type { Random } from '../runtime/random.ts'
import { compileScenario } from '../scenarios/compile.ts'
import type { CompiledRule, CompiledScenario } from '../scenarios/compiled.ts'
import { MAX_PATTERNS, patternsIn } from '../scenarios/operators.ts'
import type { RuleDefinition } from '../scenarios/rule-schema.ts'
import type { PushedRuleRow } from '../tables/rows.ts'
import type { SandboxTables } from '../tables/tables.ts'
import type { Clock } from '../time/clock.ts'
import type { RuleCounters } from './rule-counters.ts'

const scenarioOf = (id: string) => `rule:${id}`

const compiled = ({ rule_id, definition }: PushedRuleRow): CompiledScenario =>
  compileScenario({ rules: [definition] }, scenarioOf(rule_id))

/** Whether a rule has reached its maximum of hits; a rule with a `key` never has, since a new key can follow. */
const isUsedUp = ({ keyOf, times, thenOn, turns }: CompiledRule, hits: number): boolean =>
  !keyOf && hits >= (thenOn === 'pass' ? Math.min(times, turns.length) : times)

/** The stored rules that were pushed one by one. Each is a scenario of its own; the newest comes first. */
export class PushedRules {
  readonly #store: SandboxTables
  readonly #random: Random
  readonly #counters: RuleCounters
  readonly #clock: Pick<Clock, 'iso'>

  constructor(
    store: SandboxTables,
    random: Random,
    counters: RuleCounters,
    clock: Pick<Clock, 'iso'>,
  ) {
    this.#clock = clock
    this.#store = store
    this.#random = random
    this.#counters = counters
  }

  #rows(): PushedRuleRow[] {
    return [...this.#store.tables.rules.rows()].sort((a, b) => b.seq - a.seq)
  }

  layers(): CompiledScenario[] {
    return this.#rows().map(compiled)
  }

  definitions(): RuleDefinition[] {
    return this.#rows().map(({ definition }) => definition)
  }

  /** Returns the rules with their hits. */
  describe() {
    return this.#rows().map((row) => {
      const [rule] = compiled(row).rules
      const hits = this.#counters.hitsOf(rule!)
      const { rule_id, definition } = row
      return { rule_id, hits, used_up: isUsedUp(rule!, hits), definition }
    })
  }

  /** Adds a checked rule before all others. */
  push(definition: RuleDefinition): PushedRuleRow {
    return this.#store.change(() => {
      // After a reset of only the data the series restarts, and the retained rules already have its first numbers.
      const seq = Math.max(this.#random.next(), (this.#rows()[0]?.seq ?? 0) + 1)
      const row = { rule_id: `rul_${seq}`, seq, definition, pushed_at: this.#clock.iso() }
      return this.#store.put('rules', row).row
    })
  }

  /** When a rule was pushed, client's time in ms; `undefined` for the scenario of no pushed rule. */
  pushedAt(scenario: string): number | undefined {
    const at = this.#store.tables.rules.get(scenario.replace(/^rule:/, ''))?.pushed_at
    return at === undefined ? undefined : Date.parse(at)
  }

  /** Removes a rule and its counters. */
  remove(id: string) {
    if (!this.#store.tables.rules.get(id))
      throw new SandboxError('not_found', `No rule ${quoteInput(id)} was pushed for this client.`)
    this.#store.change(() => {
      this.#store.remove('rules', id)
      this.#counters.remove(scenarioOf(id))
    })
  }

  /** Removes all rules, but not their counters. */
  clear() {
    for (const { rule_id } of this.#rows()) this.#store.remove('rules', rule_id)
  }
}

/** The maximum number of pushed rules of a client. */
const MAX_PUSHED_RULES = 1_000

const countPatterns = (rules: readonly { when?: unknown }[]) =>
  rules.reduce((count, { when }) => count + patternsIn(when).length, 0)

/** Throws if a client cannot have these pushed rules besides the layers of a scenario: a call may be tested with all. */
export function checkRuleLimits(
  pushed: readonly RuleDefinition[],
  layers: readonly CompiledScenario[],
) {
  if (pushed.length > MAX_PUSHED_RULES)
    throw new SandboxError(
      'too_many_rules',
      `This client would have ${pushed.length} pushed rules, and the maximum is ${MAX_PUSHED_RULES}. Delete rules that are used up, or reset the scenario.`,
    )
  const ofPushed = countPatterns(pushed)
  if (ofPushed === 0) return
  const ofScenario = layers.map(({ definition: { rules = [], webhooks = [] } }) =>
    countPatterns([...rules, ...webhooks]),
  )
  const count = ofScenario.reduce((sum, one) => sum + one, ofPushed)
  if (count > MAX_PATTERNS)
    throw new SandboxError(
      'too_many_rules',
      `The pushed rules and the scenario would have ${count} patterns, and the maximum is ${MAX_PATTERNS}. Delete rules, or use starts_with, ends_with, contains or in instead of matches.`,
    )
}
