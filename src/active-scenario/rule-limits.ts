import { SandboxError } from '../model/errors.ts'
import type { CompiledScenario } from '../scenarios/compiled.ts'
import { MAX_PATTERNS, patternsIn } from '../scenarios/operators.ts'
import type { RuleDefinition } from '../scenarios/rule-schema.ts'

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
