import { FORMAT } from './errors.ts'
import { type Content, contentOf, rowsOf } from './table.ts'
import type { WorldAbout } from './unit-of-work.ts'
import type { Base, Images, Snapshot } from './world-tables.ts'
import type { BaseRows, Worlds } from './worlds.ts'

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

/** A shape that lists every table. */
export const plainShape = <Rows>(tables: readonly (keyof Rows & string)[]): StateShape<Rows> => ({
  tables,
  headOf: ({ base, counter }, about) => ({ draws: counter, fixtures: base, about }),
  read: ({ draws, fixtures, about }) => ({
    about: (about ?? {}) as WorldAbout,
    base: String(fixtures ?? ''),
    counter: Number(draws ?? 0),
    rows: {},
  }),
})

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

/** The JSON text of an object whose values are texts already, one a line. */
function* objectText(members: Iterable<readonly [string, Iterable<string>]>): Generator<string> {
  let between = '{\n'
  for (const [name, value] of members) {
    yield `${between}${JSON.stringify(name)}:`
    yield* value
    between = ',\n'
  }
  yield between === '{\n' ? '{}' : '\n}'
}

/** The JSON text of a state: its fields, then its tables. */
export function stateText(
  head: object,
  tables: Iterable<readonly [string, Iterable<string>]>,
): Iterable<string> {
  const fields = Object.entries(head)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, [JSON.stringify(value)]] as const)
  return objectText([...fields, ['tables', objectText(tables)]])
}

/** The states of all clients and snapshots at one moment, and the fixtures that clients have for themselves. */
type Captured<Rows> = {
  clients: { name: string; about: WorldAbout; state: Snapshot<Rows> }[]
  snapshots: { name: string; states: ReadonlyMap<string, Snapshot<Rows>> }[]
  bases: Base<Rows>[]
}

function captured<Rows>({ byName, bases }: Worlds<Rows>): Captured<Rows> {
  const worlds = [...byName.values()]
  const own = new Set(worlds.map(({ about }) => about.base))
  return {
    clients: worlds.map((world) => ({ name: world.name, about: world.about, state: world.now() })),
    snapshots: worlds
      .filter(({ snapshots }) => snapshots.size > 0)
      .map(({ name, snapshots }) => ({ name, states: new Map(snapshots) })),
    bases: [...bases.values()].filter(({ key }) => own.has(key)),
  }
}

/** The names of the contents that several states have, by content. */
function sharedNames<Rows>(
  { clients, snapshots, bases }: Captured<Rows>,
  tables: readonly (keyof Rows & string)[],
  whole: string | undefined,
): Map<Content<unknown>, string> {
  const users = new Map<Content<unknown>, number>()
  const names = new Map<Content<unknown>, string>()
  const all = [
    ...clients.filter(({ name }) => name !== whole).map(({ state }) => state.images),
    ...snapshots.flatMap(({ states }) => [...states.values()].map(({ images }) => images)),
    ...bases.map(({ images }) => images),
  ]
  for (const images of all)
    for (const table of tables) {
      const content = images[table] as Content<unknown>
      if (content.rows.size === 0) continue
      users.set(content, (users.get(content) ?? 0) + 1)
      if (users.get(content) === 2) names.set(content, `${table}-${names.size + 1}`)
    }
  return names
}

/** The text of a document with the present states, in pieces. They do not change while it is read. */
export function documentText<Rows>(
  worlds: Worlds<Rows>,
  { tables, whole, headOf }: StateShape<Rows>,
): Iterable<string> {
  const all = captured(worlds)
  const names = sharedNames(all, tables, whole)
  const tablesOf = (images: Images<Rows>, list = tables, known = names) =>
    list.map((table) => {
      const name = known.get(images[table] as Content<unknown>)
      const text = name === undefined ? rowsText(rowsOf(images[table])) : [JSON.stringify(name)]
      return [table, text] as const
    })
  const clients = all.clients.map(({ name, about, state }) => {
    const known = name === whole ? new Map<Content<unknown>, string>() : names
    return [name, stateText(headOf(state, about), tablesOf(state.images, tables, known))] as const
  })
  const snapshots = all.snapshots.map(({ name, states }) => {
    const texts = Array.from(states, ([snapshot, state]) => {
      return [snapshot, stateText(headOf(state, {}), tablesOf(state.images))] as const
    })
    return [name, objectText(texts)] as const
  })
  const bases = all.bases.map(({ key, images }) => {
    return [key, objectText(tablesOf(images, worlds.names))] as const
  })
  const shared = Array.from(names, ([content, name]) => [name, rowsText(rowsOf(content))] as const)
  const sections: [string, Iterable<string>][] = [
    ['format', [String(FORMAT)]],
    ['clients', objectText(clients)],
    ...(snapshots.length > 0 ? [['snapshots', objectText(snapshots)] as const] : []),
    ...(bases.length > 0 ? [['fixtures', objectText(bases)] as const] : []),
    ...(shared.length > 0 ? [['shared', objectText(shared)] as const] : []),
  ] as [string, Iterable<string>][]
  return lines(objectText(sections))
}

function* lines(text: Iterable<string>) {
  yield* text
  yield '\n'
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
      world?.change(() => world.setSnapshot(name, state, ['save', name, state.counter]))
    }
  }
}
