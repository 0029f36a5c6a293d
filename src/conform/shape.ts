import * as z from 'zod'
import { contractOf } from '../model/contract.ts'
import { expectedAt, fieldOf, valueAt } from '../model/issues.ts'
import type { Findings, Place } from './findings.ts'

const MAX_ROWS = 1_000
const DEEPEST = 16

/** A value that is small enough to be held: lists and depths that no answer of the service has are cut. */
function bounded(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth === DEEPEST) return null
  if (Array.isArray(value)) return value.slice(0, MAX_ROWS).map((one) => bounded(one, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, bounded(inner, depth + 1)]),
  )
}

/** The schema inside what only says that null or nothing will do too. */
function bare(schema: z.ZodType): z.ZodType {
  const wrapped = schema instanceof z.ZodNullable || schema instanceof z.ZodOptional
  return wrapped ? bare(schema.unwrap() as z.ZodType) : schema
}

/** What stands in a schema at one part of a path. */
function inner(schema: z.ZodType, part: PropertyKey): z.ZodType | undefined {
  const within = bare(schema)
  if (within instanceof z.ZodArray) return within.element as z.ZodType
  if (within instanceof z.ZodObject) return within.shape[String(part)] as z.ZodType | undefined
  return undefined
}

/** Whether what was found at a path is no more than a default of ours: some schema on the way is, and the contract takes the value. */
function isOurs(schema: z.ZodType, path: readonly PropertyKey[], body: unknown): boolean {
  let at: z.ZodType | undefined = schema
  for (let depth = 0; at && depth <= path.length; depth++) {
    const says = contractOf(at) ?? contractOf(bare(at))
    if (says?.safeParse(valueAt(body, path.slice(0, depth))).success) return true
    const part = path[depth]
    at = part === undefined ? undefined : inner(at, part)
  }
  return false
}

/** `data.users[3].email` -> `data.users[].email`: what is so in each row is told once. */
const inAnyRow = (field: string) => field.replaceAll(/\[\d+\]/g, '[]')

/**
 * Holds a value against a schema, strictly. `at` is the path of the value in its answer. With `allOurs` the whole schema
 * is a default of ours, as that of a refusal is.
 */
export function holdShape(
  findings: Findings,
  place: Place,
  schema: z.ZodType,
  value: unknown,
  { at = [], allOurs = false }: { at?: readonly PropertyKey[]; allOurs?: boolean } = {},
): void {
  const body = bounded(value)
  for (const issue of schema.safeParse(body).error?.issues ?? []) {
    const ours = allOurs || isOurs(schema, issue.path, body)
    const tell = ours ? findings.note : findings.differs
    const field = inAnyRow(fieldOf([...at, ...issue.path]))
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) {
        const name = findings.shownKey(key)
        tell(place, field ? `${field}.${name}` : name, 'no such field', 'an extra field')
      }
      continue
    }
    const found = valueAt(body, issue.path)
    const name = String(issue.path.findLast((part) => typeof part === 'string') ?? '')
    tell(place, field || 'body', expectedAt(issue, body), findings.shown(found, name))
  }
}

/** Calls `visit` with each list that a schema has, its field and how long it is in a value; not those of which nothing is known. */
export function visitLists(
  schema: z.ZodType,
  value: unknown,
  visit: (field: string, length: number) => void,
  field = '',
): void {
  const within = bare(schema)
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
