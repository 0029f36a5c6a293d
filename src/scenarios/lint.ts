import { parseDuration } from '../model/duration.ts'
import { DOCUMENT_OF } from '../model/kyc.ts'
import { didYouMean, oneOf, quoteValue } from '../model/words.ts'
import { fieldsOf, OPERATIONS_WITH, problemOfValue } from './call-fields.ts'
import { compileScenario } from './compile.ts'
import type { CompiledRule, CompiledScenario, RuleLimits } from './compiled.ts'
import { runsOperation } from './decide.ts'
import type { SchemaError } from './explain.ts'
import { isUndescribed } from './lifecycle-schema.ts'
import { passes, type Test } from './match.ts'
import { EVENTS } from './operations-and-events.ts'
import { isEqual, numberOf } from './operators.ts'
import type { OutcomeDefinition } from './outcome-schema.ts'
import { outcomesOf, type RuleDefinition } from './rule-schema.ts'
import type { TimelineDefinition } from './timeline-schema.ts'
import type { Path } from './yaml.ts'

const at = (path: Path, of: 'key' | 'value', message: string) => ({ path, of, message })

const sameField = (a: Test, b: Test) =>
  a.part === b.part &&
  a.path.length === b.path.length &&
  a.path.every((key, i) => key === b.path[i])

const UP = new Set(['gt', 'gte'])
const DOWN = new Set(['lt', 'lte'])
const AFFIXES = new Set(['starts_with', 'ends_with'])

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
  if (narrower.operator === wider.operator && AFFIXES.has(narrower.operator))
    return passes(wider, narrower.argument)
  return isNarrower(narrower, wider)
}

const isCovered = (narrower: readonly Test[], wider: readonly Test[]) =>
  wider.every((test) => narrower.some((one) => implies(one, test)))

const actsAlways = ({ skip, times, chance, appliesAt }: RuleLimits) =>
  skip === 0 && times === Number.POSITIVE_INFINITY && chance === 1 && !appliesAt

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
  list: 'rules' | 'webhooks' | 'statement',
  rules: readonly R[],
  covers: (upper: R, lower: R) => boolean,
): SchemaError[] {
  return rules.flatMap((rule, index) => {
    const warn = (message: string) => [at([list, index], 'value', message)]
    const contradictory = contradiction(rule.tests)
    if (contradictory) return warn(contradictory)
    const above = rules.findIndex(
      (upper, i) => i < index && covers(upper, rule) && isCovered(rule.tests, upper.tests),
    )
    if (above < 0) return []
    const named = `${rules[above]!.name} (${list}[${above}])`
    return warn(
      `this rule is never reached: ${named} is above it and matches every call that it matches`,
    )
  })
}

/** Returns the rules of a scenario that can never act: they contradict themselves, or an earlier rule always acts first. */
function unreachableIn({ rules, webhooks, statement }: CompiledScenario): SchemaError[] {
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
    ...unreachableRules('statement', statement, actsAlways),
  ]
}

function missingParts({ when }: RuleDefinition, { operations }: CompiledRule): SchemaError[] {
  return (['body', 'user', 'account'] as const).flatMap((part) => {
    const has = OPERATIONS_WITH[part]
    if (when[part] === undefined || operations.some((one) => has.includes(one))) return []
    const message = `this rule never matches: calls of ${oneOf(operations)} have no \`${part}\``
    return [at(['when', part], 'key', message)]
  })
}

/** Warns about a field that the contract does not have: if it has a similar one, or no field of the body is meant. */
function unknownField({ part, path: [field] }: Test, { operations }: CompiledRule): SchemaError[] {
  const known = fieldsOf(part, operations)
  if (field === undefined || !known || known.closed || known.fields.includes(field)) return []
  const warn = (message: string) => [at(['when', part, field], 'key', message)]
  const near = didYouMean(field, known.fields)
  if (near !== '') return warn(`\`${part}\` has no ${quoteValue(field)} in the contract${near}`)
  if (part !== 'body' || known.fields.length === 0 || operations.length > 1) return []
  return warn(
    `the body of ${oneOf(operations)} has no ${quoteValue(field)} in the contract, but ${oneOf(known.fields)}`,
  )
}

const WORDS: Readonly<Record<string, readonly string[]>> = {
  document_type: Object.keys(DOCUMENT_OF),
  document_name: Object.values(DOCUMENT_OF),
}

/** Warns about a value that the contract does not permit at this place. */
function impossibleValue(test: Test, { operations }: CompiledRule): SchemaError[] {
  const { part, path, operator, argument } = test
  const [field = '', ...below] = path
  const isStart = operator === 'starts_with' || operator === 'matches'
  if (!(isStart || operator === 'eq') || argument === null || below.length > 0) return []
  const warn = (what: string) => [
    at(['when', part, field], 'value', `${what}, so this matches only a call with a mistake`),
  ]
  if (isStart)
    return field === 'dateOfBirth' && /^\^?(?:19|20)\d\d/.test(String(argument))
      ? warn('`dateOfBirth` is DD-MM-YYYY')
      : []
  const words = part === 'item' ? WORDS[field] : undefined
  if (words && !words.includes(String(argument)))
    return warn(`\`${field}\` is ${oneOf(words)} in the contract`)
  const problem = problemOfValue(part, operations, field, argument)
  return problem === undefined ? [] : warn(`\`${field}\` ${problem}`)
}

function paiseOfOther({ part, path, operator }: Test): SchemaError[] {
  const field = path.at(-1)
  if (operator !== 'paise' || field === undefined || field === 'amount') return []
  const message = `\`paise\` tests an amount, and \`${field}\` is not an amount`
  return [at(['when', part, ...path, operator], 'key', message)]
}

function undescribedReasons(rule: RuleDefinition): SchemaError[] {
  return outcomesOf(rule).flatMap(([path, outcome]) => {
    const { transaction = [] } = outcome === 'pass' ? {} : (outcome as OutcomeDefinition)
    return transaction.flatMap((step, i) => {
      if (!isUndescribed(step)) return []
      const message = `${quoteValue(step.reason)} is not a known reason; add a \`description\` that explains it`
      return [at([...path, 'transaction', i, 'reason'], 'value', message)]
    })
  })
}

function uselessKey({ key, then, ...rule }: RuleDefinition): SchemaError[] {
  const counts = [rule.skip, rule.times, rule.chance, rule.sequence, then?.sequence]
  if (key === undefined || counts.some((word) => word !== undefined)) return []
  return [at(['key'], 'key', '`key` has no effect without skip, times, chance or sequence')]
}

function lintCompiled(rule: RuleDefinition, compiled: CompiledRule, path: Path): SchemaError[] {
  const found = [
    ...missingParts(rule, compiled),
    ...compiled.tests.flatMap((test) => unknownField(test, compiled)),
    ...compiled.tests.flatMap((test) => impossibleValue(test, compiled)),
    ...compiled.tests.flatMap(paiseOfOther),
    ...undescribedReasons(rule),
    ...uselessKey(rule),
  ]
  // Two tests of one field give one warning.
  const unique = new Map(found.map((one) => [JSON.stringify(one), one]))
  return [...unique.values()].map((one) => ({ ...one, path: [...path, ...one.path] }))
}

export function lintRule(rule: RuleDefinition, path: Path = []): SchemaError[] {
  const [compiled] = compileScenario({ rules: [rule] }, 'lint').rules
  return lintCompiled(rule, compiled!, path)
}

const kindIn = (event: string) => event.slice(0, event.indexOf('.'))

/** Warns about an event that waits for one that comes before it, or that is not about its resource. */
function endlessHolds({ webhooks }: CompiledScenario): SchemaError[] {
  return webhooks.flatMap(({ events, outcome: { holdUntil } }, i) => {
    if (holdUntil === undefined || holdUntil === 'next') return []
    const canFollow = events.some(
      (event) =>
        kindIn(event) === kindIn(holdUntil) && EVENTS.indexOf(event) < EVENTS.indexOf(holdUntil),
    )
    // What failed may still succeed.
    const isLate = events.includes(holdUntil.replace('.success', '.failed') as never)
    if (canFollow || isLate) return []
    const message = `${holdUntil} never follows ${oneOf(events)}, so nothing waits for it`
    return [at(['webhooks', i, 'then', 'hold_until'], 'value', message)]
  })
}

const MANY_PER_DAY = 500

/** Warns about an entry without an end. In a demo, calls and credits never end: only many are warned about. */
const endless = (timeline: readonly TimelineDefinition[]): SchemaError[] =>
  timeline.flatMap(({ every, times, do: { call, credit } }, i) => {
    if (every === undefined || times !== undefined) return []
    const perDay = Math.floor(parseDuration('1d')! / parseDuration(every)!)
    if ((call ?? credit) !== undefined && perDay <= MANY_PER_DAY) return []
    const message = `without \`times\` it repeats forever: ${perDay.toLocaleString('en')} times for each day that the clock moves`
    return [at(['timeline', i, 'every'], 'key', message)]
  })

/** Returns the warnings about a valid scenario: what never happens, and what is probably misspelt. */
export function lint(scenario: CompiledScenario): SchemaError[] {
  const { rules = [], timeline = [] } = scenario.definition
  return [
    ...rules.flatMap((rule, i) => lintCompiled(rule, scenario.rules[i]!, ['rules', i])),
    ...timeline.flatMap(({ do: { rule } }, i) =>
      rule ? lintRule(rule, ['timeline', i, 'do', 'rule']) : [],
    ),
    ...endless(timeline),
    ...endlessHolds(scenario),
    ...unreachableIn(scenario),
  ]
}
