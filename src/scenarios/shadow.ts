import {
  type CompiledRule,
  type CompiledScenario,
  type RuleLimits,
  runsOperation,
} from './compiled.ts'
import { passes, type Test } from './match.ts'
import { isEqual, numberOf } from './operators.ts'

/** A rule that no call reaches: its list, its index, and why. */
export type UnreachableRule = { list: 'rules' | 'webhooks'; index: number; message: string }

const sameField = (a: Test, b: Test) =>
  a.part === b.part &&
  a.path.length === b.path.length &&
  a.path.every((key, i) => key === b.path[i])

const UP = new Set(['gt', 'gte'])
const DOWN = new Set(['lt', 'lte'])

/** Whether one bound implies another bound in the same direction. */
function isNarrower(narrower: Test, wider: Test): boolean {
  const [inner, outer] = [numberOf(narrower.argument), numberOf(wider.argument)]
  if (inner === undefined || outer === undefined) return false
  const open = wider.operator.length === 2 && narrower.operator.length === 3
  if (UP.has(narrower.operator) && UP.has(wider.operator))
    return open ? inner > outer : inner >= outer
  if (DOWN.has(narrower.operator) && DOWN.has(wider.operator))
    return open ? inner < outer : inner <= outer
  return false
}

/** Whether every value that passes the narrower test also passes the wider one. */
function implies(narrower: Test, wider: Test): boolean {
  if (!sameField(narrower, wider)) return false
  if (narrower.operator === wider.operator && isEqual(narrower.argument, wider.argument))
    return true
  if (narrower.operator === 'eq') return passes(wider, narrower.argument)
  if (narrower.operator === 'in')
    return (narrower.argument as unknown[]).every((one) => passes(wider, one))
  if (wider.operator === 'absent' && wider.argument === false)
    return !['ne', 'absent'].includes(narrower.operator)
  if (narrower.operator === 'starts_with' && wider.operator === 'starts_with')
    return passes(wider, narrower.argument)
  if (narrower.operator === 'ends_with' && wider.operator === 'ends_with')
    return passes(wider, narrower.argument)
  return isNarrower(narrower, wider)
}

const isCovered = (narrower: readonly Test[], wider: readonly Test[]) =>
  wider.every((test) => narrower.some((one) => implies(one, test)))

const actsAlways = ({ skip, times, chance }: RuleLimits) =>
  skip === 0 && times === Number.POSITIVE_INFINITY && chance === 1

/** Whether the upper rule, if it matches, always decides everything that the lower rule could decide. */
function decidesAllOf(upper: CompiledRule, lower: CompiledRule): boolean {
  if (!actsAlways(upper) || upper.thenOn === 'pass') return false
  return upper.turns.every((turn) => {
    if (turn === 'pass') return false
    const stops = turn.response !== undefined && !runsOperation(turn.response)
    if (upper.perItem !== lower.perItem) return !upper.perItem && stops
    return lower.turns.every(
      (other) =>
        other === 'pass' ||
        ((!other.response || turn.response) && (!other.lifecycle || turn.lifecycle || stops)),
    )
  })
}

const contradicts = (a: Test, b: Test): boolean => {
  if (!sameField(a, b)) return false
  if (a.operator === 'eq') return !passes(b, a.argument)
  if (a.operator === 'absent' && a.argument === true) return !['ne', 'absent'].includes(b.operator)
  if (!UP.has(a.operator) || !DOWN.has(b.operator)) return false
  const [low, high] = [numberOf(a.argument)!, numberOf(b.argument)!]
  return low > high || (low === high && (a.operator === 'gt' || b.operator === 'lt'))
}

function contradiction(tests: readonly Test[]): string | undefined {
  for (const a of tests) {
    const other = tests.find((b) => a !== b && contradicts(a, b))
    if (other)
      return `this rule never matches: no ${[a.part, ...a.path].join('.')} meets both ${a.operator} and ${other.operator}`
  }
  return undefined
}

function unreachableRules<R extends RuleLimits>(
  list: UnreachableRule['list'],
  rules: readonly R[],
  covers: (upper: R, lower: R) => boolean,
): UnreachableRule[] {
  return rules.flatMap((rule, index): UnreachableRule[] => {
    const contradictory = contradiction(rule.tests)
    if (contradictory) return [{ list, index, message: contradictory }]
    const above = rules.findIndex(
      (upper, i) => i < index && covers(upper, rule) && isCovered(rule.tests, upper.tests),
    )
    if (above < 0) return []
    const named = `${rules[above]!.name} (${list}[${above}])`
    return [
      {
        list,
        index,
        message: `this rule is never reached: ${named} is above it and matches every call that it matches`,
      },
    ]
  })
}

/** Returns the rules of a scenario that can never act: they contradict themselves, or an earlier rule always acts first. */
export function unreachableIn({ rules, webhooks }: CompiledScenario): UnreachableRule[] {
  return [
    ...unreachableRules(
      'rules',
      rules,
      (upper, lower) =>
        lower.operations.every((one) => upper.operations.includes(one)) &&
        decidesAllOf(upper, lower),
    ),
    ...unreachableRules(
      'webhooks',
      webhooks,
      (upper, lower) =>
        lower.events.every((one) => upper.events.includes(one)) && actsAlways(upper),
    ),
  ]
}
