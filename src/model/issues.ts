import type * as z from 'zod'
import type { FieldError } from './errors.ts'
import { echoed, isSecretName, maskLogText } from './mask.ts'

/** Fields whose value no message repeats, not even masked by its form, as those with the name of a secret. */
const HIDDEN_FIELDS = new Set(['document_number', 'account_number', 'ifsc_code'])
/** Numbers that are nobody's, however long. */
const OPEN_NUMBERS = new Set(['factor', 'timeoutMs'])
const LONGEST_SHOWN = 40

/** `kyc[0].dateOfBirth` for the path of an issue. */
export const fieldOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (field, part) =>
      typeof part === 'number'
        ? `${field}[${part}]`
        : field
          ? `${field}.${echoed(String(part))}`
          : echoed(String(part)),
    '',
  )

/** What stands at a path; `undefined` where nothing does. */
export const valueAt = (data: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, part) => (value as Record<PropertyKey, unknown> | null | undefined)?.[part],
    data,
  )

/** A value as a message may show it: its kind, and its masked beginning where that helps and gives nothing away. */
function shown(value: unknown, path: readonly PropertyKey[]): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return `a list of ${value.length}`
  const name = String(path.at(-1))
  const isHidden = HIDDEN_FIELDS.has(name) || isSecretName(name)
  if (typeof value === 'string') {
    if (isHidden) return `a text of ${value.length} characters`
    // Masked before it is cut, so that no number is cut into one that looks harmless.
    const start = maskLogText(value.slice(0, 4 * LONGEST_SHOWN)).slice(0, LONGEST_SHOWN)
    return JSON.stringify(start + (value.length > LONGEST_SHOWN ? '…' : ''))
  }
  if (typeof value === 'number' && isHidden) return 'a number'
  if (typeof value === 'number' && OPEN_NUMBERS.has(name)) return String(value)
  if (typeof value === 'number' || typeof value === 'boolean') return maskLogText(String(value))
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

const EXPECTED_FORMAT: Readonly<Record<string, string>> = {
  guid: 'must be a UUID',
  email: 'must be an e-mail address',
  datetime: 'must be an ISO 8601 instant',
}

const KIND: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

type Issue = z.core.$ZodIssue

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
      // A schema may say more of what it wants than its kind.
      return issue.message.startsWith('Invalid input')
        ? `must be ${KIND[issue.expected] ?? issue.expected}`
        : issue.message
    case 'invalid_format':
      return EXPECTED_FORMAT[issue.format] ?? issue.message
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`
    case 'too_small':
      return `must ${sizeOf(issue.origin)} ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}${unitOf(issue.origin, issue.minimum)}`
    case 'too_big':
      return `must ${sizeOf(issue.origin)} at most ${issue.maximum}${unitOf(issue.origin, issue.maximum)}`
    default:
      return issue.message
  }
}
const sizeOf = (origin: string) => (origin === 'string' || origin === 'array' ? 'have' : 'be')
const UNIT: Readonly<Record<string, string>> = { string: ' character', array: ' item' }
const unitOf = (origin: string, count: number | bigint) =>
  UNIT[origin] ? `${UNIT[origin]}${Number(count) === 1 ? '' : 's'}` : ''

/** What is wanted at the place of an issue, as a sentence's end. */
export function wantedAt(issue: Issue, data: unknown): string {
  return expectationOf(issue, codeOf(issue, valueAt(data, issue.path)))
}

/** What zod found at one place, in our words. */
export function told(issue: Issue, data: unknown): Omit<FieldError, 'field'> {
  const value = valueAt(data, issue.path)
  const code = codeOf(issue, value)
  const expectation = expectationOf(issue, code)
  const message =
    code === 'required' ? expectation : `${expectation}; found ${shown(value, issue.path)}`
  return { code, message }
}

// A large body may be wrong in every row.
const MOST_ERRORS = 100

/** What zod found, as fields of an error answer. */
export function fieldErrors(error: z.core.$ZodError, data: unknown): FieldError[] {
  return error.issues.slice(0, MOST_ERRORS).flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys')
      return [{ field: fieldOf(issue.path) || 'body', ...told(issue, data) }]
    return issue.keys.slice(0, MOST_ERRORS).map((key) => ({
      field: fieldOf([...issue.path, key]),
      code: issue.code,
      message: 'is not known here',
    }))
  })
}
