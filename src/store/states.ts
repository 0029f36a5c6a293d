import { FORMAT } from './errors.ts'
import { type Content, contentOf, rowsOf } from './table.ts'
import type { WorldAbout } from './unit-of-work.ts'
import type { BaseRows, Images, Snapshot, Worlds } from './worlds.ts'

// The document: {"format": 6, "clients": {NAME: STATE}, "snapshots": {CLIENT: {NAME: STATE}}}, one row a line. Tables
// that several clients or snapshots share are listed once, as "shared", and a state has their name.

/** The rows of a table, or the name of its shared rows. */
export type StoredTable = readonly unknown[] | string
export type StoredTables = Readonly<Record<string, StoredTable>>
export type StoredState = { readonly tables: StoredTables; readonly [field: string]: unknown }

/** The document as JSON. */
export type DocumentContent = {
  format: number
  clients: Readonly<Record<string, StoredState>>
  snapshots?: Readonly<Record<string, Readonly<Record<string, StoredState>>>>
  /** The fixtures of clients that have their own, by key. */
  fixtures?: Readonly<Record<string, StoredTables>>
  shared?: Readonly<Record<string, readonly unknown[]>>
}

/** What a state says besides its tables. */
export type StateHead<Rows> = {
  about: WorldAbout
  base: string
  counter: number
  /** The rows of the tables that a state does not list. */
  rows: BaseRows<Rows>
}

/** How a state is written. */
export type StateShape<Rows> = {
  /** The tables that a state lists, row by row. */
  tables: readonly (keyof Rows & string)[]
  /** The client whose tables are never shared. */
  whole?: string
  /** The other fields of a state. */
  headOf(state: Snapshot<Rows>, about: WorldAbout): object
  /** The opposite of `headOf`, for the client with this name. */
  read(fields: StoredState, client: string): StateHead<Rows>
}

// ---- writing

/** The JSON text of rows, one a line. */
export function* rowsText(rows: Iterable<unknown>): Generator<string> {
  let between = '[\n'
  for (const row of rows) {
    yield between + JSON.stringify(row)
    between = ',\n'
  }
  yield between === '[\n' ? '[]' : '\n]'
}

/** The members of an object, whose values are JSON texts already. */
type Members = readonly (readonly [name: string, text: Iterable<string>])[]

/** The JSON text of an object, one member a line. */
function* objectText(members: Members, after = ''): Generator<string> {
  let between = '{\n'
  for (const [name, value] of members) {
    yield `${between}${JSON.stringify(name)}:`
    yield* value
    between = ',\n'
  }
  yield (between === '{\n' ? '{}' : '\n}') + after
}

/** The JSON text of a state: its fields, then its tables. */
export function stateText(head: object, tables: Members): Iterable<string> {
  const fields = Object.entries(head)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, [JSON.stringify(value)]] as const)
  return objectText([...fields, ['tables', objectText(tables)]])
}

/** The rows of a table when it is written, one a line. */
function* contentText(content: Content<unknown>): Generator<string> {
  yield* rowsText(rowsOf(content))
}

/** The names of the contents that several states have. */
function namesOf<Rows>(all: readonly Images<Rows>[], tables: readonly (keyof Rows & string)[]) {
  const names = new Map<Content<unknown>, string>()
  const seen = new Set<Content<unknown>>()
  for (const images of all)
    for (const table of tables) {
      const content = images[table] as Content<unknown>
      if (seen.has(content) && !names.has(content)) names.set(content, `${table}-${names.size + 1}`)
      if (content.rows.size > 0) seen.add(content)
    }
  return names
}

/** The text of a document with the present states, in pieces. They do not change while it is read. */
export function documentText<Rows>(
  worlds: Worlds<Rows>,
  { tables, whole, headOf }: StateShape<Rows>,
): Iterable<string> {
  const clients = Array.from(worlds.byName.values(), (world) => {
    const { name, about, snapshots } = world
    return { name, about, state: world.now(), snapshots: [...snapshots] }
  })
  const own = new Set(clients.map(({ about }) => about.base))
  const bases = [...worlds.bases.values()].filter(({ key }) => own.has(key))
  const shared = namesOf(
    [
      ...clients.filter(({ name }) => name !== whole).map(({ state }) => state.images),
      ...clients.flatMap(({ snapshots }) => snapshots.map(([, { images }]) => images)),
      ...bases.map(({ images }) => images),
    ],
    tables,
  )
  const tableText = (content: Content<unknown>, isWhole: boolean) => {
    const name = isWhole ? undefined : shared.get(content)
    return name === undefined ? contentText(content) : [JSON.stringify(name)]
  }
  const tablesOf = (images: Images<Rows>, names = tables, isWhole = false): Members =>
    names.map((table) => [table, tableText(images[table] as Content<unknown>, isWhole)])
  const textOf = (state: Snapshot<Rows>, about: WorldAbout, isWhole = false) =>
    stateText(headOf(state, about), tablesOf(state.images, tables, isWhole))
  const sections: Record<string, Members> = {
    clients: clients.map(({ name, about, state }) => [name, textOf(state, about, name === whole)]),
    snapshots: clients
      .filter(({ snapshots }) => snapshots.length > 0)
      .map(({ name, snapshots }) => [
        name,
        objectText(snapshots.map(([label, state]) => [label, textOf(state, {})])),
      ]),
    fixtures: bases.map(({ key, images }) => [key, objectText(tablesOf(images, worlds.names))]),
    shared: Array.from(shared, ([content, name]) => [name, contentText(content)]),
  }
  const used = Object.entries(sections).filter(([name, { length }]) => name === 'clients' || length)
  return objectText(
    [['format', [`${FORMAT}`]], ...used.map(([name, of]) => [name, objectText(of)] as const)],
    '\n',
  )
}

// ---- reading

/** Restores the worlds of a document, which is valid. */
export function readStates<Rows>(
  { clients, snapshots = {}, fixtures = {}, shared = {} }: DocumentContent,
  worlds: Worlds<Rows>,
  shape: StateShape<Rows>,
) {
  const contents = new Map<string, Content<unknown>>()
  function contentAt(table: keyof Rows & string, rows: StoredTable = []): Content<unknown> {
    const spec = worlds.specs[table] as never
    if (typeof rows !== 'string') return contentOf(spec, rows as Iterable<unknown>)
    const known = contents.get(rows) ?? contentOf(spec, shared[rows] ?? [])
    contents.set(rows, known)
    return known
  }
  const imagesOf = (tables: StoredTables) =>
    worlds.perTable((table) =>
      contentAt(table as keyof Rows & string, tables[table]),
    ) as Images<Rows>
  const stateOf = (state: StoredState, client: string) => {
    const { about, base, counter, rows } = shape.read(state, client)
    const images = imagesOf({ ...state.tables, ...(rows as StoredTables) })
    return { about, state: { base, images, counter } }
  }
  for (const [key, tables] of Object.entries(fixtures))
    worlds.bases.set(key, { key, images: imagesOf(tables) })
  for (const [name, stored] of Object.entries(clients)) {
    const { about, state } = stateOf(stored, name)
    worlds.restore(name, about, state)
  }
  for (const [client, states] of Object.entries(snapshots)) {
    const world = worlds.byName.get(client)
    for (const [name, stored] of Object.entries(states)) {
      const { state } = stateOf(stored, client)
      world?.setSnapshot(name, state)
    }
  }
}
