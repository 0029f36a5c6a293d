import type * as z from 'zod'
import { LargeJson } from '../json/large-json.ts'
import type { FieldError } from '../model/errors.ts'
import { safeParse } from '../model/safe-parse.ts'
import {
  fieldErrors,
  LIST_KNOWN_KEYS,
  MAX_ERRORS,
  validationFailed,
} from '../model/validation-errors.ts'

type Tables = Record<string, unknown>

// The reader stops after this many errors.
const MAX_COUNTED_ERRORS = 1_000

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Counts the errors of a document and collects the first ones. */
function createErrorCollector() {
  const errors: FieldError[] = []
  let count = 0
  const validationError = (isMinimum: boolean) =>
    validationFailed(errors.slice(0, MAX_ERRORS), { count, isMinimum })
  return {
    add(error: z.core.$ZodError, data: unknown, at: readonly PropertyKey[] = []) {
      count += error.issues.length
      if (errors.length < MAX_ERRORS) errors.push(...fieldErrors(error, data, at))
      if (count >= MAX_COUNTED_ERRORS) throw validationError(true)
    },
    throwIfAny() {
      if (count > 0) throw validationError(false)
    },
  }
}

/** Returns the tables with each row replaced by the result of its mapper. */
function* mapTables(
  tables: Tables,
  rowMappers: Record<string, (row: unknown, index: number) => unknown>,
): Generator<undefined, Tables> {
  const mapped: Tables = { ...tables }
  for (const [name, mapRow] of Object.entries(rowMappers)) {
    const rows = tables[name]
    if (!Array.isArray(rows)) continue
    const taken: unknown[] = []
    for (const row of rows) {
      taken.push(mapRow(row, taken.length))
      yield
    }
    mapped[name] = taken
  }
  return mapped
}

/**
 * Checks a state document row by row; `rows` has the schema of each table. `sent` is a parsed body, or a large body
 * that is not parsed yet. Throws `validation_failed` with the first hundred errors. The caller can pause at each
 * `yield`.
 */
export function* readState<T>(
  sent: unknown,
  document: z.ZodType<T>,
  rows: Readonly<Record<string, z.ZodType>>,
): Generator<undefined, T> {
  const findings = createErrorCollector()
  const takes = Object.fromEntries(
    Object.entries(rows).map(([name, schema]) => [
      name,
      (row: unknown, index: number) => {
        const { success, data, error } = safeParse(schema, row, LIST_KNOWN_KEYS)
        if (!success) findings.add(error, row, ['tables', name, index])
        return data
      },
    ]),
  )
  let value = sent
  if (sent instanceof LargeJson) value = yield* sent.read({ tables: takes })
  else if (isObject(sent) && isObject(sent['tables']))
    value = { ...sent, tables: yield* mapTables(sent['tables'], takes) }
  // The rows are already checked: now check the rest of the document.
  const tables = isObject(value) && isObject(value['tables']) ? value['tables'] : undefined
  const withoutTableRows = tables ? { ...(value as object), tables: withoutRows(tables) } : value
  const { success, data, error } = safeParse(document, withoutTableRows, LIST_KNOWN_KEYS)
  if (!success) findings.add(error, withoutTableRows)
  findings.throwIfAny()
  return { ...data, tables } as T
}

const withoutRows = (tables: Tables) =>
  Object.fromEntries(
    Object.entries(tables).map(([name, rows]) => [name, Array.isArray(rows) ? [] : rows]),
  )
