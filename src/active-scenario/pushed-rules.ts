import { parseDuration } from '../model/duration.ts'
import { SandboxError } from '../model/errors.ts'
import { quoteInput } from '../model/mask.ts'
import { compileScenario } from '../scenarios/compile.ts'
import type { CompiledRule, CompiledScenario } from '../scenarios/compiled.ts'
import { MAX_PATTERNS, patternsIn } from '../scenarios/operators.ts'
import type { RuleDefinition } from '../scenarios/rule-schema.ts'
import type { PushedRuleRow } from '../tables/rows.ts'
import type { WorldContext } from '../tables/world-context.ts'
import type { RuleCounters } from './rule-counters.ts'

const scenarioOf = (id: string) => `rule:${id}`

const compiled = ({ rule_id, definition }: PushedRuleRow): CompiledScenario =>
  compileScenario({ rules: [definition] }, scenarioOf(rule_id))

/** Whether a rule has reached its maximum of hits; a rule with a `key` never has, since a new key can follow. */
const isUsedUp = ({ keyOf, times, thenOn, turns }: CompiledRule, hits: number): boolean =>
  !keyOf && hits >= (thenOn === 'pass' ? Math.min(times, turns.length) : times)

const hasEnded = ({ definition: { for: lasts }, pushed_at = '' }: PushedRuleRow, now: string) =>
  lasts !== undefined && Date.parse(now) - Date.parse(pushed_at) >= parseDuration(lasts)!

/** The stored rules that were pushed one by one. Each is a scenario of its own; the newest comes first. */
export function createPushedRules({ store, random, clock }: WorldContext, counters: RuleCounters) {
  const { rules } = store.tables
  const newestFirst = (): PushedRuleRow[] => [...rules.rows()].sort((a, b) => b.seq - a.seq)

  return {
    layers: (): CompiledScenario[] => newestFirst().map(compiled),
    definitions: (): RuleDefinition[] => newestFirst().map(({ definition }) => definition),
    describe: () =>
      newestFirst().map((row) => {
        const [rule] = compiled(row).rules
        const hits = counters.hitsOf(rule!)
        const { rule_id, definition } = row
        const used_up = isUsedUp(rule!, hits) || hasEnded(row, clock.iso())
        return { rule_id, hits, used_up, definition }
      }),
    push: (definition: RuleDefinition): PushedRuleRow =>
      store.change(() => {
        // After a reset of only the data the series restarts, and the retained rules already have its first numbers.
        const seq = Math.max(random.next(), (newestFirst()[0]?.seq ?? 0) + 1)
        const row = { rule_id: `rul_${seq}`, seq, definition, pushed_at: clock.iso() }
        return store.put('rules', row).row
      }),
    /** When a rule was pushed, client's time in ms; `undefined` for the scenario of no pushed rule. */
    pushedAt(scenario: string): number | undefined {
      const at = rules.get(scenario.replace(/^rule:/, ''))?.pushed_at
      return at === undefined ? undefined : Date.parse(at)
    },
    remove(id: string) {
      if (!rules.get(id))
        throw new SandboxError('not_found', `No rule ${quoteInput(id)} was pushed for this client.`)
      store.change(() => {
        store.remove('rules', id)
        counters.remove(scenarioOf(id))
      })
    },
    clear() {
      for (const { rule_id } of newestFirst()) store.remove('rules', rule_id)
    },
  }
}

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
