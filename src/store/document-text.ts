import { isObject } from '../model/formats.ts'
import type { DataDocument, StoredState } from './states.ts'

// A document has one row a line. What several states share is written once, under `shared`, and a state has its name.

/** The client whose rows are always listed: a person looks for them there. */
const WHOLE = 'default'

type TextOf = (value: unknown, name?: string) => Iterable<string>

/** The JSON text of an object, one member a line. */
function* objectText(members: unknown, textOf: TextOf): Generator<string> {
  let between = '{\n'
  for (const [name, value] of Object.entries(members as object)) {
    if (value === undefined) continue
    yield `${between}${JSON.stringify(name)}:`
    yield* textOf(value, name)
    between = ',\n'
  }
  yield between === '{\n' ? '{}' : '\n}'
}

/** The JSON text of rows, one a line, or of their name. */
function* rowsText(rows: unknown): Generator<string> {
  if (!Array.isArray(rows)) return yield JSON.stringify(rows)
  let between = '[\n'
  for (const row of rows) {
    yield between + JSON.stringify(row)
    between = ',\n'
  }
  yield between === '[\n' ? '[]' : '\n]'
}

const each =
  (textOf: TextOf): TextOf =>
  (members) =>
    objectText(members, (value) => textOf(value))

/** The JSON text of a state in pieces, one row a line. */
export function stateText(state: unknown): Iterable<string> {
  const { tables, ...head } = state as StoredState
  return objectText({ ...head, tables }, (value) =>
    value === tables ? objectText(tables, rowsText) : [JSON.stringify(value)],
  )
}

const SECTIONS: Readonly<Record<string, TextOf>> = {
  clients: each(stateText),
  snapshots: each(each(stateText)),
  fixtures: each(each(rowsText)),
  shared: each(rowsText),
}

const mapped = (value: unknown, map: (one: unknown, name: string) => unknown) =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, map(one, name)]))
    : value

/** A document with other lists of rows; what is wrong in it stays. `client`: of its present state. */
function mapLists(
  { clients, snapshots, fixtures, ...rest }: Readonly<Record<string, unknown>>,
  map: (rows: unknown, table: string, client?: string) => unknown,
) {
  const tablesOf = (tables: unknown, client?: string) =>
    mapped(tables, (rows, table) => map(rows, table, client))
  const stateOf = (state: unknown, client?: string) =>
    isObject(state) ? { ...state, tables: tablesOf(state['tables'], client) } : state
  return {
    ...rest,
    clients: mapped(clients, stateOf),
    ...(snapshots !== undefined && {
      snapshots: mapped(snapshots, (of) => mapped(of, (state) => stateOf(state))),
    }),
    ...(fixtures !== undefined && { fixtures: mapped(fixtures, (tables) => tablesOf(tables)) }),
  }
}

export function* documentText(document: DataDocument): Generator<string> {
  const names = new Map<unknown, string>()
  const seen = new Set<unknown>()
  mapLists(document, (rows, table, client) => {
    if (client === WHOLE || (rows as unknown[]).length === 0) return
    if (seen.has(rows) && !names.has(rows)) names.set(rows, `${table}-${names.size + 1}`)
    seen.add(rows)
  })
  const shared = Object.fromEntries(Array.from(names, ([rows, name]) => [name, rows]))
  const named = mapLists(document, (rows, _, client) =>
    client === WHOLE ? rows : (names.get(rows) ?? rows),
  )
  yield* objectText({ ...named, ...(names.size > 0 && { shared }) }, (value, name) => {
    const textOf = SECTIONS[name!]
    return textOf ? textOf(value) : [JSON.stringify(value)]
  })
  yield '\n'
}

/** A document with the lists that the names of shared rows mean; what else is wrong in it stays. */
export function withShared({ shared, ...document }: Readonly<Record<string, unknown>>) {
  const lists = new Map(Object.entries(isObject(shared) ? shared : {}))
  return mapLists(document, (rows) => (typeof rows === 'string' ? (lists.get(rows) ?? rows) : rows))
}
