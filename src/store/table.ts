/** The sort key of a table: a number in all its rows, or an ISO text of the same form in all its rows. */
export type Moment = number | string

/** A stored row with its position in the order. Rows are replaced, never mutated. */
export type Entry<R> = {
  readonly id: string
  readonly row: R
  /** Order of insertion; breaks ties of `at`. */
  readonly seq: number
  readonly at: Moment
}

/** How a table finds its rows: `at` is the sort key, which never changes for a row; an index maps a row to a key, if it has one. */
export type TableSpec<R> = {
  id: (row: R) => string
  at: (row: R) => Moment
  indexes: Readonly<Record<string, (row: R) => string | undefined>>
}

/** The ids of one key, oldest first. Another content copies a list before its first change. */
type KeyList = { owner: object; ids: string[] }

/** The rows of a table by id, and their ids by index and key. Never changed once it is shared. */
export type Content<R> = {
  rows: Map<string, Entry<R>>
  indexes: Record<string, Map<string, KeyList>>
  /** The highest number of an entry so far. */
  seq: number
  isShared: boolean
}

export const isBefore = (a: Omit<Entry<unknown>, 'row'>, b: Omit<Entry<unknown>, 'row'>) =>
  a.at === b.at ? a.seq < b.seq : a.at < b.at

const emptyContent = <R>({ indexes }: TableSpec<R>): Content<R> => ({
  rows: new Map(),
  indexes: Object.fromEntries(Object.keys(indexes).map((name) => [name, new Map()])),
  seq: 0,
  isShared: false,
})

const copyOf = <R>(content: Content<R>): Content<R> => ({
  rows: new Map(content.rows),
  indexes: Object.fromEntries(
    Object.entries(content.indexes).map(([name, keys]) => [name, new Map(keys)]),
  ),
  seq: content.seq,
  isShared: false,
})

/** Every row in insertion order. */
export const rowsOf = <R>({ rows }: Content<R>): R[] =>
  [...rows.values()].sort((a, b) => a.seq - b.seq).map(({ row }) => row)

export function contentOf<R>(spec: TableSpec<R>, rows: Iterable<R>): Content<R> {
  const table = new Table(spec)
  for (const row of rows) table.put(row)
  return table.snapshot()
}

/** A table: rows by id, and sorted lists of ids by index and key. Its content can be shared; the next change copies it. */
export class Table<R> {
  readonly #spec: TableSpec<R>
  readonly #indexes: readonly [name: string, keyOf: (row: R) => string | undefined][]
  #content: Content<R>

  constructor(spec: TableSpec<R>, content: Content<R> = emptyContent(spec)) {
    this.#spec = spec
    this.#indexes = Object.entries(spec.indexes)
    this.#content = content
  }

  // ---- reading

  get size(): number {
    return this.#content.rows.size
  }

  entry(id: string): Entry<R> | undefined {
    return this.#content.rows.get(id)
  }

  get(id: string): R | undefined {
    return this.entry(id)?.row
  }

  #ids(index: string, key: string): readonly string[] {
    return this.#content.indexes[index]!.get(key)?.ids ?? []
  }

  /** The rows of one key, newest first, from `offset` on. */
  page(index: string, key: string, offset: number, limit: number): Entry<R>[] {
    const ids = this.#ids(index, key)
    const end = Math.max(0, ids.length - offset)
    const page = ids.slice(Math.max(0, end - limit), end).reverse()
    return page.map((id) => this.entry(id)!)
  }

  newest(index: string, key: string): Entry<R> | undefined {
    return this.page(index, key, 0, 1)[0]
  }

  /** Of the rows of one key, the one that was inserted first. */
  first(index: string, key: string): Entry<R> | undefined {
    const entries = this.#ids(index, key).map((id) => this.entry(id)!)
    return entries.sort((a, b) => a.seq - b.seq)[0]
  }

  count(index: string, key: string): number {
    return this.#ids(index, key).length
  }

  /** Every row in insertion order. */
  rows(): R[] {
    return rowsOf(this.#content)
  }

  // ---- changing

  /** Adds a row or replaces the one with its id, which keeps its place in the order; returns the rollback. */
  put(row: R): () => void {
    const id = this.#spec.id(row)
    const old = this.entry(id)
    const [seq, at] = old ? [old.seq, old.at] : [this.#content.seq + 1, this.#spec.at(row)]
    this.#set(id, { id, row, seq, at })
    return () => this.#set(id, old)
  }

  /** Removes a row; returns the rollback, or `undefined` if there is no such row. */
  delete(id: string): (() => void) | undefined {
    const old = this.entry(id)
    if (!old) return undefined
    this.#set(id, undefined)
    return () => this.#set(id, old)
  }

  #set(id: string, next: Entry<R> | undefined) {
    if (this.#content.isShared) this.#content = copyOf(this.#content)
    const content = this.#content
    const old = content.rows.get(id)
    // The lists find the place of an id by its entry, and an entry keeps its place.
    if (next) content.rows.set(id, next)
    for (const [name, keyOf] of this.#indexes) {
      const before = old && keyOf(old.row)
      const after = next && keyOf(next.row)
      if (before === after) continue
      if (before !== undefined) removeId(content, name, before, old!)
      if (after !== undefined) addId(content, name, after, next!)
    }
    if (next) content.seq = Math.max(content.seq, next.seq)
    else content.rows.delete(id)
  }

  // ---- sharing

  /** The present content, to be shared: it never changes. */
  snapshot(): Content<R> {
    this.#content.isShared = true
    return this.#content
  }

  restore(content: Content<R>): () => void {
    const before = this.#content
    this.#content = content
    return () => {
      this.#content = before
    }
  }
}

/** The list of a key, which this content may change. */
function ownList<R>(content: Content<R>, index: string, key: string): string[] {
  const keys = content.indexes[index]!
  const list = keys.get(key)
  if (list?.owner === content) return list.ids
  const ids = list ? list.ids.slice() : []
  keys.set(key, { owner: content, ids })
  return ids
}

function addId<R>(content: Content<R>, index: string, key: string, entry: Entry<R>) {
  const ids = ownList(content, index, key)
  ids.splice(placeOf(content, ids, entry), 0, entry.id)
}

function removeId<R>(content: Content<R>, index: string, key: string, entry: Entry<R>) {
  const ids = ownList(content, index, key)
  // Timers end in their order.
  ids.splice(ids[0] === entry.id ? 0 : placeOf(content, ids, entry), 1)
  if (ids.length === 0) content.indexes[index]!.delete(key)
}

/** The place of an entry in a sorted list of ids: mostly its end. */
function placeOf<R>({ rows }: Content<R>, ids: readonly string[], entry: Entry<R>): number {
  const last = ids.at(-1)
  if (last === undefined || isBefore(rows.get(last)!, entry)) return ids.length
  let low = 0
  let high = ids.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(rows.get(ids[middle]!)!, entry)) low = middle + 1
    else high = middle
  }
  return low
}

/** A row that differs between two contents; `undefined` if it does not exist in one of them. */
export type RowDifference<R> = { id: string; before: R | undefined; after: R | undefined }

/** Returns the rows that differ between two contents, in insertion order. */
export function differences<R>(before: Content<R>, after: Content<R>): RowDifference<R>[] {
  if (before === after) return []
  const found: (RowDifference<R> & { seq: number })[] = []
  for (const id of new Set([...before.rows.keys(), ...after.rows.keys()])) {
    const [a, b] = [before.rows.get(id), after.rows.get(id)]
    if (a?.row === b?.row || JSON.stringify(a?.row) === JSON.stringify(b?.row)) continue
    found.push({ id, before: a?.row, after: b?.row, seq: (b ?? a)!.seq })
  }
  found.sort((a, b) => a.seq - b.seq)
  return found.map(({ seq: _, ...difference }) => difference)
}
