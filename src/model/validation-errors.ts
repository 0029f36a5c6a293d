import * as z from 'zod'
import { type FieldError, SandboxError } from './errors.ts'
import { isObject } from './formats.ts'
import { isNumberName, isSecretName, quoteField, quoteInput } from './mask.ts'
import { countOf, didYouMean } from './words.ts'

const MAX_VALUE_LENGTH = 40

/** `kyc[0].dateOfBirth` for the path of an issue. */
export const fieldOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (field, part) =>
      typeof part === 'number'
        ? `${field}[${part}]`
        : field
          ? `${field}.${quoteInput(String(part))}`
          : quoteInput(String(part)),
    '',
  )

export const valueAt = (data: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, part) => (value as Record<PropertyKey, unknown> | null | undefined)?.[part],
    data,
  )

/** Describes an invalid value to its sender: truncated if it is long, hidden if it is a secret. */
function describeValue(value: unknown, path: readonly PropertyKey[]): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return `a list of ${value.length}`
  const name = String(path.findLast((part) => typeof part !== 'number'))
  const isSecret = isSecretName(name)
  if (typeof value === 'string') {
    if (isSecret) return `a string of ${value.length} characters`
    const start = quoteField(value, name, MAX_VALUE_LENGTH)
    return JSON.stringify(start + (value.length > MAX_VALUE_LENGTH ? '…' : ''))
  }
  if (typeof value === 'number') {
    if (isSecret) return 'a number'
    // Its last digits are not those that were sent.
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return 'a number above 2^53'
    return isNumberName(name) ? quoteField(String(value), name) : String(value)
  }
  if (typeof value === 'boolean') return String(value)
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

const EXPECTED_FORMAT: Readonly<Record<string, string>> = {
  guid: 'must be a UUID',
  email: 'must be an e-mail address',
  date: 'must be a real date as YYYY-MM-DD',
  datetime: 'must be an ISO 8601 instant in UTC such as 2026-01-01T00:00:00.000Z',
}

const TYPE_NAME: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

type Issue = z.core.$ZodIssue

export function knownKeysOf(schema: unknown): string[] {
  const { def } = (schema as { _zod: { def: { shape?: object; keyType?: z.core.$ZodType } } })._zod
  return def.shape ? Object.keys(def.shape) : [...(def.keyType?._zod.values ?? [])].map(String)
}

const KNOWN_KEYS = 'known keys: '

/** For `safeParse`: an issue about unknown keys lists the known ones, so that `fieldErrors` can say which was meant. */
export const LIST_KNOWN_KEYS: z.core.ParseContext<Issue> = {
  error: ({ code, inst }) =>
    code === 'unrecognized_keys' ? KNOWN_KEYS + knownKeysOf(inst).join(' ') : undefined,
}

/** The message for an unknown key, with the known key that was probably meant if one is similar. */
export function unknownField(key: string, { message }: Issue): string {
  const list = message.startsWith(KNOWN_KEYS) ? message.slice(KNOWN_KEYS.length) : ''
  return `is an unknown field${didYouMean(key, list === '' ? [] : list.split(' '))}`
}

function codeOf(issue: Issue, value: unknown): string {
  if (value === undefined && issue.code !== 'custom') return 'required'
  if (issue.code === 'custom') return String(issue.params?.['code'] ?? 'invalid_format')
  if (issue.code === 'invalid_union') return 'invalid_type'
  return issue.code
}

function expectationOf(issue: Issue, code: string): string {
  if (code === 'required' && issue.code !== 'custom') return 'is required'
  switch (issue.code) {
    case 'invalid_type':
      // A schema may have a better sentence than zod's own.
      return issue.message.startsWith('Invalid input')
        ? `must be ${TYPE_NAME[issue.expected] ?? issue.expected}`
        : issue.message
    case 'invalid_format':
      return EXPECTED_FORMAT[issue.format] ?? issue.message
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`
    case 'too_small':
      return `must ${sizeOf(issue.origin)} ${issue.inclusive === false ? 'more than' : 'at least'} ${amountOf(issue.origin, issue.minimum)}`
    case 'too_big':
      return `must ${sizeOf(issue.origin)} at most ${amountOf(issue.origin, issue.maximum)}`
    default:
      return issue.message
  }
}
const sizeOf = (origin: string) => (origin === 'string' || origin === 'array' ? 'have' : 'be')
const UNIT: Readonly<Record<string, string>> = { string: 'character', array: 'item' }
const amountOf = (origin: string, count: number | bigint) =>
  UNIT[origin] ? countOf(count, UNIT[origin]) : String(count)

/** The expectation that an issue violates, as the end of a sentence. */
export function expectedAt(issue: Issue, data: unknown): string {
  return expectationOf(issue, codeOf(issue, valueAt(data, issue.path)))
}

export function describeIssue(issue: Issue, data: unknown): Omit<FieldError, 'field'> {
  const value = valueAt(data, issue.path)
  const code = codeOf(issue, value)
  const expectation = expectationOf(issue, code)
  const message =
    code === 'required' ? expectation : `${expectation}; found ${describeValue(value, issue.path)}`
  return { code, message }
}

/** The error for invalid input: the first error in a sentence, and the number of further errors (`isMinimum`: or more). */
export function validationFailed(
  errors: readonly FieldError[],
  { subject = errors[0]!.field, count = errors.length, isMinimum = false } = {},
): SandboxError {
  const others = count - 1
  const number = isMinimum ? `at least ${others}` : others
  const more = others > 0 ? ` (and ${number} more error${others === 1 ? '' : 's'}: see errors)` : ''
  const message = sentence(`${subject} ${errors[0]!.message}${more}`)
  return new SandboxError('validation_failed', message, { errors })
}

const sentence = (text: string) => (text.endsWith('?') ? text : `${text}.`)

// A large body may be wrong in every row.
export const MAX_ERRORS = 100

/** What zod says about a value, each at its path; `at`: the path of the value. */
export function issuesAt(error: z.core.$ZodError, data: unknown, at: readonly PropertyKey[] = []) {
  return error.issues.slice(0, MAX_ERRORS).flatMap((issue) => {
    const path = [...at, ...issue.path] as (string | number)[]
    if (issue.code !== 'unrecognized_keys') return [{ path, ...describeIssue(issue, data) }]
    return issue.keys.slice(0, MAX_ERRORS).map((key) => ({
      path: [...path, key],
      code: issue.code,
      message: unknownField(key, issue),
    }))
  })
}

export const fieldErrors = (...args: Parameters<typeof issuesAt>): FieldError[] =>
  issuesAt(...args).map(({ path, code, message }) => ({
    field: fieldOf(path) || 'body',
    code,
    message,
  }))

const OWN_LENGTH = 'has an object with a field "length" that cannot be compared; remove this field'

/** `schema.safeParse`, but a value whose `length` is an object that has no number, at which zod throws, is an error. */
export function safeParse<T>(
  schema: z.ZodType<T>,
  value: unknown,
  options?: z.core.ParseContext<z.core.$ZodIssue>,
): z.ZodSafeParseResult<T> {
  try {
    return schema.safeParse(value, options)
  } catch (error) {
    if (!(error instanceof TypeError && error.message.includes('primitive value'))) throw error
    const issue = { code: 'custom' as const, path: [], input: undefined, message: OWN_LENGTH }
    return { success: false, error: new z.ZodError([issue]) as z.ZodError<T> }
  }
}

/** The places of a value that are null and that these issues are about, also as an alternative of a union. */
function nullsOf(
  issues: readonly Issue[],
  value: unknown,
  at: readonly PropertyKey[] = [],
): PropertyKey[][] {
  return issues.flatMap((issue) => {
    const path = [...at, ...issue.path]
    const inner =
      issue.code === 'invalid_union' ? issue.errors.flatMap((one) => nullsOf(one, value, path)) : []
    return valueAt(value, path) === null ? [path, ...inner] : inner
  })
}

/** The same for what was sent as JSON: null for an optional field is as if the field were left out, as typed clients mean it. */
export function parseSent<T>(
  ...[schema, value, options]: Parameters<typeof safeParse<T>>
): z.ZodSafeParseResult<T> {
  const result = safeParse(schema, value, options)
  if (result.success) return result
  const nulls = nullsOf(result.error.issues, value)
  if (nulls.length === 0) return result
  const rest = structuredClone(value)
  for (const path of nulls) {
    const holder = valueAt(rest, path.slice(0, -1))
    if (isObject(holder)) delete holder[String(path.at(-1))]
  }
  return safeParse(schema, rest, options)
}
