import { isObject } from '../model/formats.ts'
import type { DataDocument, StoredState, StoredTables } from './states.ts'

// A document has one row a line. What several states share is written once, under `shared`, and a state has its name.

/** The client whose rows are always listed: a person looks for them there. */
const WHOLE = 'default'

type Pieces = Iterable<string>

/** The JSON text of rows, one a line. */
function* rowsText(rows: Iterable<unknown>): Generator<string> {
  let between = '[\n'
  for (const row of rows) {
    yield between + JSON.stringify(row)
    between = ',\n'
  }
  yield between === '[\n' ? '[]' : '\n]'
}

/** The JSON text of an object whose values are JSON texts, one member a line. */
function* objectText<T>(
  members: Readonly<Record<string, T>>,
  textOf: (value: T) => Pieces,
): Generator<string> {
  let between = '{\n'
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue
    yield `${between}${JSON.stringify(name)}:`
    yield* textOf(value)
    between = ',\n'
  }
  yield between === '{\n' ? '{}' : '\n}'
}

/** The JSON text of a state in pieces, one row a line. */
export const stateText = (
  { tables, ...head }: StoredState,
  textOf: (rows: readonly unknown[]) => Pieces = rowsText,
): Pieces =>
  objectText<unknown>({ ...head, tables }, (value) =>
    value === tables ? objectText(tables, textOf) : [JSON.stringify(value)],
  )

/** The names of the lists that several states have. */
function sharedIn({ clients, snapshots = {}, fixtures = {} }: DataDocument) {
  const { [WHOLE]: _, ...others } = clients
  const states = [others, ...Object.values(snapshots)].flatMap((of) => Object.values(of))
  const names = new Map<readonly unknown[], string>()
  const seen = new Set<readonly unknown[]>()
  for (const tables of [...states.map((one) => one.tables), ...Object.values(fixtures)])
    for (const [table, rows] of Object.entries(tables)) {
      if (seen.has(rows) && !names.has(rows)) names.set(rows, `${table}-${names.size + 1}`)
      if (rows.length > 0) seen.add(rows)
    }
  return names
}

/** The text of a document in pieces. */
export function* documentText(document: DataDocument): Generator<string> {
  const { clients, snapshots = {} } = document
  const names = sharedIn(document)
  const tableText = (rows: readonly unknown[]) => {
    const name = names.get(rows)
    return name === undefined ? rowsText(rows) : [JSON.stringify(name)]
  }
  const textOf = (state: StoredState) => stateText(state, tableText)
  const clientText = (state: StoredState) =>
    state === clients[WHOLE] ? stateText(state) : textOf(state)
  const statesText = (states: Readonly<Record<string, StoredState>>) => objectText(states, textOf)
  const sections: Record<string, () => Pieces> = {
    format: () => [`${document.format}`],
    clients: () => objectText(clients, clientText),
    snapshots: () => objectText(snapshots, statesText),
    fixtures: () =>
      objectText(document.fixtures ?? {}, (of: StoredTables) => objectText(of, tableText)),
    shared: () =>
      objectText(Object.fromEntries(Array.from(names, ([rows, name]) => [name, rows])), rowsText),
  }
  const isWritten = (name: string) => name in document || (name === 'shared' && names.size > 0)
  yield* objectText(
    Object.fromEntries(Object.entries(sections).filter(([name]) => isWritten(name))),
    (text) => text(),
  )
  yield '\n'
}

const mapped = (value: unknown, map: (one: unknown) => unknown) =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, map(one)]))
    : value

/** A document with the lists that the names of shared rows mean; what else is wrong in it stays. */
export function withShared({ shared, ...document }: Record<string, unknown>) {
  const lists = new Map(Object.entries(isObject(shared) ? shared : {}))
  const tablesOf = (tables: unknown) =>
    mapped(tables, (rows) => (typeof rows === 'string' ? (lists.get(rows) ?? rows) : rows))
  const stateOf = (state: unknown) =>
    isObject(state) ? { ...state, tables: tablesOf(state['tables']) } : state
  const { clients, snapshots, fixtures, ...rest } = document
  return {
    ...rest,
    clients: mapped(clients, stateOf),
    ...(snapshots !== undefined && { snapshots: mapped(snapshots, (of) => mapped(of, stateOf)) }),
    ...(fixtures !== undefined && { fixtures: mapped(fixtures, tablesOf) }),
  }
}
