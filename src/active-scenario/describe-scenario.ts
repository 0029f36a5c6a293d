import type { CompiledScenario } from '../scenarios/compiled.ts'
import type { Expectation } from './expectations.ts'

type CountedRule = { scenario: string; id: string; name: string }

/** A scenario with the hits of the rules of these layers, and its expectations. */
export function describeScenario(
  { name, title }: Pick<CompiledScenario, 'name' | 'title'>,
  layers: readonly CompiledScenario[],
  hitsOf: (rule: CountedRule) => number,
  expect: Expectation[],
) {
  const hitCount = (rule: CountedRule) => ({
    name: rule.name,
    // Only a rule of another scenario shows its scenario.
    ...(rule.scenario !== name && { scenario: rule.scenario }),
    hits: hitsOf(rule),
  })
  return {
    name,
    title: title ?? null,
    rules: layers.flatMap(({ rules }) => rules.map(hitCount)),
    webhooks: layers.flatMap(({ webhooks }) => webhooks.map(hitCount)),
    expect,
  }
}
