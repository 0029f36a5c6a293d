import type * as z from 'zod'
import { knownKeysOf, safeParse } from '../model/validation-errors.ts'
import { countOf, didYouMean, oneOf, quoteValue } from '../model/words.ts'
import type { Path } from './yaml.ts'

/** An error in a definition: the path of the key or value, and a message. */
export type SchemaError = { path: Path; of: 'key' | 'value'; message: string }

type Issue = z.core.$ZodIssue
type RawIssue = z.core.$ZodRawIssue

// More would be cut off later, and each is compared with all known keys.
const MAX_KEYS = 50

const KIND: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a mapping (name: value)',
  record: 'a mapping (name: value)',
  array: 'a list',
}

export const describeInput = (input: unknown) => {
  if (input === null) return 'nothing'
  if (Array.isArray(input)) return 'a list'
  if (typeof input === 'object') return 'a mapping'
  return typeof input === 'string'
    ? `the text ${quoteValue(input)}`
    : `the ${typeof input} ${quoteValue(input)}`
}

function typeMessage(issue: RawIssue & { code: 'invalid_type' }): string {
  if (issue.input === undefined) return 'is missing'
  const wanted = KIND[issue.expected] ?? issue.expected
  const scalar = ['number', 'boolean'].includes(typeof issue.input)
  const hint = issue.expected === 'string' && scalar ? '; put it in quotes' : ''
  return `must be ${wanted}, not ${describeInput(issue.input)}${hint}`
}

function sizeMessage(issue: RawIssue & { code: 'too_big' | 'too_small' }): string {
  const limit = issue.code === 'too_big' ? issue.maximum : issue.minimum
  const side =
    issue.code === 'too_big' ? 'at most' : issue.inclusive === false ? 'more than' : 'at least'
  if (issue.origin === 'string') return `must have ${side} ${countOf(limit, 'character')}`
  if (issue.origin === 'array') return `must have ${side} ${countOf(limit, 'item')}`
  return `must be ${side} ${limit}, not ${quoteValue(issue.input)}`
}

function enumMessage(issue: RawIssue & { code: 'invalid_value' }): string {
  if (issue.input === undefined) return 'is missing'
  const known = issue.values.map(String)
  const near = typeof issue.input === 'string' ? didYouMean(issue.input, known) : ''
  const value =
    typeof issue.input === 'string' ? quoteValue(issue.input) : describeInput(issue.input)
  return known.length > 8 && near
    ? `has the unknown value ${value}${near}`
    : `must be ${oneOf(known)}, not ${value}${near}`
}

/** Returns the message for an issue without a message of its own. For unknown keys it returns the known ones, for `schemaErrorsOf`. */
function explain(issue: RawIssue): string | undefined {
  if (issue.code === 'invalid_type') return typeMessage(issue as never)
  if (issue.code === 'too_big' || issue.code === 'too_small') return sizeMessage(issue as never)
  if (issue.code === 'invalid_value') return enumMessage(issue as never)
  if (issue.code === 'unrecognized_keys') return knownKeysOf(issue.inst).join(' ')
  if (issue.code === 'invalid_format') return `has an invalid format: ${quoteValue(issue.input)}`
  return undefined
}

/** Returns the issues of the branch of a union that was probably meant: the one that matched deepest. */
function likeliestBranch(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  const depth = (issues: readonly Issue[]) => {
    const isWrongType = issues.some(
      ({ path, code }) => path.length === 0 && code !== 'unrecognized_keys',
    )
    return isWrongType ? 0 : 1
  }
  return [...branches].sort((a, b) => depth(b) - depth(a) || a.length - b.length)[0] ?? []
}

const name = (path: Path): string => {
  const last = path.at(-1)
  if (last === undefined) return 'a scenario file'
  return typeof last === 'number' ? `entry ${last + 1}` : `\`${String(last)}\``
}

function unknownKeys(issue: Issue & { code: 'unrecognized_keys' }, path: Path): SchemaError[] {
  const known = issue.message.split(' ')
  return issue.keys.slice(0, MAX_KEYS).map((key) => {
    const near = didYouMean(key, known)
    const message = `unknown key ${quoteValue(key)}${near || `; known keys: ${known.join(', ')}`}`
    return { path: [...path, key], of: 'key', message }
  })
}

/** Converts the issues of a parse with `explain` to errors, one for each mistake. */
function schemaErrorsOf(issues: readonly Issue[], under: Path = []): SchemaError[] {
  return issues.flatMap((issue): SchemaError[] => {
    const path = [...under, ...issue.path]
    if (issue.code === 'unrecognized_keys') return unknownKeys(issue, path)
    if (issue.code === 'invalid_union' && issue.message === 'Invalid input')
      return schemaErrorsOf(likeliestBranch(issue.errors), path)
    if (issue.code === 'invalid_key') {
      const inner = issue.issues[0]
      return [{ path, of: 'key', message: inner?.message ?? `${name(path)} is not allowed here` }]
    }
    // The message of a check of several fields is a whole sentence.
    if (issue.code === 'custom' && issue.params?.['of'])
      return [{ path, of: issue.params['of'], message: issue.message }]
    return [{ path, of: 'value', message: `${name(path)} ${issue.message}` }]
  })
}

/** Parses a value; `under` is the path of the value in the errors, `parse` says what null is. */
export function parseWith<T>(
  schema: z.ZodType<T>,
  value: unknown,
  under: Path = [],
  parse: typeof safeParse<T> = safeParse,
): { ok: true; data: T } | { ok: false; errors: SchemaError[] } {
  const result = parse(schema, value, { error: explain, reportInput: true })
  if (result.success) return { ok: true, data: result.data }
  return { ok: false, errors: schemaErrorsOf(result.error.issues, under) }
}

export function errorsOf(schema: z.ZodType, value: unknown, path: Path): readonly SchemaError[] {
  const result = parseWith(schema, value, path)
  return result.ok ? [] : result.errors
}
