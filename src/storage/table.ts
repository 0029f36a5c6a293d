import { type Entry, isBefore } from './entry.ts'
import {
  changesOver,
  countOfKey,
  emptyLayer,
  findEntry,
  idsNewestFirst,
  type KeyOf,
  type Layer,
  type Layers,
  rowsInOrder,
  rowsOf,
  type TableImage,
  type TableSpec,
} from './layers.ts'
import { addOwner, findUniqueId, removeOwner } from './owners.ts'
import { addPosting, removePosting } from './postings.ts'

// Putting this many rows into a layer takes about 10 ms.
const MAX_UNFREEZE_ROWS = 10_000
// A read searches every layer, so small ones are merged; merging this many rows takes well under 1 ms.
const MAX_MERGED_ROWS = 512

/** Lists an entry under a key of an index of the top layer, or removes it there. */
type ChangeIndex<R> = (layers: Layers<R>, index: Index<R>, key: string, entry: Entry<R>) => void

/** An index, for one row or for many. */
type Index<R> = {
  name: string
  keyOf: KeyOf<R>
  add: ChangeIndex<R>
  remove: ChangeIndex<R>
}

/** The key of a row in each index, if it has one. */
type Keys = readonly (string | undefined)[]

/** What all tables of a spec share: most tables of a client are unchanged, and there may be many clients. */
type Shared<R> = { indexes: readonly Index<R>[]; emptyLayer: Layer<R> }

const SHARED = new WeakMap<object, Shared<never>>()

function sharedOf<R>(spec: TableSpec<R>): Shared<R> {
  let shared = SHARED.get(spec) as Shared<R> | undefined
  if (!shared) {
    const many = { add: addPosting, remove: removePosting }
    const one = { add: addOwner, remove: removeOwner }
    const indexes = [
      ...Object.entries(spec.indexes).map(([name, keyOf]) => ({ name, keyOf, ...many })),
      ...Object.entries(spec.uniques ?? {}).map(([name, keyOf]) => ({ name, keyOf, ...one })),
    ]
    shared = { indexes, emptyLayer: emptyLayer(spec, 0) }
    SHARED.set(spec, shared as never)
  }
  return shared
}

/** A copy of a row with changed fields. */
function changedRow<R>(old: R, fields: Partial<R>): R {
  // A field that only the copy has would give it a hidden class of its own, which needs more memory than the row.
  for (const name in fields) if (!(name in (old as object))) old[name] = undefined as never
  // A copy first, then its fields: several times as fast as both in one literal.
  const row = { ...old }
  return Object.assign(row as object, fields) as R
}

/**
 * A table as a stack of layers: immutable ones below (the fixtures, a forked world) and one on top that takes the
 * changes. A reset drops the top layer; a fork shares the lower ones. The cost of a change or a page does not grow with
 * the table.
 */
export class Table<R> {
  readonly #spec: TableSpec<R>
  readonly #shared: Shared<R>
  /** All layers; the last one is `#top`. The lowest is always the base that a reset restores; it may be empty. */
  #layers: Layers<R>
  /** Takes the changes. Before the first one it is the empty layer that all tables of the spec share. */
  #top: Layer<R>
  #seq: number
  /** The value of `#seq` when the top layer began. */
  #topSeq: number

  constructor(spec: TableSpec<R>, image: TableImage<R> = { layers: [], seq: 0 }) {
    this.#spec = spec
    this.#shared = sharedOf(spec)
    const { emptyLayer: empty } = this.#shared
    this.#top = empty
    // `concat`, because V8 reserves room for 16 more elements in a spread, and a client has many tables.
    this.#layers = (image.layers.length > 0 ? image.layers : [empty]).concat(empty)
    this.#seq = image.seq
    this.#topSeq = image.seq
  }

  // ---- reading

  entry(id: string): Entry<R> | undefined {
    return findEntry(this.#layers, id)
  }

  get(id: string): R | undefined {
    return findEntry(this.#layers, id)?.row
  }

  /** The rows of one key, newest first, from `offset` on. */
  page(index: string, key: string, offset: number, limit: number): Entry<R>[] {
    const ids = idsNewestFirst(this.#layers, index, key, offset, limit)
    return ids.map((id) => findEntry(this.#layers, id)!)
  }

  /** The newest row of one key. */
  newest(index: string, key: string): Entry<R> | undefined {
    return this.count(index, key) === 0 ? undefined : this.page(index, key, 0, 1)[0]
  }

  /** The number of rows of one key. */
  count(index: string, key: string): number {
    return countOfKey(this.#layers, index, key)
  }

  /** The row that has a unique key; of several rows, the first one. */
  findUnique(unique: string, key: string): Entry<R> | undefined {
    const keyOf = this.#spec.uniques![unique]!
    const id = findUniqueId(this.#layers, { name: unique, keyOf }, key)
    return id === undefined ? undefined : findEntry(this.#layers, id)
  }

  /** Every row in insertion order. */
  rows(): Generator<R> {
    return rowsOf(this.#layers)
  }

  /** `changesOver` the lowest `depth` layers; default: the bottom layer. */
  changes(depth = 1): Generator<{ row: R } | { removed: string }> {
    return changesOver(this.#layers, depth)
  }

  // ---- changing

  /** Adds a row or replaces the one with its id, which keeps its place in the order. */
  put(row: R): Entry<R> {
    return this.set(row, this.entry(this.#spec.id(row)))
  }

  /** Adds a row whose id is new: `put` without a search for an old entry. */
  insert(row: R): Entry<R> {
    return this.set(row, undefined)
  }

  /** `put` for a caller that has already looked up the old entry. */
  set(row: R, old: Entry<R> | undefined): Entry<R> {
    const entry = {
      id: this.#spec.id(row),
      row,
      seq: old ? old.seq : ++this.#seq,
      at: old ? old.at : this.#spec.at(row),
      text: undefined,
      otherText: undefined,
    }
    this.#replace(entry.id, old, entry)
    return entry
  }

  remove(id: string): Entry<R> | undefined {
    return this.place(id, undefined)
  }

  /** Sets or removes an entry without changing its position, and returns the previous one. Rollbacks use it too. */
  place(id: string, entry: Entry<R> | undefined): Entry<R> | undefined {
    const previous = this.entry(id)
    this.#replace(id, previous, entry)
    return previous
  }

  /**
   * Changes fields of a row. A row of the top layer is changed in place, so this is only for a start, when nobody else
   * has the row.
   */
  assign(id: string, fields: Partial<R>) {
    const own = this.#top.rows.get(id)
    if (own) {
      const before = this.#keysOf(own.row)
      Object.assign(own.row as object, fields)
      const after = this.#keysOf(own.row)
      this.#changeKeys('remove', own, before, after)
      this.#changeKeys('add', own, after, before)
      return
    }
    const below = own === undefined && this.#entryBelow(id)
    if (below) this.set(changedRow(below.row, fields), below)
  }

  #replace(id: string, previous: Entry<R> | undefined, entry: Entry<R> | undefined) {
    const { emptyLayer: empty } = this.#shared
    if (this.#top === empty) this.#setTop(this.#lower, emptyLayer(this.#spec, this.#topSeq))
    const before = previous && this.#keysOf(previous.row)
    const after = entry && this.#keysOf(entry.row)
    // Remove keys while the old entry can still be found; add keys when the new entry can be found.
    if (before) this.#changeKeys('remove', previous, before, after)
    if (entry) this.#setRow(id, entry)
    else if (this.#entryBelow(id)) this.#top.rows.set(id, null)
    else this.#top.rows.delete(id)
    if (after) this.#changeKeys('add', entry, after, before)
  }

  #keysOf(row: R): Keys {
    return this.#shared.indexes.map(({ keyOf }) => keyOf(row))
  }

  /** Adds an entry to the indexes in which its key is not the other one, or removes it from them. */
  #changeKeys(how: 'add' | 'remove', entry: Entry<R>, keys: Keys, others: Keys | undefined) {
    const { indexes } = this.#shared
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i]
      if (key === undefined || key === others?.[i]) continue
      const index = indexes[i]!
      index[how](this.#layers, index, key, entry)
    }
  }

  /** The entry of the lower layers, without the changes of the top layer. */
  #entryBelow(id: string): Entry<R> | undefined {
    return findEntry(this.#layers, id, this.#layers.length - 1)
  }

  /** Stores a row and maintains the insertion order of the top layer. */
  #setRow(id: string, entry: Entry<R>) {
    const top = this.#top
    const { rows } = top
    const { size } = rows
    if (top.newest === undefined || isBefore(top.newest, entry)) top.newest = entry
    if (entry.seq > top.lastSeq) {
      top.lastSeq = entry.seq
      rows.set(id, entry)
      if (rows.size > size) return
      // A row that was inserted again after its removal comes last.
      rows.delete(id)
    } else if (entry.seq > top.firstSeq && rows.get(id)?.seq !== entry.seq) top.disordered = true
    rows.set(id, entry)
  }

  // ---- layers

  get #lower(): Layers<R> {
    return this.#layers.slice(0, -1)
  }

  #setTop(lower: Layers<R>, top: Layer<R>) {
    this.#layers = lower.concat(top)
    this.#top = top
  }

  /**
   * Freezes the current content so that it can be shared; the table continues with a new top layer. Costs almost
   * nothing.
   */
  image(): TableImage<R> {
    if (this.#top.rows.size > 0) {
      this.#setTop(mergeSmallLayers(this.#spec, this.#layers), this.#shared.emptyLayer)
      this.#topSeq = this.#seq
    }
    return { layers: this.#lower, seq: this.#seq }
  }

  /** The current content, valid only until the next change. */
  view(): TableImage<R> {
    return { layers: this.#layers, seq: this.#seq }
  }

  /**
   * Makes layers that `image` froze mutable again when their user no longer needs them: later changes are merged into
   * them. A layer that another user shares remains frozen, and so does a layer with too many later changes to merge in
   * one call.
   */
  unfreeze(isShared: (layer: object) => boolean) {
    for (;;) {
      const lower = this.#lower
      const last = lower.at(-1)!
      const later = this.#top
      if (lower.length === 1 || isShared(last) || later.rows.size > MAX_UNFREEZE_ROWS) return
      this.#setTop(lower.slice(0, -1), last)
      this.#topSeq = last.firstSeq
      for (const [id, entry] of rowsInOrder(later)) this.place(id, entry ?? undefined)
    }
  }

  /** Loads another content and returns the rollback. */
  load(other: TableImage<R>): () => void {
    const [layers, top, seq, topSeq] = [this.#layers, this.#top, this.#seq, this.#topSeq]
    this.#setTop(other.layers, this.#shared.emptyLayer)
    this.#seq = other.seq
    this.#topSeq = other.seq
    return () => {
      this.#layers = layers
      this.#top = top
      this.#seq = seq
      this.#topSeq = topSeq
    }
  }
}

/**
 * Merges the uppermost layers while the upper one is not much smaller than the one below it, so that the number of
 * layers stays small.
 */
function mergeSmallLayers<R>(spec: TableSpec<R>, layers: Layers<R>): Layers<R> {
  const [lower, upper] = layers.slice(-2) as [Layer<R>, Layer<R>]
  // The bottom layer is never merged: other worlds share it, and changes are relative to it.
  if (layers.length < 3 || lower.rows.size > 2 * upper.rows.size) return layers
  if (lower.rows.size + upper.rows.size > MAX_MERGED_ROWS) return layers
  const merged = new Table(spec, { layers: layers.slice(0, -2), seq: lower.firstSeq })
  const ids = new Set([...lower.rows.keys(), ...upper.rows.keys()])
  const entries = [...ids].map((id) => [id, findEntry(layers, id)] as const)
  entries.sort(([, a], [, b]) => (a?.seq ?? 0) - (b?.seq ?? 0))
  for (const [id, entry] of entries) {
    const old = merged.entry(id)
    // A row that was inserted again after its removal has another position in the lists.
    if (old && old.seq !== entry?.seq) merged.remove(id)
    if (entry) merged.place(id, entry)
  }
  // `image` merges again if the merged layer is not much smaller than the one below.
  return merged.image().layers
}

/** Builds an image from rows, oldest first: the base of the fixtures. */
export function imageOf<R>(spec: TableSpec<R>, rows: readonly R[]): TableImage<R> {
  const table = new Table(spec)
  for (const row of rows) table.put(row)
  const { layers, seq } = table.image()
  return { layers: layers.slice(-1), seq }
}
