import { RE2JS } from 're2js'
import { numberOf } from './match.ts'
import { quoteValue } from './wording.ts'
import type { Operator } from './words.ts'

const isScalar = (value: unknown) => value === null || typeof value !== 'object'

function checkText(argument: unknown, max: number): string | undefined {
  if (typeof argument !== 'string' || argument === '')
    return `must be a non-empty text, not ${quoteValue(argument)}`
  return argument.length > max
    ? `must have at most ${max} characters, not ${argument.length}`
    : undefined
}

// Matching time grows with pattern size times input length: size 500 on 4 KiB takes about 50 ms in the worst case.
const MAX_PATTERN_SIZE = 500

function checkPattern(argument: unknown): string | undefined {
  const wrong = checkText(argument, 200)
  if (wrong) return wrong
  try {
    const size = RE2JS.compile(argument as string).programSize()
    return size > MAX_PATTERN_SIZE
      ? `is too large: RE2 expands it to ${size} instructions, and the maximum is ${MAX_PATTERN_SIZE}; use fewer or smaller repeats`
      : undefined
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : ''
    return `is not a valid RE2 regular expression (${why.slice(0, 80)}); RE2 has no backreferences and no look-around`
  }
}

const checkNumber = (argument: unknown) =>
  numberOf(argument) === undefined
    ? `must be a number or a decimal text, not ${quoteValue(argument)}`
    : undefined

const checkBoolean = (argument: unknown) =>
  typeof argument === 'boolean' ? undefined : `must be true or false, not ${quoteValue(argument)}`

function checkPaise(argument: unknown) {
  const fits = Number.isInteger(argument) && (argument as number) >= 0 && (argument as number) <= 99
  return fits ? undefined : `must be a whole number from 0 to 99, not ${quoteValue(argument)}`
}

function checkList(argument: unknown): string | undefined {
  if (!Array.isArray(argument)) return `must be a list of values, not ${quoteValue(argument)}`
  if (argument.length === 0) return 'must have at least 1 value; an empty list matches nothing'
  if (argument.length > 1_000) return `must have at most 1000 values, not ${argument.length}`
  return argument.every(isScalar)
    ? undefined
    : 'must be a list of text, numbers, true, false or null'
}

const acceptAnything = () => undefined
const checkAffix = (argument: unknown) => checkText(argument, 256)

const ARGUMENT: Readonly<Record<Operator, (argument: unknown) => string | undefined>> = {
  eq: acceptAnything,
  ne: acceptAnything,
  in: checkList,
  gt: checkNumber,
  gte: checkNumber,
  lt: checkNumber,
  lte: checkNumber,
  starts_with: checkAffix,
  ends_with: checkAffix,
  contains: (argument) =>
    isScalar(argument) ? undefined : 'must be text, a number, true, false or null',
  matches: checkPattern,
  empty: checkBoolean,
  absent: checkBoolean,
  paise: checkPaise,
}

/** Returns what is wrong with an operator's argument, as the end of a sentence; `undefined` if it is valid. */
export const argumentError = (operator: Operator, argument: unknown): string | undefined =>
  ARGUMENT[operator](argument)
