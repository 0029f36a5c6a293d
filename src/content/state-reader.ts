import type * as z from 'zod'
import type { FieldError } from '../model/errors.ts'
import { isObject } from '../model/formats.ts'
import {
  fieldErrors,
  LIST_KNOWN_KEYS,
  MAX_ERRORS,
  safeParse,
  validationFailed,
} from '../model/validation-errors.ts'

type Tables = Record<string, unknown>

// The reader stops after this many errors.
const MAX_COUNTED_ERRORS = 1_000

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

type DataFile = { clients: Record<string, unknown>; shared?: unknown }

/** Whether a document is a whole data file, or is meant to be one. */
export const isDataFile = (value: unknown): value is DataFile =>
  isObject(value) && isObject(value['clients'])

/** The state of the first of these clients that a data file has, with the rows that it shares with others. */
function stateIn({ clients, shared }: DataFile, names: readonly string[]): object {
  const name = names.find((one) => Object.hasOwn(clients, one))
  const state = name === undefined ? undefined : clients[name]
  if (!isObject(state)) {
    const message = `must have a state of ${[...new Set(names)].join(' or ')}`
    throw validationFailed([{ field: 'clients', code: 'required', message }])
  }
  if (!isObject(state['tables'])) return state
  const rowsOf = (rows: unknown) =>
    typeof rows === 'string' && isObject(shared) ? (shared[rows] ?? rows) : rows
  const tables = Object.entries(state['tables']).map(([table, rows]) => [table, rowsOf(rows)])
  return { ...state, tables: Object.fromEntries(tables) }
}

/**
 * Checks a state document row by row; `rows` has the schema of each table. Of a whole data file the state of the first
 * of these clients that it has is read. Throws `validation_failed` with the first hundred errors. The caller can pause at each `yield`.
 */
export function* readState<T>(
  sent: unknown,
  document: z.ZodType<T>,
  rows: Readonly<Record<string, z.ZodType>>,
  clients: readonly string[] = [],
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
  let value = isDataFile(sent) ? stateIn(sent, clients) : sent
  if (isObject(value) && isObject(value['tables']))
    value = { ...value, tables: yield* mapTables(value['tables'], takes) }
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
