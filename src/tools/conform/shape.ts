import * as z from 'zod'
import { contractOf } from '../../model/client.ts'
import { PanResult } from '../../model/kyc.ts'
import { expectedAt, fieldOf, valueAt } from '../../model/validation-errors.ts'
import type { Source } from './findings.ts'
import type { Row } from './lists.ts'

const MAX_ROWS = 1_000
const MAX_DEPTH = 16

/** Truncates long lists and deep objects, which no response of the service has, so that a check stays cheap. */
function truncate(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth === MAX_DEPTH) return null
  if (Array.isArray(value)) return value.slice(0, MAX_ROWS).map((one) => truncate(one, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, truncate(inner, depth + 1)]),
  )
}

function unwrap(schema: z.ZodType): z.ZodType {
  const isWrapped = schema instanceof z.ZodNullable || schema instanceof z.ZodOptional
  return isWrapped ? unwrap(schema.unwrap() as z.ZodType) : schema
}

function childSchema(schema: z.ZodType, key: PropertyKey): z.ZodType | undefined {
  const within = unwrap(schema)
  if (within instanceof z.ZodArray) return within.element as z.ZodType
  if (within instanceof z.ZodObject) return within.shape[String(key)] as z.ZodType | undefined
  return undefined
}

/** Whether a deviation at a path is only from a default of the sandbox: the contract accepts the value there or above it. */
function isAllowedByContract(
  schema: z.ZodType,
  path: readonly PropertyKey[],
  body: unknown,
): boolean {
  let at: z.ZodType | undefined = schema
  for (let depth = 0; at && depth <= path.length; depth++) {
    const contractSchema = contractOf(at) ?? contractOf(unwrap(at))
    if (contractSchema?.safeParse(valueAt(body, path.slice(0, depth))).success) return true
    const part = path[depth]
    at = part === undefined ? undefined : childSchema(at, part)
  }
  return false
}

/** `data.users[3].email` becomes `data.users[].email`, so that a deviation of every row is one finding. */
const withoutIndexes = (field: string) => field.replaceAll(/\[\d+\]/g, '[]')

/** Checks a value strictly; `at` is its path. `isSandboxDefault`: the whole schema is a default of the sandbox, such as that of errors. */
export function checkShape(
  source: Source,
  schema: z.ZodType,
  value: unknown,
  {
    at = [],
    isSandboxDefault = false,
  }: { at?: readonly PropertyKey[]; isSandboxDefault?: boolean } = {},
): void {
  const body = truncate(value)
  for (const issue of schema.safeParse(body).error?.issues ?? []) {
    const isAllowed = isSandboxDefault || isAllowedByContract(schema, issue.path, body)
    const add = isAllowed ? source.note : source.differs
    const field = withoutIndexes(fieldOf([...at, ...issue.path]))
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) {
        const name = source.formatKey(key)
        add(field ? `${field}.${name}` : name, 'no such field', 'an extra field')
      }
      continue
    }
    const found = valueAt(body, issue.path)
    const name = String(issue.path.findLast((part) => typeof part === 'string') ?? '')
    add(field || 'body', expectedAt(issue, body), source.formatValue(found, name))
  }
}

/** The first field, or the first word of a text field, that a schema does not list; `undefined` if there is none. */
export function findUnlisted(schema: z.ZodType, value: unknown): string | undefined {
  const body = truncate(value)
  for (const issue of schema.safeParse(body).error?.issues ?? []) {
    if (issue.code === 'unrecognized_keys') return issue.keys[0]
    const found = valueAt(body, issue.path)
    if (issue.code === 'invalid_value' && typeof found === 'string') return found
  }
  return undefined
}

/** Calls `visit` with the field and the length of each list of a value, except lists whose elements have no schema. */
export function visitLists(
  schema: z.ZodType,
  value: unknown,
  visit: (field: string, length: number) => void,
  field = '',
): void {
  const within = unwrap(schema)
  if (within instanceof z.ZodArray && Array.isArray(value) && !contractOf(within)) {
    visit(`${field}[]`, value.length)
    for (const row of value.slice(0, MAX_ROWS))
      visitLists(within.element as z.ZodType, row, visit, `${field}[]`)
  }
  if (within instanceof z.ZodObject)
    for (const [key, part] of Object.entries(within.shape))
      visitLists(
        part as z.ZodType,
        valueAt(value, [key]),
        visit,
        field === '' ? key : `${field}.${key}`,
      )
}

/** Checks the rules of the contract that a schema cannot express. `field` is the path of the record. */
type RecordCheck = (source: Source, record: Row, field: string) => void

/** Interface 2.4: a pending payment has no UTR, and the account belongs to the receiver. */
export const checkTransaction: RecordCheck = (source, record, field) => {
  const { utr, transaction_status, benif_bank_id, to_user_id, benif_bank } = record
  if (transaction_status === 'pending' && typeof utr === 'string')
    source.differs(`${field}.utr`, 'null while pending', 'a string')
  const check = (name: string, values: Row) =>
    checkFields(source, `the ${name} of the transaction`, [at, benif_bank], values)
  const at = `${field}.benif_bank`
  check('benif_bank_id', { bank_id: benif_bank_id })
  check('to_user_id', { user_id: to_user_id })
}

/** Interface 2.5: only a completed payment has a UTR. */
export const checkHistory: RecordCheck = (source, { status, utr }, field) => {
  if ((status === 'PENDING' || status === 'PROCESSING') && typeof utr === 'string')
    source.differs(`${field}.utr`, 'null before completion', 'a string')
}

/** Interface 2.2: a record that the system verified has a result, and the result of a PAN has these fields. */
export const checkKyc: RecordCheck = (source, record, field) => {
  const { verified_by, document_type, metadata } = record
  if (verified_by === 'system' && metadata === null)
    source.differs(`${field}.metadata`, 'the result of the system', 'null')
  const path = ['response', 'data', 'result']
  const result = valueAt(metadata, path)
  // A live service may have none while its source is down.
  if (document_type !== 'tid' || result === null || result === undefined) return
  checkShape(source, PanResult, result, { at: [`${field}.metadata`, ...path] })
}

/** Checks that fields of a record have the requested or sent values; `expected` describes these. */
export function checkFields(
  source: Source,
  expected: string,
  [field, record]: readonly [field: string, record: unknown],
  values: Row,
  { isSandboxDefault = false } = {},
): void {
  const add = isSandboxDefault ? source.note : source.differs
  for (const [name, value] of Object.entries(values)) {
    const found = valueAt(record, [name])
    // The check of the schema reports a wrong type.
    if (found !== value && typeof found === typeof value)
      add(`${field}.${name}`, expected, source.formatValue(found, name))
  }
}
