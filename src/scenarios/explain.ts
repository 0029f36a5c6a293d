import type * as z from 'zod'
import { didYouMean } from '../model/closest-word.ts'
import { oneOf, shown } from './wording.ts'
import type { Path } from './yaml-source.ts'

/** A fault of a definition: at which key or value of it, and a sentence. */
export type SchemaFault = { path: Path; of: 'key' | 'value'; message: string }

type Issue = z.core.$ZodIssue
type RawIssue = z.core.$ZodRawIssue

// More would only be cut off later, and each is held against all known words.
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

const found = (input: unknown) => {
  if (input === null) return 'nothing'
  if (Array.isArray(input)) return 'a list'
  if (typeof input === 'object') return 'a mapping'
  return typeof input === 'string'
    ? `the text ${shown(input)}`
    : `the ${typeof input} ${shown(input)}`
}

function wrongType(issue: RawIssue & { code: 'invalid_type' }): string {
  if (issue.input === undefined) return 'is missing'
  const wanted = KIND[issue.expected] ?? issue.expected
  const scalar = ['number', 'boolean'].includes(typeof issue.input)
  const hint = issue.expected === 'string' && scalar ? '; put it in quotes' : ''
  return `must be ${wanted}, not ${found(issue.input)}${hint}`
}

function wrongSize(issue: RawIssue & { code: 'too_big' | 'too_small' }): string {
  const limit = issue.code === 'too_big' ? issue.maximum : issue.minimum
  const side =
    issue.code === 'too_big' ? 'at most' : issue.inclusive === false ? 'more than' : 'at least'
  if (issue.origin === 'string') return `must have ${side} ${limit} characters`
  if (issue.origin === 'array') return `must have ${side} ${limit} entries`
  return `must be ${side} ${limit}, not ${shown(issue.input)}`
}

function wrongWord(issue: RawIssue & { code: 'invalid_value' }): string {
  if (issue.input === undefined) return 'is missing'
  const known = issue.values.map(String)
  const near = typeof issue.input === 'string' ? didYouMean(issue.input, known) : ''
  const value = typeof issue.input === 'string' ? shown(issue.input) : found(issue.input)
  return known.length > 8 && near
    ? `does not know ${value}${near}`
    : `must be ${oneOf(known)}, not ${value}${near}`
}

/** The keys that a schema of an object, or of a record of named keys, takes. */
function knownTo(schema: unknown): string[] {
  const { def } = (schema as { _zod: { def: { shape?: object; keyType?: z.core.$ZodType } } })._zod
  return def.shape ? Object.keys(def.shape) : [...(def.keyType?._zod.values ?? [])].map(String)
}

/** The sentence for an issue that its schema has none for. Unknown keys are told by `faultsOf`; here, what is known. */
export function explain(issue: RawIssue): string | undefined {
  if (issue.code === 'invalid_type') return wrongType(issue as never)
  if (issue.code === 'too_big' || issue.code === 'too_small') return wrongSize(issue as never)
  if (issue.code === 'invalid_value') return wrongWord(issue as never)
  if (issue.code === 'unrecognized_keys') {
    return knownTo(issue.inst).join(' ')
  }
  if (issue.code === 'invalid_format')
    return `has a form that is not taken here: ${shown(issue.input)}`
  return undefined
}

/** Of the branches of a union, the issues of the one that was probably meant: it got furthest into the value. */
function likeliest(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  const depth = (issues: readonly Issue[]) => {
    const outright = issues.some(
      ({ path, code }) => path.length === 0 && code !== 'unrecognized_keys',
    )
    return outright ? 0 : 1
  }
  return [...branches].sort((a, b) => depth(b) - depth(a) || a.length - b.length)[0] ?? []
}

const name = (path: Path): string => {
  const last = path.at(-1)
  if (last === undefined) return 'a scenario file'
  return typeof last === 'number' ? `entry ${last + 1}` : `\`${String(last)}\``
}

function unknownKeys(issue: Issue & { code: 'unrecognized_keys' }, path: Path): SchemaFault[] {
  const known = issue.message.split(' ')
  return issue.keys.slice(0, MAX_KEYS).map((key) => {
    const near = didYouMean(key, known)
    const message = `unknown word ${shown(key)}${near || `; known here: ${known.join(', ')}`}`
    return { path: [...path, key], of: 'key', message }
  })
}

/** What the issues of a parse with `explain` say, one fault for each thing that is wrong. */
export function faultsOf(issues: readonly Issue[], under: Path = []): SchemaFault[] {
  return issues.flatMap((issue): SchemaFault[] => {
    const path = [...under, ...issue.path]
    if (issue.code === 'unrecognized_keys') return unknownKeys(issue, path)
    if (issue.code === 'invalid_union' && issue.message === 'Invalid input') {
      return faultsOf(likeliest(issue.errors), path)
    }
    if (issue.code === 'invalid_key') {
      const inner = issue.issues[0]
      return [{ path, of: 'key', message: inner?.message ?? `${name(path)} is not taken here` }]
    }
    return [{ path, of: 'value', message: `${name(path)} ${issue.message}` }]
  })
}
