import { isDeepStrictEqual } from 'node:util'
import { RE2JS } from 're2js'
import { paiseOf } from '../model/payment.ts'
import type { Path } from './yaml.ts'

/** How a value is converted before it is tested: not at all, to a number, to its paise, or to text. */
export type Conversion = 'value' | 'number' | 'paise' | 'text'

type Matcher = (read: unknown) => boolean

export type OperatorSpec = {
  description: string
  /** What it takes: any JSON value, one plain value, a list of plain values, ... Their limits are in `condition-schema`. */
  argument: string
  /** The conversion of the value; if it is missing, the part of the call decides. */
  conversion?: Conversion
  /** Returns the test for an argument; called once, when the file is compiled. */
  matcher: (argument: never) => Matcher
}

// Patterns search only the start of a string: a longer one would take too long.
const MAX_SEARCHED = 512
const DECIMAL = /^-?\d{1,15}(?:\.\d{1,6})?$/

/** Returns the value of a number or of a decimal text; `undefined` for everything else. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  return typeof value === 'string' && DECIMAL.test(value) ? Number(value) : undefined
}

/** Whether two values are equal: deeply equal, or a number and a decimal text of the same value (`100` and `"100.00"`). */
export function isEqual(value: unknown, wanted: unknown): boolean {
  if (typeof value === typeof wanted)
    return value === wanted || (typeof value === 'object' && isDeepStrictEqual(value, wanted))
  const number = numberOf(wanted)
  return number !== undefined && number === numberOf(value)
}

function isEmpty(value: unknown): boolean {
  if (value === '' || value === null) return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

function equals(wanted: unknown): Matcher {
  if (typeof wanted !== 'string') return (value) => value !== undefined && isEqual(value, wanted)
  return (value) => value === wanted || (typeof value === 'number' && isEqual(value, wanted))
}

function matchesAny(wanted: readonly unknown[]): Matcher {
  const texts = new Set(wanted.filter((one) => typeof one === 'string'))
  const others = wanted.filter((one) => typeof one !== 'string')
  return (value) => {
    if (value === undefined) return false
    if (typeof value === 'string')
      return texts.has(value) || others.some((one) => isEqual(value, one))
    return wanted.some((one) => isEqual(value, one))
  }
}

/** An operator on numbers. Another value converts to undefined, and every comparison with undefined is false. */
const bound = (description: string, passes: (value: number, limit: number) => boolean) =>
  ({
    description,
    argument: 'threshold',
    conversion: 'number',
    matcher(argument: unknown): Matcher {
      const limit = numberOf(argument)!
      return (read) => passes(read as number, limit)
    },
  }) as const

const affix = (description: string, passes: (value: string, part: string) => boolean) =>
  ({
    description,
    argument: 'affix',
    matcher:
      (part: string): Matcher =>
      (value) =>
        typeof value === 'string' && passes(value, part),
  }) as const

function matchesPattern(argument: string): Matcher {
  const pattern = RE2JS.compile(argument)
  // The end of what is searched is not the end of the text.
  const needsEnd = /(?<!\\)\$|\\z/.test(argument)
  return (value) =>
    typeof value === 'string' &&
    !(needsEnd && value.length > MAX_SEARCHED) &&
    pattern.test(value.slice(0, MAX_SEARCHED))
}

/** The operators of conditions. An object whose keys are all operators is a comparison. */
export const OPERATORS = {
  eq: { description: 'Equal to this.', argument: 'any', matcher: equals },
  ne: {
    description: 'Not equal to this, or absent.',
    argument: 'any',
    matcher: (wanted) => (value) => value === undefined || !isEqual(value, wanted),
  },
  in: { description: 'Equal to one of these.', argument: 'list', matcher: matchesAny },
  gt: bound('Greater than this; for numbers and decimal text.', (value, limit) => value > limit),
  gte: bound('Greater than or equal to this.', (value, limit) => value >= limit),
  lt: bound('Less than this.', (value, limit) => value < limit),
  lte: bound('Less than or equal to this.', (value, limit) => value <= limit),
  starts_with: affix('Text that starts with this.', (value, part) => value.startsWith(part)),
  ends_with: affix('Text that ends with this.', (value, part) => value.endsWith(part)),
  contains: {
    description: 'Text that contains this, or a list with this entry.',
    argument: 'scalar',
    matcher: (wanted) => (value) =>
      Array.isArray(value)
        ? value.some((one) => isEqual(one, wanted))
        : typeof value === 'string' && value.includes(String(wanted)),
  },
  matches: {
    description: 'Text in which this regular expression (RE2) finds a match.',
    argument: 'pattern',
    matcher: matchesPattern,
  },
  empty: {
    description:
      'true: the value is "", null, [] or {}. false: it is another value. A missing field never matches.',
    argument: 'boolean',
    conversion: 'value',
    matcher: (wanted) => (value) => value !== undefined && isEmpty(value) === wanted,
  },
  absent: {
    description: 'true: absent. false: present.',
    argument: 'boolean',
    conversion: 'value',
    matcher: (wanted) => (value) => (value === undefined) === wanted,
  },
  paise: {
    description: 'An amount with these paise, such as 91 for 250.91.',
    argument: 'paise',
    conversion: 'paise',
    matcher: (wanted) => (read) => read === wanted,
  },
} as const satisfies Record<string, OperatorSpec>
export type Operator = keyof typeof OPERATORS
export type ArgumentKind = (typeof OPERATORS)[Operator]['argument']

export const OPERATOR_NAMES = Object.keys(OPERATORS) as readonly Operator[]

export const isOperator = (key: string): key is Operator => Object.hasOwn(OPERATORS, key)

export const isComparison = (value: object): boolean => {
  const keys = Object.keys(value)
  return keys.length > 0 && keys.every(isOperator)
}

function paisePart(value: unknown): number | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined
  const paise = paiseOf(value)
  return paise === undefined ? undefined : paise % 100
}

/** Returns a number or a boolean as text, and any other value unchanged. */
export const asText = (value: unknown): unknown =>
  typeof value === 'number' || typeof value === 'boolean' ? String(value) : value

export const CONVERT: Readonly<Record<Conversion, (value: unknown) => unknown>> = {
  value: (value) => value,
  // A number that JavaScript would round is text in the log.
  number: (value) =>
    numberOf(value) ??
    (typeof value === 'string' && /^-?(?=[\d.]{16})\d+(?:\.\d+)?$/.test(value)
      ? Number(value)
      : undefined),
  paise: paisePart,
  text: asText,
}

/** The maximum number of patterns that one call is tested with, and in one body. */
export const MAX_PATTERNS = 20

export function patternsIn(condition: unknown, path: Path = []): Path[] {
  if (typeof condition !== 'object' || condition === null || Array.isArray(condition)) return []
  return Object.entries(condition).flatMap(([key, inner]) => {
    if (key === 'matches') return [[...path, key]]
    return isOperator(key) ? [] : patternsIn(inner, [...path, key])
  })
}

/** The number of patterns anywhere in a value: matches, rules or scenarios that are not checked yet. */
export function patternCount(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return Object.entries(value).reduce(
    (sum, [key, inner]) =>
      sum + (key === 'matches' && typeof inner === 'string' ? 1 : patternCount(inner)),
    0,
  )
}
