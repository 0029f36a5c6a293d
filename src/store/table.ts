/** The sort key of a table: a number in all its rows, or an ISO text of the same form in all its rows. */
export type Moment = number | string

/** A stored row with its position in the order and its memoized JSON texts. Rows are replaced, never mutated. */
export type Entry<R> = {
  readonly id: string
  readonly row: R
  /** Order of insertion; breaks ties of `at`. */
  readonly seq: number
  readonly at: Moment
  /** Memoized JSON text of the row's one or two views (see `memoizedText`). */
  text: string | undefined
  otherText: string | undefined
}

export type KeyOf<R> = (row: R) => string | undefined

/**
 * How a table finds its rows: `at` is the sort key, which never changes for a row; each index maps a row to its key,
 * if it has one.
 */
export type TableSpec<R> = {
  id: (row: R) => string
  at: (row: R) => Moment
  indexes: Readonly<Record<string, KeyOf<R>>>
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
  /** Whether a rollback has put a row behind a newer one. */
  isDisordered: boolean
}

type Position = { readonly at: Moment; readonly seq: number }

/** Whether an entry is older than another one of the same table. */
export const isBefore = (a: Position, b: Position): boolean =>
  a.at === b.at ? a.seq < b.seq : a.at < b.at

const emptyContent = <R>({ indexes }: TableSpec<R>): Content<R> => ({
  rows: new Map(),
  indexes: Object.fromEntries(Object.keys(indexes).map((name) => [name, new Map()])),
  seq: 0,
  isShared: false,
  isDisordered: false,
})

const copyOf = <R>(content: Content<R>): Content<R> => ({
  ...content,
  rows: new Map(content.rows),
  indexes: Object.fromEntries(
    Object.entries(content.indexes).map(([name, keys]) => [name, new Map(keys)]),
  ),
  isShared: false,
})

function inOrder<R>(content: Content<R>): Content<R>['rows'] {
  if (content.isDisordered) {
    content.rows = new Map([...content.rows].sort(([, a], [, b]) => a.seq - b.seq))
    content.isDisordered = false
  }
  return content.rows
}

/** Every row in insertion order. */
export function* rowsOf<R>(content: Content<R>): Generator<R> {
  for (const { row } of inOrder(content).values()) yield row
}

/** Builds a content from rows, oldest first. */
export function contentOf<R>(spec: TableSpec<R>, rows: Iterable<R>): Content<R> {
  const table = new Table(spec)
  for (const row of rows) table.put(row)
  return table.image()
}

/**
 * A table: rows by id, and indexes whose keys have sorted lists of ids. Forks, snapshots and resets share its content;
 * the first change after that copies it.
 */
export class Table<R> {
  readonly #spec: TableSpec<R>
  #content: Content<R>

  constructor(spec: TableSpec<R>, content: Content<R> = emptyContent(spec)) {
    this.#spec = spec
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

  /** The newest row of one key. */
  newest(index: string, key: string): Entry<R> | undefined {
    return this.page(index, key, 0, 1)[0]
  }

  /** Of the rows of one key, the one that was inserted first. */
  first(index: string, key: string): Entry<R> | undefined {
    const entries = this.#ids(index, key).map((id) => this.entry(id)!)
    return entries.reduce<Entry<R> | undefined>(
      (first, one) => (first && first.seq < one.seq ? first : one),
      undefined,
    )
  }

  /** The number of rows of one key. */
  count(index: string, key: string): number {
    return this.#ids(index, key).length
  }

  /** Every row in insertion order. */
  rows(): Generator<R> {
    return rowsOf(this.#content)
  }

  // ---- changing

  /** Adds a row or replaces the one with its id, which keeps its place in the order. */
  put(row: R): Entry<R> {
    return this.set(row, this.entry(this.#spec.id(row)))
  }

  /** `put` for a caller that has already looked up the old entry. */
  set(row: R, old: Entry<R> | undefined): Entry<R> {
    const entry = {
      id: this.#spec.id(row),
      row,
      seq: old ? old.seq : this.#content.seq + 1,
      at: old ? old.at : this.#spec.at(row),
      text: undefined,
      otherText: undefined,
    }
    this.#replace(entry.id, old, entry)
    return entry
  }

  /** Sets or removes an entry without changing its position, and returns the previous one. Rollbacks use it too. */
  place(id: string, entry: Entry<R> | undefined): Entry<R> | undefined {
    const previous = this.entry(id)
    this.#replace(id, previous, entry)
    return previous
  }

  #replace(id: string, previous: Entry<R> | undefined, entry: Entry<R> | undefined) {
    if (this.#content.isShared) this.#content = copyOf(this.#content)
    const content = this.#content
    const { indexes } = this.#spec
    // A row that was inserted again has another position under the same key.
    const isMoved = previous?.seq !== entry?.seq
    // Remove keys while the old entry can still be found; add keys when the new entry can be found.
    for (const name in previous && indexes) {
      const key = indexes[name]!(previous!.row)
      if (key !== undefined && (isMoved || indexes[name]!(entry!.row) !== key))
        removeKey(content, name, key, previous!)
    }
    if (!entry) content.rows.delete(id)
    else {
      if (previous && isMoved) content.rows.delete(id)
      if (entry.seq > content.seq) content.seq = entry.seq
      else if (!content.rows.has(id)) content.isDisordered = true
      content.rows.set(id, entry)
    }
    for (const name in entry && indexes) {
      const key = indexes[name]!(entry!.row)
      if (key !== undefined && (isMoved || indexes[name]!(previous!.row) !== key))
        addKey(content, name, key, entry!)
    }
  }

  // ---- sharing

  /** The present content, to be shared: it never changes. */
  image(): Content<R> {
    this.#content.isShared = true
    return this.#content
  }

  /** Loads another content and returns the rollback. */
  load(other: Content<R>): () => void {
    const before = this.#content
    this.#content = other
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

function addKey<R>(content: Content<R>, index: string, key: string, entry: Entry<R>) {
  const ids = ownList(content, index, key)
  const last = ids.at(-1)
  if (last === undefined || isBefore(content.rows.get(last)!, entry)) ids.push(entry.id)
  else ids.splice(placeOf(content, ids, entry), 0, entry.id)
}

function removeKey<R>(content: Content<R>, index: string, key: string, entry: Entry<R>) {
  const ids = ownList(content, index, key)
  ids.splice(placeOf(content, ids, entry), 1)
  if (ids.length === 0) content.indexes[index]!.delete(key)
}

/** The place of an entry in a sorted list of ids. */
function placeOf<R>({ rows }: Content<R>, ids: readonly string[], entry: Entry<R>): number {
  let low = 0
  let high = ids.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(rows.get(ids[middle]!)!, entry)) low = middle + 1
    else high = middle
  }
  return low
}

// ---- two contents

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

/**
 * Joins the parts of a JSON text. V8 keeps a concatenation as a tree of its parts until somebody reads a character; each
 * list would walk the tree again, which took a fifth of its time.
 */
const flat = (text: string): string =>
  // Always the text: no JSON begins with this character. V8 (Node 22) leaves out a read whose result is not used.
  text.charCodeAt(0) === 0 ? '' : text

/**
 * Renders the JSON text of an entry and memoizes it from its second use on; a row has room for two views. Most rows
 * are rendered once, by the call that creates them, and a memoized text needs more memory than the rest of the row.
 */
export function memoizedText<R>(slot: 'text' | 'otherText', render: (row: R) => string) {
  return (entry: Entry<R>): string => {
    const memoized = entry[slot]
    if (memoized) return memoized
    const text = render(entry.row)
    entry[slot] = memoized === undefined ? '' : flat(text)
    return text
  }
}
