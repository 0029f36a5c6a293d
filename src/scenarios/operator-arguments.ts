import { RE2JS } from 're2js'
import { numberOf } from './match.ts'
import { shown } from './wording.ts'
import type { Operator } from './words.ts'

const isScalar = (value: unknown) => value === null || typeof value !== 'object'

function wantText(argument: unknown, most: number): string | undefined {
  if (typeof argument !== 'string' || argument === '') return `must be text, not ${shown(argument)}`
  return argument.length > most
    ? `must have at most ${most} characters, has ${argument.length}`
    : undefined
}

// Linear in the input, but by this factor: 500 steps over 4 KiB take some 50 ms at the very worst.
const MAX_PATTERN = 500

function wantPattern(argument: unknown): string | undefined {
  const wrong = wantText(argument, 200)
  if (wrong) return wrong
  try {
    const size = RE2JS.compile(argument as string).programSize()
    return size > MAX_PATTERN ? 'repeats too much; RE2 writes every repeat out' : undefined
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : ''
    return `is no regular expression that RE2 takes (${why.slice(0, 80)}); it has no backreferences and no look-around`
  }
}

const wantNumber = (argument: unknown) =>
  numberOf(argument) === undefined
    ? `must be a number or a decimal text, not ${shown(argument)}`
    : undefined

const wantBoolean = (argument: unknown) =>
  typeof argument === 'boolean' ? undefined : `must be true or false, not ${shown(argument)}`

function wantPaise(argument: unknown) {
  const fits = Number.isInteger(argument) && (argument as number) >= 0 && (argument as number) <= 99
  return fits ? undefined : `must be a whole number from 0 to 99, not ${shown(argument)}`
}

function wantList(argument: unknown): string | undefined {
  if (!Array.isArray(argument)) return `must be a list of values, not ${shown(argument)}`
  if (argument.length === 0) return 'must have at least 1 value; nothing is in an empty list'
  if (argument.length > 1_000) return `must have at most 1000 values, has ${argument.length}`
  return argument.every(isScalar) ? undefined : 'must be a list of plain values'
}

const anything = () => undefined
const wantStart = (argument: unknown) => wantText(argument, 256)

const ARGUMENT: Readonly<Record<Operator, (argument: unknown) => string | undefined>> = {
  eq: anything,
  ne: anything,
  in: wantList,
  gt: wantNumber,
  gte: wantNumber,
  lt: wantNumber,
  lte: wantNumber,
  starts_with: wantStart,
  ends_with: wantStart,
  contains: (argument) => (isScalar(argument) ? undefined : 'must be a plain value'),
  matches: wantPattern,
  empty: wantBoolean,
  absent: wantBoolean,
  paise: wantPaise,
}

/** What is wrong with an operator's argument, as the rest of a sentence; `undefined` where nothing is. */
export const wrongArgument = (operator: Operator, argument: unknown): string | undefined =>
  ARGUMENT[operator](argument)
