import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { ClientName } from '../model/client.ts'
import { isObject } from '../model/formats.ts'
import { quoteInput } from '../model/mask.ts'
import {
  describeIssue,
  fieldOf,
  LIST_KNOWN_KEYS,
  safeParse,
  unknownField,
} from '../model/validation-errors.ts'
import { loadReader } from '../scenarios/library.ts'
import { FORMAT } from '../store/errors.ts'
import type { DocumentContent, StoredState, StoredTable } from '../store/states.ts'
import { checkRows, type NoteProblem } from './check-rows.ts'
import type { JsonPath } from './json-text.ts'
import { STORED_ROWS, StoredHead, TABLE_NAMES, type TableName } from './state-document.ts'

/** Checking stops after this many problems. */
export const MAX_COUNTED = 1_000

const SECTIONS = z.strictObject({
  format: z.literal(FORMAT),
  clients: z.record(z.string(), z.unknown()),
  snapshots: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
  fixtures: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
  shared: z.record(z.string(), z.array(z.unknown())).optional(),
})

type Tables = Record<TableName, StoredTable>

type Schemas = { head: z.ZodType; rows: Record<TableName, z.ZodType> }
type CheckOptions = Partial<Schemas> & {
  /** Called between rows; returns a promise if other work should run first. */
  rest?: () => Promise<void> | undefined
}

/** Checks a state or a whole document that a person may have written, row by row. */
export class DocumentCheck {
  readonly problems: { path: JsonPath; message: string; code: string }[] = []
  readonly #seen = new Set<string>()
  readonly #rest: () => Promise<void> | undefined
  readonly #shared: Record<string, unknown[]> = {}
  readonly #schemas: Schemas

  constructor({ rest = () => undefined, head, rows }: CheckOptions = {}) {
    this.#rest = rest
    this.#schemas = { head: head ?? StoredHead, rows: rows ?? STORED_ROWS }
  }

  #note(path: JsonPath, message: string, code = 'invalid_value') {
    const key = `${fieldOf(path)} ${message}`
    if (!this.#seen.has(key)) this.problems.push({ path, message, code })
    this.#seen.add(key)
  }

  /** The value as its schema reads it; `undefined` if it is wrong. */
  #parsed<T>(schema: z.ZodType<T>, value: unknown, path: JsonPath): T | undefined {
    const result = safeParse(schema, value, LIST_KNOWN_KEYS)
    if (result.success) return result.data
    for (const issue of result.error.issues) {
      const at = [...path, ...(issue.path as JsonPath)]
      if (issue.code === 'unrecognized_keys')
        for (const key of issue.keys) this.#note([...at, key], unknownField(key, issue), issue.code)
      else {
        const { message, code } = describeIssue(issue, value)
        this.#note(at, message, code)
      }
    }
    return undefined
  }

  async document(content: unknown): Promise<DocumentContent> {
    const sections = this.#parsed(SECTIONS, content, [])
    if (!sections) return { format: FORMAT, clients: {} }
    const { clients, snapshots = {}, fixtures = {}, shared = {} } = sections
    for (const [name, rows] of Object.entries(shared)) {
      const table = name.replace(/-\d+$/, '')
      if (isTable(table)) this.#shared[name] = await this.#rows(table, rows, ['shared', name])
      else this.#note(['shared', name], 'must be the name of a table and a number')
    }
    const read: Record<string, StoredState> = {}
    for (const [name, state] of Object.entries(clients)) {
      this.#parsed(ClientName, name, ['clients', name])
      const found = await this.state(state, ['clients', name])
      if (found) read[name] = found
    }
    this.#twice(read)
    const saved: Record<string, Record<string, StoredState>> = {}
    for (const [client, states] of Object.entries(snapshots)) {
      if (!(client in clients)) this.#note(['snapshots', client], 'is not one of the clients')
      for (const [name, state] of Object.entries(states)) {
        const found = await this.state(state, ['snapshots', client, name])
        if (found) saved[client] = { ...saved[client], [name]: found }
      }
    }
    const bases: Record<string, Record<string, StoredTable>> = {}
    for (const [key, tables] of Object.entries(fixtures))
      bases[key] = {
        ...(tables as Record<string, StoredTable>),
        ...(await this.#listed(tables, ['fixtures', key])),
      }
    return {
      format: FORMAT,
      clients: read,
      snapshots: saved,
      fixtures: bases,
      shared: this.#shared,
    }
  }

  /** Notes what two clients must not have in common. */
  #twice(clients: Record<string, StoredState>) {
    for (const field of ['client_id', 'access_token']) {
      const seen = new Set<unknown>()
      for (const [name, { profile }] of Object.entries(clients)) {
        const value = isObject(profile) ? profile[field] : undefined
        if (seen.has(value))
          this.#note(['clients', name, 'profile', field], 'is the same as in an earlier client')
        if (value !== undefined) seen.add(value)
      }
    }
  }

  async #rows(table: TableName, rows: readonly unknown[], path: JsonPath): Promise<unknown[]> {
    const read: unknown[] = []
    for (const [i, row] of rows.entries()) {
      if (this.problems.length >= MAX_COUNTED) break
      const rest = this.#rest()
      if (rest) await rest
      const parsed = this.#parsed<unknown>(this.#schemas.rows[table], row, [...path, i])
      // As it is, if it is right: the next version of the file differs only where it was edited.
      if (parsed !== undefined) read.push(isDeepStrictEqual(parsed, row) ? row : parsed)
      // So that other rows still refer to something.
      else if (isObject(row)) read.push(row)
    }
    return read
  }

  /** A state as its schema reads it; `undefined` if it has no fields that can be read. */
  async state(state: unknown, path: JsonPath): Promise<StoredState | undefined> {
    if (!isObject(state)) {
      this.#note(path, 'must be a state: an object with clock, scenario, profile, tables …')
      return undefined
    }
    const { tables, ...fields } = state
    const head = this.#parsed(this.#schemas.head, fields, path) as StoredHead | undefined
    const read = await this.#tables(tables, [...path, 'tables'])
    if (!head) return undefined
    await this.#related(read, head, path)
    await this.#rules(read, head, path)
    return { ...head, tables: read } as unknown as StoredState
  }

  async #tables(tables: unknown, path: JsonPath): Promise<Tables> {
    const given = isObject(tables) ? tables : {}
    if (!isObject(tables)) this.#note(path, 'must be an object with a list of rows for each table')
    for (const name of Object.keys(given))
      if (!isTable(name)) this.#note([...path, name], 'is not a table')
    return this.#listed(given, path)
  }

  async #listed(tables: Record<string, unknown>, path: JsonPath): Promise<Tables> {
    const listed = {} as Tables
    for (const table of TABLE_NAMES)
      listed[table] = await this.#table(table, tables[table], [...path, table])
    return listed
  }

  async #table(table: TableName, rows: unknown, path: JsonPath): Promise<StoredTable> {
    if (Array.isArray(rows)) return this.#rows(table, rows, path)
    if (typeof rows === 'string' && rows.startsWith(`${table}-`) && rows in this.#shared)
      return rows
    this.#note(path, 'must be a list of rows, or the name of shared rows; without rows it is []')
    return []
  }

  /** Checks what no row has alone. */
  async #related(tables: Tables, head: StoredHead, path: JsonPath) {
    const rows = Object.fromEntries(
      TABLE_NAMES.map((table) => [table, this.#rowsOf(tables[table])]),
    ) as Parameters<typeof checkRows>[0]
    const note: NoteProblem = (name, i, field, problem) => {
      const table = name as TableName
      const stored = tables[table]
      const place = typeof stored === 'string' ? ['shared', stored] : [...path, 'tables', table]
      const message =
        problem.kind === 'duplicate'
          ? 'has the same id as an earlier row'
          : problem.kind === 'missing'
            ? `there is no row ${quoteInput(problem.id)} in ${problem.table}; add it, or remove this row`
            : problem.message
      this.#note(field === '' ? [...place, i] : [...place, i, field], message)
    }
    for (const _ of checkRows(rows, note)) {
      const rest = this.#rest()
      if (rest) await rest
    }
    for (let i = 1; i < rows.webhook!.length; i++)
      note('webhook', i, '', {
        kind: 'invalid',
        message: 'is a second webhook; there is only one',
      })
    for (const [i, { seq }] of (rows.timers ?? []).entries())
      if (seq > head.draws)
        note('timers', i, 'seq', {
          kind: 'invalid',
          message: `is ${seq}; it must not be greater than draws, so raise draws to it`,
        })
  }

  #rowsOf(table: StoredTable): readonly unknown[] {
    return typeof table === 'string' ? this.#shared[table]! : table
  }

  /** Checks the scenario and the rules, which are programs in JSON. */
  async #rules(tables: Tables, head: StoredHead, path: JsonPath) {
    const { definition } = head.scenario ?? {}
    const rules = this.#rowsOf(tables.rules) as { definition: unknown }[]
    const timers = this.#rowsOf(tables.timers) as { payload: { do?: { rule?: object } } }[]
    const timed = timers.flatMap(({ payload }, i) => {
      const rule = payload.do?.rule
      return rule ? [{ rule, at: [...path, 'tables', 'timers', i, 'payload', 'do', 'rule'] }] : []
    })
    if (!definition && rules.length + timed.length === 0) return
    const { readDefinition, readRule } = await loadReader()
    if (definition) {
      const read = readDefinition(definition, { name: head.scenario.name, file: 'definition' })
      if (!read.ok) this.#note([...path, 'scenario', 'definition'], read.problems[0]!.message)
    }
    const stored = rules.map(({ definition: rule }, i) => {
      return { rule, at: [...path, 'tables', 'rules', i, 'definition'] }
    })
    for (const { rule, at } of [...stored, ...timed]) {
      const read = readRule(rule)
      if (!read.ok) this.#note(at, `${read.problems[0]!.path}: ${read.problems[0]!.message}`)
    }
  }
}

const isTable = (name: string): name is TableName => (TABLE_NAMES as string[]).includes(name)
