import { FORMAT } from './errors.ts'
import { type Content, contentOf, rowsOf } from './table.ts'
import type { WorldAbout } from './unit-of-work.ts'
import type { BaseRows, Images, Snapshot, Worlds } from './worlds.ts'

/** The rows of each table. Tables with the same content are the same list. */
export type StoredTables = Readonly<Record<string, readonly unknown[]>>
export type StoredState = { readonly tables: StoredTables; readonly [field: string]: unknown }

/** What db.json says: the state of each client, and its snapshots. */
export type DataDocument = {
  format: number
  clients: Readonly<Record<string, StoredState>>
  snapshots?: Readonly<Record<string, Readonly<Record<string, StoredState>>>>
  /** The fixtures of clients that have their own, by key. */
  fixtures?: Readonly<Record<string, StoredTables>>
}

export type StateShape<Rows> = {
  tables: readonly (keyof Rows & string)[]
  /** The other fields of a state. */
  headOf(state: Snapshot<Rows>, about: WorldAbout): object
  /** The opposite of `headOf`, for the client with this name; `rows`: of the tables that a state does not list. */
  read(
    state: StoredState,
    client: string,
  ): { about: WorldAbout; base: string; counter: number; rows: BaseRows<Rows> }
}

/** The document with the present states. The rows never change, so it can be written while the worlds do. */
export function documentOf<Rows>(
  worlds: Worlds<Rows>,
  { tables, headOf }: StateShape<Rows>,
): DataDocument {
  const lists = new Map<unknown, readonly unknown[]>()
  const listOf = (content: Content<unknown>) => {
    const list = lists.get(content) ?? rowsOf(content)
    lists.set(content, list)
    return list
  }
  const tablesOf = (images: Images<Rows>, names = tables): StoredTables =>
    Object.fromEntries(names.map((name) => [name, listOf(images[name] as Content<unknown>)]))
  const stateOf = (state: Snapshot<Rows>, about: WorldAbout): StoredState => ({
    ...headOf(state, about),
    tables: tablesOf(state.images),
  })
  const all = [...worlds.byName.values()]
  const own = new Set(all.map(({ about }) => about.base))
  const saved = all.filter(({ snapshots }) => snapshots.size > 0)
  const bases = [...worlds.bases.values()].filter(({ key }) => own.has(key))
  return {
    format: FORMAT,
    clients: Object.fromEntries(
      all.map((world) => [world.name, stateOf(world.now(), world.about)]),
    ),
    ...(saved.length > 0 && {
      snapshots: Object.fromEntries(
        saved.map(({ name, snapshots }) => [
          name,
          Object.fromEntries(Array.from(snapshots, ([label, one]) => [label, stateOf(one, {})])),
        ]),
      ),
    }),
    ...(bases.length > 0 && {
      fixtures: Object.fromEntries(
        bases.map(({ key, images }) => [key, tablesOf(images, worlds.names)]),
      ),
    }),
  }
}

export function readStates<Rows>(
  { clients, snapshots = {}, fixtures = {} }: DataDocument,
  worlds: Worlds<Rows>,
  shape: StateShape<Rows>,
) {
  const contents = new Map<unknown, Content<unknown>>()
  const imagesOf = (tables: StoredTables) =>
    worlds.perTable((table) => {
      const rows = tables[table] ?? []
      const content = contents.get(rows) ?? contentOf(worlds.specs[table] as never, rows)
      contents.set(rows, content)
      return content
    }) as Images<Rows>
  const stateOf = (state: StoredState, client: string) => {
    const { about, base, counter, rows } = shape.read(state, client)
    const images = imagesOf({ ...state.tables, ...(rows as StoredTables) })
    return [about, { base, images, counter }] as const
  }
  for (const [key, tables] of Object.entries(fixtures))
    worlds.bases.set(key, { key, images: imagesOf(tables) })
  for (const [name, stored] of Object.entries(clients))
    worlds.restore(name, ...stateOf(stored, name))
  for (const [client, states] of Object.entries(snapshots))
    for (const [name, stored] of Object.entries(states))
      worlds.byName.get(client)?.setSnapshot(name, stateOf(stored, client)[1])
}
