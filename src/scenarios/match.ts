import { RE2JS } from 're2js'
import { paiseOf } from '../model/money.ts'
import type { Condition } from './condition.ts'
import {
  type CallPart,
  type EventName,
  type EventPart,
  OPERATIONS,
  OPERATORS,
  type OperationId,
  type Operator,
} from './words.ts'

/**
 * One call of the service, as rules see it. Values are those that the client sent, without any defaults.
 *
 * A part is read only if a rule tests it, so `user` and `account` may be getters. Header names are lower case,
 * as in Node. `item` is set if the rules are evaluated for one document of POST /kyc.
 */
export type RuleCall = { readonly operation: OperationId } & {
  readonly [part in CallPart]?: unknown
}

/** One event, as webhook rules see it: `data` is the resource as its GET endpoint returns it, `account` has unmasked numbers. */
export type RuleEvent = { readonly event: EventName } & { readonly [part in EventPart]?: unknown }

/** The parts of a call or an event that tests can read. */
export type CallParts = { readonly [part in CallPart | EventPart]?: unknown }

/** How a value is converted before it is tested: not at all, to a number, to its paise, or to text. */
export type Conversion = 'value' | 'number' | 'paise' | 'text'

/** One comparison of a `when`: compares the value at `part` and `path` with `argument`. */
export type Test = {
  part: CallPart | EventPart
  path: readonly string[]
  operator: Operator
  argument: unknown
  /** The conversion of the value that `accepts` takes; done once for all rules that test the value. */
  conversion: Conversion
  accepts: (read: unknown) => boolean
}

// Longer text never matches a pattern, because the search would take too long.
const MAX_SEARCHED = 4 * 1024
const DECIMAL = /^-?\d{1,15}(?:\.\d{1,6})?$/
const TEXT_PARTS = new Set(['params', 'query', 'headers'])
const OPERATOR_WORDS: ReadonlySet<string> = new Set(OPERATORS)

/** Returns the value of a number or of a decimal text; `undefined` for everything else. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  return typeof value === 'string' && DECIMAL.test(value) ? Number(value) : undefined
}

function isSameJson(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every(
    (key) =>
      Object.hasOwn(b, key) &&
      isSameJson((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
  )
}

/** Whether two values are equal: deeply equal, or a number and a decimal text of the same value (`100` and `"100.00"`). */
export function isEqual(value: unknown, wanted: unknown): boolean {
  if (typeof value === typeof wanted) return isSameJson(value, wanted)
  const number = numberOf(wanted)
  return number !== undefined && number === numberOf(value)
}

function isEmpty(value: unknown): boolean {
  if (value === '' || value === null) return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

function paisePart(value: unknown): number | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  const paise = paiseOf(value)
  return paise === undefined ? undefined : paise % 100
}

function matchesPattern(argument: unknown) {
  const pattern = RE2JS.compile(argument as string)
  return (value: unknown) =>
    typeof value === 'string' && value.length <= MAX_SEARCHED && pattern.test(value)
}

function matchesAny(wanted: unknown) {
  const list = wanted as unknown[]
  const texts = new Set(list.filter((one) => typeof one === 'string'))
  const others = list.filter((one) => typeof one !== 'string')
  return (value: unknown) => {
    if (value === undefined) return false
    if (typeof value === 'string')
      return texts.has(value) || others.some((one) => isEqual(value, one))
    return list.some((one) => isEqual(value, one))
  }
}

function equals(wanted: unknown) {
  if (typeof wanted !== 'string')
    return (value: unknown) => value !== undefined && isEqual(value, wanted)
  return (value: unknown) =>
    value === wanted || (typeof value === 'number' && isEqual(value, wanted))
}

const moreThan = (limit: number) => (read: unknown) => (read as number) > limit
const atLeast = (limit: number) => (read: unknown) => (read as number) >= limit
const lessThan = (limit: number) => (read: unknown) => (read as number) < limit
const atMost = (limit: number) => (read: unknown) => (read as number) <= limit

/** Returns the matcher of each operator for an argument; called once, when the file is compiled. */
const MATCHERS: Readonly<Record<Operator, (argument: unknown) => (read: unknown) => boolean>> = {
  eq: equals,
  ne: (wanted) => (value) => value === undefined || !isEqual(value, wanted),
  in: matchesAny,
  // A value that is not a number converts to undefined, and every comparison with undefined is false.
  gt: (limit) => moreThan(numberOf(limit)!),
  gte: (limit) => atLeast(numberOf(limit)!),
  lt: (limit) => lessThan(numberOf(limit)!),
  lte: (limit) => atMost(numberOf(limit)!),
  starts_with: (start) => (value) => typeof value === 'string' && value.startsWith(start as string),
  ends_with: (end) => (value) => typeof value === 'string' && value.endsWith(end as string),
  contains: (wanted) => (value) =>
    Array.isArray(value)
      ? value.some((one) => isEqual(one, wanted))
      : typeof value === 'string' && value.includes(String(wanted)),
  matches: matchesPattern,
  empty: (wanted) => (value) => value !== undefined && isEmpty(value) === wanted,
  absent: (wanted) => (value) => (value === undefined) === wanted,
  paise: (wanted) => (read) => read === wanted,
}

const asText = (value: unknown): unknown =>
  typeof value === 'number' || typeof value === 'boolean' ? String(value) : value

const asTexts = (argument: unknown): unknown =>
  Array.isArray(argument) ? argument.map(asText) : asText(argument)

/** The function of each conversion. */
export const CONVERT: Readonly<Record<Conversion, (value: unknown) => unknown>> = {
  value: (value) => value,
  number: numberOf,
  paise: paisePart,
  text: asText,
}

const THRESHOLDS: ReadonlySet<string> = new Set(['gt', 'gte', 'lt', 'lte'])

function conversionFor(part: CallPart | EventPart, operator: Operator): Conversion {
  if (operator === 'paise') return 'paise'
  if (THRESHOLDS.has(operator)) return 'number'
  // Their argument is a boolean and does not depend on the type of the value.
  if (operator === 'absent' || operator === 'empty') return 'value'
  // Params, query and headers are always text, so `page: 2` in a file must match "2".
  return TEXT_PARTS.has(part) ? 'text' : 'value'
}

/** Whether a value passes a test. */
export const passes = ({ conversion, accepts }: Test, value: unknown): boolean =>
  accepts(CONVERT[conversion](value))

/** Whether an object is a comparison: all of its keys are operators. */
export const isComparison = (value: object): boolean => {
  const keys = Object.keys(value)
  return keys.length > 0 && keys.every((key) => OPERATOR_WORDS.has(key))
}

/** Compiles one comparison. */
function testOf(
  part: CallPart | EventPart,
  path: readonly string[],
  operator: Operator,
  argument: unknown,
): Test {
  const conversion = conversionFor(part, operator)
  const converted = conversion === 'text' ? asTexts(argument) : argument
  return {
    part,
    path,
    operator,
    argument: converted,
    conversion,
    accepts: MATCHERS[operator](converted),
  }
}

/** Compiles a condition to a flat list of tests. */
export function testsOf(
  part: CallPart | EventPart,
  condition: Condition,
  path: readonly string[] = [],
): Test[] {
  if (typeof condition !== 'object' || condition === null || Array.isArray(condition)) {
    return [testOf(part, path, 'eq', condition)]
  }
  const entries = Object.entries(condition)
  if (isComparison(condition)) {
    return entries.map(([operator, argument]) => testOf(part, path, operator as Operator, argument))
  }
  return entries.flatMap(([field, inner]) => {
    const name = part === 'headers' && path.length === 0 ? field.toLowerCase() : field
    return testsOf(part, inner as Condition, [...path, name])
  })
}

const ownProperty = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined

/** Returns a function that reads the value at a path of a call. It ignores inherited properties, such as `constructor`. */
export function readerOf(
  part: CallPart | EventPart,
  path: readonly string[],
): (call: CallParts) => unknown {
  const [first = '', ...rest] = path
  if (rest.length === 0) return (call) => ownProperty(call[part], first)
  return (call) => {
    let value = ownProperty(call[part], first)
    for (const key of rest) value = ownProperty(value, key)
    return value
  }
}

/** Returns a function that says whether a call passes all these tests. */
export function predicateOf(tests: readonly Test[]): (call: CallParts) => boolean {
  const checks = tests.map((test) => ({ test, read: readerOf(test.part, test.path) }))
  return (call) => checks.every(({ test, read }) => passes(test, read(call)))
}

/** Returns the operations that a `when.operation` matches; all of them if it is missing or `*`. */
export function operationsOf(condition: unknown): readonly OperationId[] {
  if (condition === undefined || condition === '*') return OPERATIONS
  const tests = testsOf('body', condition as Condition)
  return OPERATIONS.filter((operation) => tests.every((test) => passes(test, operation)))
}

/** Returns a function that reads the value of a `key`, such as `body.user_id`. */
export function keyReader(key: string): (call: RuleCall | RuleEvent) => unknown {
  const [part = '', ...path] = key.split('.')
  if (path.length === 0) return (call) => (call as Record<string, unknown>)[part]
  const names = part === 'headers' ? path.map((name) => name.toLowerCase()) : path
  return readerOf(part as CallPart, names) as (call: RuleCall | RuleEvent) => unknown
}
