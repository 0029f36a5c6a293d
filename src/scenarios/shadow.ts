import { type CompiledRule, type CompiledScenario, isCarriedOut, type Limited } from './compiled.ts'
import { holds, isEqual, numberOf, type Test } from './match.ts'

/** A rule that no call reaches: its list and place, and why. */
export type Unreachable = { list: 'rules' | 'webhooks'; index: number; message: string }

const sameField = (a: Test, b: Test) =>
  a.part === b.part &&
  a.path.length === b.path.length &&
  a.path.every((key, i) => key === b.path[i])

const UP = new Set(['gt', 'gte'])
const DOWN = new Set(['lt', 'lte'])

/** Whether a bound is at least as narrow as another in the same direction. */
function isNarrower(narrow: Test, wide: Test): boolean {
  const [inner, outer] = [numberOf(narrow.argument), numberOf(wide.argument)]
  if (inner === undefined || outer === undefined) return false
  const open = wide.operator.length === 2 && narrow.operator.length === 3
  if (UP.has(narrow.operator) && UP.has(wide.operator)) return open ? inner > outer : inner >= outer
  if (DOWN.has(narrow.operator) && DOWN.has(wide.operator))
    return open ? inner < outer : inner <= outer
  return false
}

/** Whether every value that one test lets through is let through by the other. */
function implies(narrow: Test, wide: Test): boolean {
  if (!sameField(narrow, wide)) return false
  if (narrow.operator === wide.operator && isEqual(narrow.argument, wide.argument)) return true
  if (narrow.operator === 'eq') return holds(wide, narrow.argument)
  if (narrow.operator === 'in')
    return (narrow.argument as unknown[]).every((one) => holds(wide, one))
  if (wide.operator === 'absent' && wide.argument === false)
    return !['ne', 'absent'].includes(narrow.operator)
  if (narrow.operator === 'starts_with' && wide.operator === 'starts_with')
    return holds(wide, narrow.argument)
  if (narrow.operator === 'ends_with' && wide.operator === 'ends_with')
    return holds(wide, narrow.argument)
  return isNarrower(narrow, wide)
}

const isCovered = (narrow: readonly Test[], wide: readonly Test[]) =>
  wide.every((test) => narrow.some((one) => implies(one, test)))

const actsAlways = ({ skip, times, chance }: Limited) =>
  skip === 0 && times === Number.POSITIVE_INFINITY && chance === 1

/** Whether a rule that matches always leaves nothing of the other's questions open. */
function leavesNothing(upper: CompiledRule, lower: CompiledRule): boolean {
  if (!actsAlways(upper) || upper.thenOn === 'pass') return false
  return upper.turns.every((turn) => {
    if (turn === 'pass') return false
    const stops = turn.answer !== undefined && !isCarriedOut(turn.answer)
    if (upper.perItem !== lower.perItem) return !upper.perItem && stops
    return lower.turns.every(
      (other) =>
        other === 'pass' || ((!other.answer || turn.answer) && (!other.life || turn.life || stops)),
    )
  })
}

const contradicts = (a: Test, b: Test): boolean => {
  if (!sameField(a, b)) return false
  if (a.operator === 'eq') return !holds(b, a.argument)
  if (a.operator === 'absent' && a.argument === true) return !['ne', 'absent'].includes(b.operator)
  if (!UP.has(a.operator) || !DOWN.has(b.operator)) return false
  const [low, high] = [numberOf(a.argument)!, numberOf(b.argument)!]
  return low > high || (low === high && (a.operator === 'gt' || b.operator === 'lt'))
}

function contradiction(tests: readonly Test[]): string | undefined {
  for (const a of tests) {
    const other = tests.find((b) => a !== b && contradicts(a, b))
    if (other)
      return `this rule never matches: no ${[a.part, ...a.path].join('.')} holds against both ${a.operator} and ${other.operator}`
  }
  return undefined
}

function among<R extends Limited>(
  list: Unreachable['list'],
  rules: readonly R[],
  covers: (upper: R, lower: R) => boolean,
): Unreachable[] {
  return rules.flatMap((rule, index): Unreachable[] => {
    const never = contradiction(rule.tests)
    if (never) return [{ list, index, message: never }]
    const above = rules.findIndex(
      (upper, i) => i < index && covers(upper, rule) && isCovered(rule.tests, upper.tests),
    )
    if (above < 0) return []
    const named = `${rules[above]!.name} (${list}[${above}])`
    return [
      {
        list,
        index,
        message: `this rule is never reached: ${named} comes first and takes every call that it matches`,
      },
    ]
  })
}

/** The rules of a scenario that nothing can reach: they contradict themselves, or lie wholly under an earlier one. */
export function unreachableIn({ rules, webhooks }: CompiledScenario): Unreachable[] {
  return [
    ...among(
      'rules',
      rules,
      (upper, lower) =>
        lower.operations.every((one) => upper.operations.includes(one)) &&
        leavesNothing(upper, lower),
    ),
    ...among(
      'webhooks',
      webhooks,
      (upper, lower) =>
        lower.events.every((one) => upper.events.includes(one)) && actsAlways(upper),
    ),
  ]
}
