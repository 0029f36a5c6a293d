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
 * One call of the service, as rules see it. Values are as the client sent them, before any default is filled in.
 *
 * A part is read only when a rule asks for it, so `user` and `account` may be getters. Header names are lower-case,
 * as Node gives them. `item` is set where the call is asked about one document of POST /kyc.
 */
export type Call = { readonly operation: OperationId } & { readonly [part in CallPart]?: unknown }

/** One event on its way out: `data` is the resource as its GET shows it, `account` has its numbers unmasked. */
export type EventCall = { readonly event: EventName } & { readonly [part in EventPart]?: unknown }

/** What tests look into. */
export type CallParts = { readonly [part in CallPart | EventPart]?: unknown }

/** What a test looks at: the value itself, the number that it is, its paise, or its text. */
export type Reading = 'value' | 'number' | 'paise' | 'text'

/** One comparison of a `when`: the value at `part` and `path` must hold against `argument`. */
export type Test = {
  part: CallPart | EventPart
  path: readonly string[]
  operator: Operator
  argument: unknown
  /** `accepts` is asked about this reading of the value, made once for all the rules that look at it. */
  reading: Reading
  accepts: (read: unknown) => boolean
}

// Longer texts never match: they would cost more than a rule may.
const MAX_SEARCHED = 4 * 1024
const DECIMAL = /^-?\d{1,15}(?:\.\d{1,6})?$/
const TEXT_PARTS = new Set(['params', 'query', 'headers'])
const OPERATOR_WORDS: ReadonlySet<string> = new Set(OPERATORS)

/** A number, or the number that a decimal text is; `undefined` for all else. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  return typeof value === 'string' && DECIMAL.test(value) ? Number(value) : undefined
}

function sameJson(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every(
    (key) =>
      Object.hasOwn(b, key) &&
      sameJson((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
  )
}

/** Equal: of one type the same, or a number and a decimal text of one value (`100` and `"100.00"`). */
export function isEqual(value: unknown, wanted: unknown): boolean {
  if (typeof value === typeof wanted) return sameJson(value, wanted)
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

function search(argument: unknown) {
  const pattern = RE2JS.compile(argument as string)
  return (value: unknown) =>
    typeof value === 'string' && value.length <= MAX_SEARCHED && pattern.test(value)
}

function among(wanted: unknown) {
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

/** What each operator means; its argument is looked at once, when the file is compiled. */
const MEANING: Readonly<Record<Operator, (argument: unknown) => (read: unknown) => boolean>> = {
  eq: equals,
  ne: (wanted) => (value) => value === undefined || !isEqual(value, wanted),
  in: among,
  // A reading that is no number is undefined, and undefined is on no side of any limit.
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
  matches: search,
  empty: (wanted) => (value) => value !== undefined && isEmpty(value) === wanted,
  absent: (wanted) => (value) => (value === undefined) === wanted,
  paise: (wanted) => (read) => read === wanted,
}

const asText = (value: unknown): unknown =>
  typeof value === 'number' || typeof value === 'boolean' ? String(value) : value

const asTexts = (argument: unknown): unknown =>
  Array.isArray(argument) ? argument.map(asText) : asText(argument)

/** How each reading is made of a value. */
export const READ: Readonly<Record<Reading, (value: unknown) => unknown>> = {
  value: (value) => value,
  number: numberOf,
  paise: paisePart,
  text: asText,
}

const THRESHOLDS: ReadonlySet<string> = new Set(['gt', 'gte', 'lt', 'lte'])

function readingFor(part: CallPart | EventPart, operator: Operator): Reading {
  if (operator === 'paise') return 'paise'
  if (THRESHOLDS.has(operator)) return 'number'
  // Their argument is true or false, whatever the value is.
  if (operator === 'absent' || operator === 'empty') return 'value'
  // Params, query and headers come as text: `page: 2` in a file means "2" there.
  return TEXT_PARTS.has(part) ? 'text' : 'value'
}

/** Whether a test lets a value through. */
export const holds = ({ reading, accepts }: Test, value: unknown): boolean =>
  accepts(READ[reading](value))

/** Whether an object is a comparison: all of its keys are operators. */
export const isComparison = (value: object): boolean => {
  const keys = Object.keys(value)
  return keys.length > 0 && keys.every((key) => OPERATOR_WORDS.has(key))
}

/** One comparison, ready to run. */
function testOf(
  part: CallPart | EventPart,
  path: readonly string[],
  operator: Operator,
  argument: unknown,
): Test {
  const reading = readingFor(part, operator)
  const meant = reading === 'text' ? asTexts(argument) : argument
  return { part, path, operator, argument: meant, reading, accepts: MEANING[operator](meant) }
}

/** The comparisons that a condition asks for, flat. */
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

const own = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined

/** Reads the value at a path of a call; what is inherited (`constructor`) is not there. */
export function readerOf(
  part: CallPart | EventPart,
  path: readonly string[],
): (call: CallParts) => unknown {
  const [first = '', ...rest] = path
  if (rest.length === 0) return (call) => own(call[part], first)
  return (call) => {
    let value = own(call[part], first)
    for (const key of rest) value = own(value, key)
    return value
  }
}

/** Whether all of these hold for a call. */
export function predicateOf(tests: readonly Test[]): (call: CallParts) => boolean {
  const checks = tests.map((test) => ({ test, read: readerOf(test.part, test.path) }))
  return (call) => checks.every(({ test, read }) => holds(test, read(call)))
}

/** The operations that a `when.operation` takes in; all of them without one, or for `*`. */
export function operationsOf(condition: unknown): readonly OperationId[] {
  if (condition === undefined || condition === '*') return OPERATIONS
  const tests = testsOf('body', condition as Condition)
  return OPERATIONS.filter((operation) => tests.every((test) => holds(test, operation)))
}

/** The path of a `key`, split: `body.user_id` -> part `body`, path `['user_id']`. */
export function keyReader(key: string): (call: Call | EventCall) => unknown {
  const [part = '', ...path] = key.split('.')
  if (path.length === 0) return (call) => (call as Record<string, unknown>)[part]
  const names = part === 'headers' ? path.map((name) => name.toLowerCase()) : path
  return readerOf(part as CallPart, names) as (call: Call | EventCall) => unknown
}
