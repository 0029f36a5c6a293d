import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import { ClientName } from '../model/client.ts'
import { isObject } from '../model/formats.ts'
import { fieldOf, issuesAt, LIST_KNOWN_KEYS, parseSent } from '../model/validation-errors.ts'
import { loadReader } from '../scenarios/library.ts'
import { withShared } from '../store/document-text.ts'
import { FORMAT } from '../store/errors.ts'
import type { DataDocument, StoredState } from '../store/states.ts'
import { checkRows, type NoteProblem } from './check-rows.ts'
import type { JsonPath } from './json-text.ts'
import { type Known, STATE_ROWS, State, TABLE_NAMES, type TableName, withSecrets } from './state.ts'

/** Checking stops after this many problems. */
export const MAX_COUNTED = 1_000

export type StateProblem = { path: JsonPath; message: string; code: string }

type Tables = Record<TableName, readonly unknown[]>
type Head = Omit<State, 'tables'>
const HEAD = State.omit({ tables: true })

const SECTIONS = z.strictObject({
  format: z.literal(FORMAT),
  clients: z.record(z.string(), z.unknown()),
  snapshots: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
  fixtures: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
  shared: z.record(z.string(), z.array(z.unknown())).optional(),
})

const isTable = (name: string): name is TableName => (TABLE_NAMES as string[]).includes(name)

type Options = {
  /** What a client has that its state lacks, if it has no ids and secrets. */
  known?: ((client: string) => Known) | undefined
  /** Called between rows; returns a promise if other work should run first. */
  rest?: (() => Promise<void> | undefined) | undefined
}

/** Reads states that a person may have written, row by row, and collects the problems. What it returns is valid if there are none. */
export class StateReader {
  readonly problems: StateProblem[] = []
  readonly #rest: () => Promise<void> | undefined
  readonly #seen = new Set<string>()
  /** The lists of rows that several states share, as they are read, and where they are. */
  readonly #shared = new Map<unknown, { path: JsonPath; rows?: readonly unknown[] }>()

  readonly #known: (client: string) => Known

  constructor({ known = () => ({}), rest = () => undefined }: Options = {}) {
    this.#known = known
    this.#rest = rest
  }

  #note(path: JsonPath, message: string, code = 'invalid_value') {
    const key = `${fieldOf(path)} ${message}`
    if (!this.#seen.has(key)) this.problems.push({ path, message, code })
    this.#seen.add(key)
  }

  /** The value as its schema reads it; `undefined` if it is wrong. */
  #parsed<T>(schema: z.ZodType<T>, value: unknown, path: JsonPath): T | undefined {
    const result = parseSent(schema, value, LIST_KNOWN_KEYS)
    if (result.success) return result.data
    for (const issue of issuesAt(result.error, value, path))
      this.#note(issue.path, issue.message, issue.code)
    return undefined
  }

  async document(value: unknown): Promise<DataDocument> {
    const sections = this.#parsed(SECTIONS, value, [])
    if (!sections) return { format: FORMAT, clients: {} }
    for (const [name, rows] of Object.entries(sections.shared ?? {}))
      this.#shared.set(rows, { path: ['shared', name] })
    const { clients, snapshots = {}, fixtures = {} } = withShared(sections) as typeof sections
    for (const name of Object.keys(clients)) this.#parsed(ClientName, name, ['clients', name])
    const read = await this.#states(clients, ['clients'])
    this.#twice(read)
    const saved: Record<string, Record<string, StoredState>> = {}
    for (const [client, states] of Object.entries(snapshots)) {
      if (!(client in clients)) this.#note(['snapshots', client], 'is not one of the clients')
      saved[client] = await this.#states(states, ['snapshots', client], client)
    }
    const bases: Record<string, Record<string, readonly unknown[]>> = {}
    for (const [key, tables] of Object.entries(fixtures))
      bases[key] = { ...(tables as Tables), ...(await this.#listed(tables, ['fixtures', key])) }
    return { format: FORMAT, clients: read, snapshots: saved, fixtures: bases }
  }

  /** States by name: of clients, or of the snapshots of one client. */
  async #states(states: Record<string, unknown>, path: JsonPath, client?: string) {
    const read: Record<string, StoredState> = {}
    for (const [name, value] of Object.entries(states)) {
      const state = await this.state(value, [...path, name], client ?? name)
      if (state) read[name] = state
    }
    return read
  }

  /** Notes what two clients must not have in common. */
  #twice(clients: Record<string, StoredState>) {
    for (const field of ['client_id', 'access_token']) {
      const seen = new Set<unknown>()
      for (const [name, { profile }] of Object.entries(clients)) {
        const value = (profile as Record<string, unknown>)[field]
        if (seen.has(value))
          this.#note(['clients', name, 'profile', field], 'is the same as in an earlier client')
        seen.add(value)
      }
    }
  }

  /** A state as its schema reads it; `undefined` if its fields cannot be read. */
  async state(value: unknown, path: JsonPath, client: string) {
    if (!isObject(value)) {
      this.#note(path, 'must be a state: an object with clock, scenario, profile, tables …')
      return undefined
    }
    const { tables: given, ...fields } = value
    const head = this.#parsed<Head>(HEAD, fields, path)
    if (!isObject(given))
      this.#note([...path, 'tables'], 'must be an object with a list of rows for each table')
    const ofTables = isObject(given) ? given : {}
    for (const name of Object.keys(ofTables))
      if (!isTable(name)) this.#note([...path, 'tables', name], 'is not a table')
    const tables = await this.#listed(ofTables, [...path, 'tables'])
    if (!head) return undefined
    await this.#related(tables, head, path)
    await this.#rules(tables, head, path)
    return withSecrets(client, { ...head, tables } as State, this.#known(client))
  }

  async #listed(tables: Record<string, unknown>, path: JsonPath): Promise<Tables> {
    const listed = {} as Tables
    for (const table of TABLE_NAMES) {
      const rows = tables[table]
      if (!Array.isArray(rows)) {
        this.#note(
          [...path, table],
          'must be a list of rows, or the name of shared rows; without rows it is []',
        )
        listed[table] = []
        continue
      }
      const shared = this.#shared.get(rows)
      listed[table] =
        shared?.rows ?? (await this.#rows(table, rows, shared?.path ?? [...path, table]))
      if (!shared) continue
      shared.rows = listed[table]
      this.#shared.set(listed[table], shared)
    }
    return listed
  }

  async #rows(table: TableName, rows: readonly unknown[], path: JsonPath): Promise<unknown[]> {
    const read: unknown[] = []
    for (const [i, row] of rows.entries()) {
      if (this.problems.length >= MAX_COUNTED) break
      const rest = this.#rest()
      if (rest) await rest
      const parsed = this.#parsed<unknown>(STATE_ROWS[table], row, [...path, i])
      // As it is, if it is right: the next version of the file differs only where it was edited.
      if (parsed !== undefined) read.push(isDeepStrictEqual(parsed, row) ? row : parsed)
      // So that other rows still refer to something.
      else if (isObject(row)) read.push(row)
    }
    return read
  }

  /** Checks what no row has alone. */
  async #related(tables: Tables, { draws }: Head, path: JsonPath) {
    const note: NoteProblem = (table, i, field, message) => {
      const place = this.#shared.get(tables[table])?.path ?? [...path, 'tables', table]
      this.#note(field === '' ? [...place, i] : [...place, i, field], message)
    }
    const rows = tables as Parameters<typeof checkRows>[0]
    for (const _ of checkRows(rows, note)) {
      const rest = this.#rest()
      if (rest) await rest
    }
    for (let i = 1; i < tables.webhook.length; i++)
      note('webhook', i, '', 'is a second webhook; there is only one')
    for (const [i, { seq }] of rows.timers!.entries())
      if (seq > draws)
        note(
          'timers',
          i,
          'seq',
          `is ${seq}; it must not be greater than draws, so raise draws to it`,
        )
  }

  /** Checks the scenario and the rules, which are programs in JSON. */
  async #rules({ rules, timers }: Tables, { scenario }: Head, path: JsonPath) {
    const pushed = (rules as { definition: unknown }[]).map(({ definition: rule }, i) => ({
      rule,
      at: [...path, 'tables', 'rules', i, 'definition'],
    }))
    const timed = (timers as { payload: { do?: { rule?: unknown } } }[]).map(({ payload }, i) => ({
      rule: payload?.do?.rule,
      at: [...path, 'tables', 'timers', i, 'payload', 'do', 'rule'],
    }))
    const all = [...pushed, ...timed.filter(({ rule }) => rule !== undefined)]
    const { name, definition } = scenario
    if (!definition && all.length === 0) return
    const { readDefinition, readRule } = await loadReader()
    const read = definition && readDefinition(definition, { name, file: 'definition' })
    if (read && !read.ok) this.#note([...path, 'scenario', 'definition'], read.problems[0]!.message)
    for (const { rule, at } of all) {
      const read = readRule(rule)
      if (!read.ok) this.#note(at, `${read.problems[0]!.path}: ${read.problems[0]!.message}`)
    }
  }
}
