/** The sort key of a table: a number in all its rows, or an ISO text of the same form in all its rows. */
type Moment = number | string

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

/**
 * How a table finds its rows: `at` is the sort key, which never changes for a row; each index maps a row to its key,
 * if it has one.
 */
export type TableSpec<R> = {
  id: (row: R) => string
  at: (row: R) => Moment
  indexes: Readonly<Record<string, (row: R) => string | undefined>>
  /** Unique indexes: at most one row has a key. */
  uniques?: Readonly<Record<string, (row: R) => string | undefined>>
}

/** The rows of one index key that a layer adds (oldest first), and the rows of lower layers that it removes. */
type Postings = { added: string[]; removed: Set<string> | undefined }

/** The content of one layer: rows by id (`null`: removed here), and postings by index and key. */
type Layer<R> = {
  rows: Map<string, Entry<R> | null>
  indexes: Record<string, Map<string, Postings>>
  /** Unique key -> id; `null`: removed here. */
  uniques: Record<string, Map<string, string | null>>
  /** The highest `seq` below this layer and in it, and whether a rollback has put a row behind a newer one. */
  firstSeq: number
  lastSeq: number
  disordered: boolean
}

/** The immutable content of a table at one moment; forks, snapshots and resets share it. */
export type TableImage<R> = { layers: readonly Layer<R>[]; seq: number }

const emptyLayer = <R>(spec: TableSpec<R>, seq: number): Layer<R> => ({
  rows: new Map(),
  indexes: Object.fromEntries(Object.keys(spec.indexes).map((name) => [name, new Map()])),
  uniques: Object.fromEntries(Object.keys(spec.uniques ?? {}).map((name) => [name, new Map()])),
  firstSeq: seq,
  lastSeq: seq,
  disordered: false,
})

// An unchanged table shares an empty top layer: most tables of a client are unchanged, and there may be many clients.
const EMPTY_LAYERS = new WeakMap<object, Layer<never>>()

function emptyLayerOf<R>(spec: TableSpec<R>): Layer<R> {
  let emptyTop = EMPTY_LAYERS.get(spec) as Layer<R> | undefined
  if (!emptyTop) {
    emptyTop = emptyLayer(spec, 0)
    EMPTY_LAYERS.set(spec, emptyTop as Layer<never>)
  }
  return emptyTop
}

type Position = { readonly at: Moment; readonly seq: number }
const isBefore = (a: Position, b: Position) => (a.at === b.at ? a.seq < b.seq : a.at < b.at)

/** The rows of a layer in insertion order. */
function rowsInOrder<R>(layer: Layer<R>): Layer<R>['rows'] {
  if (layer.disordered) {
    const entries = [...layer.rows]
    entries.sort(([, a], [, b]) => (a?.seq ?? 0) - (b?.seq ?? 0))
    layer.rows = new Map(entries)
    layer.disordered = false
  }
  return layer.rows
}

/**
 * A table as a stack of layers: immutable ones below (the fixtures, a forked world) and one that takes the changes. A
 * read searches from the top down; a reset drops the top layer; a fork shares the lower ones. The cost of a change or
 * a page does not grow with the table.
 */
export function createTable<R>(spec: TableSpec<R>, image: TableImage<R> = { layers: [], seq: 0 }) {
  const indexes = Object.entries(spec.indexes)
  const uniques = Object.entries(spec.uniques ?? {})
  // The bottom layer is always the base that a reset restores; it may be empty.
  const emptyTop = emptyLayerOf(spec)
  let below: readonly Layer<R>[] = image.layers.length ? image.layers : [emptyTop]
  let seq = image.seq
  let top = emptyTop
  // The value of `seq` when the top layer began, also while it is still `emptyTop`.
  let topSeq = seq
  // The last inserted entry: most lists end with it, so it needs no lookup.
  let newest: Entry<R> | undefined

  function find(id: string): Entry<R> | undefined {
    const own = top.rows.get(id)
    return (own === undefined ? findLast(below, id) : own) ?? undefined
  }

  /** The entry of the lower layers, without the changes of the top layer. */
  const findBelow = (id: string): Entry<R> | undefined => findIn(below, id)

  function post(index: string, key: string, entry: Entry<R>) {
    const keys = top.indexes[index]!
    const postings = keys.get(key)
    if (postings === undefined) {
      keys.set(key, { added: [entry.id], removed: undefined })
      return
    }
    // A row restored by a rollback is found in the lower layers again; a row that was inserted again has another
    // position.
    if (postings.removed?.has(entry.id) && findBelow(entry.id)?.seq === entry.seq) {
      postings.removed.delete(entry.id)
      if (postings.added.length === 0 && postings.removed.size === 0) keys.delete(key)
      return
    }
    const last = postings.added.at(-1)
    if (last === undefined || isBefore(last === newest?.id ? newest : find(last)!, entry))
      postings.added.push(entry.id)
    else postings.added.splice(placeOf(postings.added, entry), 0, entry.id)
  }

  /** The index of an entry in a list of ids sorted by (at, seq). */
  function placeOf(ids: readonly string[], entry: Entry<R>): number {
    let low = 0
    let high = ids.length
    while (low < high) {
      const middle = (low + high) >> 1
      const other = find(ids[middle]!)!
      if (isBefore(other, entry)) low = middle + 1
      else high = middle
    }
    return low
  }

  function unpost(index: string, key: string, entry: Entry<R>) {
    const keys = top.indexes[index]!
    let postings = keys.get(key)
    const added = postings?.added
    if (added?.at(-1) === entry.id) {
      added.pop()
    } else if (added?.[placeOf(added, entry)] === entry.id) {
      added.splice(placeOf(added, entry), 1)
    } else {
      if (!postings) {
        postings = { added: [], removed: undefined }
        keys.set(key, postings)
      }
      postings.removed ??= new Set()
      postings.removed.add(entry.id)
    }
    if (postings && postings.added.length === 0 && !postings.removed?.size) keys.delete(key)
  }

  function idOfUnique(name: string, key: string): string | undefined {
    const own = top.uniques[name]!.get(key)
    return own === undefined ? idOfUniqueBelow(name, key) : (own ?? undefined)
  }

  function idOfUniqueBelow(name: string, key: string): string | undefined {
    for (let i = below.length - 1; i >= 0; i--) {
      const id = below[i]!.uniques[name]!.get(key)
      if (id !== undefined) return id ?? undefined
    }
    return undefined
  }

  /** Moves a row to its new unique keys if they changed. */
  function rekey(previous: Entry<R> | undefined, entry: Entry<R> | undefined) {
    for (const [name, keyOf] of uniques) {
      const oldKey = previous && keyOf(previous.row)
      const newKey = entry && keyOf(entry.row)
      if (oldKey === newKey) continue
      // When rows are read back one by one, another row may already have the key.
      if (oldKey !== undefined && idOfUnique(name, oldKey) === previous!.id) {
        if (idOfUniqueBelow(name, oldKey) === undefined) top.uniques[name]!.delete(oldKey)
        else top.uniques[name]!.set(oldKey, null)
      }
      if (newKey !== undefined) top.uniques[name]!.set(newKey, entry!.id)
    }
  }

  /** Stores a row and maintains the insertion order of the layer. */
  function setRow(id: string, entry: Entry<R>) {
    if (entry.seq > top.lastSeq) {
      top.lastSeq = entry.seq
      // A row that was inserted again after its removal comes last.
      top.rows.delete(id)
    } else if (entry.seq > top.firstSeq && top.rows.get(id)?.seq !== entry.seq) {
      top.disordered = true
    }
    top.rows.set(id, entry)
  }

  /** Sets or removes an entry without changing its position, and returns the previous one. Rollbacks use it too. */
  function place(id: string, entry: Entry<R> | undefined): Entry<R> | undefined {
    const previous = find(id)
    replace(id, previous, entry)
    return previous
  }

  function replace(id: string, previous: Entry<R> | undefined, entry: Entry<R> | undefined) {
    if (top === emptyTop) top = emptyLayer(spec, topSeq)
    rekey(previous, entry)
    // Remove postings while the old entry can still be found; add postings when the new entry can be found.
    if (previous) {
      for (const [name, keyOf] of indexes) {
        const key = keyOf(previous.row)
        if (key !== undefined && (!entry || keyOf(entry.row) !== key)) unpost(name, key, previous)
      }
    }
    if (entry) setRow(id, entry)
    else if (findBelow(id)) top.rows.set(id, null)
    else top.rows.delete(id)
    if (entry) {
      for (const [name, keyOf] of indexes) {
        const key = keyOf(entry.row)
        if (key !== undefined && (!previous || keyOf(previous.row) !== key)) post(name, key, entry)
      }
      if (!previous) newest = entry
    }
  }

  function set(row: R, old: Entry<R> | undefined): Entry<R> {
    const entry = {
      id: spec.id(row),
      row,
      seq: old ? old.seq : ++seq,
      at: old ? old.at : spec.at(row),
      text: undefined,
      otherText: undefined,
    }
    replace(entry.id, old, entry)
    return entry
  }

  /** The ids of one key, newest first, from `offset` on. */
  function idsNewestFirst(index: string, key: string, offset: number, limit: number): string[] {
    const stack: Postings[] = []
    for (const layer of below) {
      const postings = layer.indexes[index]!.get(key)
      if (postings) stack.push(postings)
    }
    const own = top.indexes[index]!.get(key)
    if (own) stack.push(own)
    // The fast path is only possible if no layer removes rows and the layers do not overlap in time.
    const plain =
      stack.every(({ removed }) => !removed?.size) &&
      stack.every(
        ({ added }, i) => i === 0 || isBefore(find(stack[i - 1]!.added.at(-1)!)!, find(added[0]!)!),
      )
    if (!plain) return mergeNewestFirst(stack, offset, limit)
    const ids: string[] = []
    let skip = offset
    for (let i = stack.length - 1; i >= 0 && ids.length < limit; i--) {
      const { added } = stack[i]!
      for (let j = added.length - 1 - skip; j >= 0 && ids.length < limit; j--) ids.push(added[j]!)
      skip = Math.max(0, skip - added.length)
    }
    return ids
  }

  /** The rare case: a layer with rows older than those below it, or with removed rows of a lower layer. */
  function mergeNewestFirst(stack: readonly Postings[], offset: number, limit: number): string[] {
    const heads = stack.map(({ added }, layer) => ({ added, layer, next: added.length }))
    const step = (head: (typeof heads)[number]): Entry<R> | undefined => {
      for (head.next--; head.next >= 0; head.next--) {
        const id = head.added[head.next]!
        if (!stack.some(({ removed }, layer) => layer > head.layer && removed?.has(id)))
          return find(id)!
      }
      return undefined
    }
    const entries = heads.map(step)
    const ids: string[] = []
    for (let passed = 0; ids.length < limit; passed++) {
      let newest = -1
      for (let i = 0; i < entries.length; i++) {
        const entry = entries[i]
        if (entry && (newest === -1 || isBefore(entries[newest]!, entry))) newest = i
      }
      if (newest === -1) break
      if (passed >= offset) ids.push(entries[newest]!.id)
      entries[newest] = step(heads[newest]!)
    }
    return ids
  }

  /**
   * Works layer by layer, so that nothing is collected or sorted: a row is yielded with the layer that defined its
   * position.
   */
  function* changesOver(depth: number): Generator<{ row: R } | { removed: string }> {
    const layers = [...below, top]
    for (let i = depth; i < layers.length; i++) {
      const lower = layers.slice(depth, i)
      const upper = layers.slice(i + 1)
      for (const [id, own] of rowsInOrder(layers[i]!)) {
        const later = findLast(upper, id)
        const entry = later === undefined ? own : later
        if (!lower.some(({ rows }) => rows.has(id))) {
          const old = findIn(below, id, depth)
          if (old && old.seq !== entry?.seq) yield { removed: id }
        }
        if (!entry || own?.seq !== entry.seq) continue
        if (!lower.some(({ rows }) => rows.get(id)?.seq === entry.seq)) yield { row: entry.row }
      }
    }
  }

  return {
    get: (id: string): R | undefined => find(id)?.row,
    entry: find,
    /** Adds a row or replaces the one with its id, which keeps its place in the order. */
    put: (row: R): Entry<R> => set(row, find(spec.id(row))),
    /** `put` for a caller that has already looked up the old entry. */
    set,
    remove: (id: string): Entry<R> | undefined => place(id, undefined),
    place,
    page(index: string, key: string, offset: number, limit: number): Entry<R>[] {
      return idsNewestFirst(index, key, offset, limit).map((id) => find(id)!)
    },
    /** The row that has a unique key. */
    findUnique(name: string, key: string): Entry<R> | undefined {
      const id = idOfUnique(name, key)
      return id === undefined ? undefined : find(id)
    },
    /** The newest row of one key. */
    newest: (index: string, key: string): Entry<R> | undefined => {
      const [id] = idsNewestFirst(index, key, 0, 1)
      return id === undefined ? undefined : find(id)
    },
    count(index: string, key: string): number {
      const own = top.indexes[index]!.get(key)
      let total = own ? own.added.length - (own.removed?.size ?? 0) : 0
      for (const layer of below) {
        const postings = layer.indexes[index]!.get(key)
        if (postings) total += postings.added.length - (postings.removed?.size ?? 0)
      }
      return total
    },
    /** Every row in insertion order. */
    *rows(): Generator<R> {
      for (const one of changesOver(0)) if ('row' in one) yield one.row
    },
    /**
     * The changes over the lowest `depth` layers (default: the bottom layer), in the order to apply them: rows that
     * were set, ids that were removed. A row that was removed and inserted again appears as both.
     */
    changes: (depth = 1) => changesOver(depth),
    /**
     * Freezes the current content so that it can be shared; the table continues with a new top layer. Costs almost
     * nothing.
     */
    image(): TableImage<R> {
      if (top.rows.size > 0) {
        below = mergeSmallLayers(spec, [...below, top])
        top = emptyTop
        topSeq = seq
      }
      return { layers: below, seq }
    },
    /** The current content, valid only until the next change. */
    view: (): TableImage<R> => ({ layers: [...below, top], seq }),
    /**
     * Makes layers that `image` froze mutable again when their user no longer needs them: later changes are merged
     * into them. A layer that another user shares remains frozen, and so does a layer with too many later changes to
     * merge in one call.
     */
    unfreeze(isShared: (layer: object) => boolean) {
      for (let last = below.at(-1)!; below.length > 1; last = below.at(-1)!) {
        if (isShared(last) || top.rows.size > MAX_UNFREEZE_ROWS) return
        const later = top
        top = last
        topSeq = last.firstSeq
        below = below.slice(0, -1)
        for (const [id, entry] of rowsInOrder(later)) place(id, entry ?? undefined)
      }
    },
    /** Loads another content and returns the rollback. */
    load(other: TableImage<R>): () => void {
      const before = { below, top, topSeq, seq }
      below = other.layers
      seq = other.seq
      top = emptyTop
      topSeq = seq
      newest = undefined
      return () => {
        newest = undefined
        below = before.below
        top = before.top
        topSeq = before.topSeq
        seq = before.seq
      }
    },
  }
}

// Putting this many rows into a layer takes about 10 ms.
const MAX_UNFREEZE_ROWS = 10_000
// A read searches every layer, so small ones are merged; merging this many rows takes well under 1 ms.
const MAX_MERGED_ROWS = 512

/**
 * Merges the uppermost layers while the upper one is not much smaller than the one below it, so that the number of
 * layers stays small.
 */
function mergeSmallLayers<R>(spec: TableSpec<R>, layers: readonly Layer<R>[]): readonly Layer<R>[] {
  const [lower, upper] = layers.slice(-2) as [Layer<R>, Layer<R>]
  // The bottom layer is never merged: other worlds share it, and changes are relative to it.
  if (layers.length < 3 || lower.rows.size > 2 * upper.rows.size) return layers
  if (lower.rows.size + upper.rows.size > MAX_MERGED_ROWS) return layers
  const merged = createTable(spec, { layers: layers.slice(0, -2), seq: lower.firstSeq })
  const ids = new Set([...lower.rows.keys(), ...upper.rows.keys()])
  const entries = [...ids].map((id) => [id, findIn(layers, id)] as const)
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

/** The newest entry of an id in the lowest `depth` layers; `null`: removed there; `undefined`: never there. */
function findLast<R>(layers: readonly Layer<R>[], id: string, depth = layers.length) {
  for (let i = depth - 1; i >= 0; i--) {
    const entry = layers[i]!.rows.get(id)
    if (entry !== undefined) return entry
  }
  return undefined
}

/** The entry of an id in a stack of layers, or in the lowest `depth` of them; `undefined` if there is none. */
const findIn = <R>(layers: readonly Layer<R>[], id: string, depth?: number) =>
  findLast(layers, id, depth) ?? undefined

/** A row that differs between two images; `undefined` if it does not exist in one of them. */
export type RowDifference<R> = { id: string; before: R | undefined; after: R | undefined }

/**
 * Returns the rows that differ between two images, in insertion order; layers that both share cost nothing. The caller
 * may pause at each `yield`.
 */
export function* differences<R>(
  before: TableImage<R>,
  after: TableImage<R>,
): Generator<undefined, RowDifference<R>[]> {
  let shared = 0
  while (shared < before.layers.length && before.layers[shared] === after.layers[shared]) shared++
  const ids = new Set(
    [...before.layers.slice(shared), ...after.layers.slice(shared)].flatMap((layer) => [
      ...layer.rows.keys(),
    ]),
  )
  const found: (RowDifference<R> & { seq: number })[] = []
  for (const id of ids) {
    yield
    const [a, b] = [findIn(before.layers, id), findIn(after.layers, id)]
    if (a?.row === b?.row || JSON.stringify(a?.row) === JSON.stringify(b?.row)) continue
    found.push({ id, before: a?.row, after: b?.row, seq: (b ?? a)!.seq })
  }
  found.sort((a, b) => a.seq - b.seq)
  return found.map(({ seq: _, ...difference }) => difference)
}

/** A table of one world. */
export type Table<R> = ReturnType<typeof createTable<R>>

/** Builds an image from rows, oldest first: the base of the fixtures. */
export function imageOf<R>(spec: TableSpec<R>, rows: readonly R[]): TableImage<R> {
  const table = createTable(spec)
  for (const row of rows) table.put(row)
  const { layers, seq } = table.image()
  return { layers: layers.slice(-1), seq }
}

/**
 * Renders the JSON text of an entry and memoizes it from its second use on; a row has room for two views. Most rows
 * are rendered once, by the call that creates them, and a memoized text needs more memory than the rest of the row.
 */
export function memoizedText<R>(slot: 'text' | 'otherText', render: (row: R) => string) {
  return (entry: Entry<R>): string => {
    const memoized = entry[slot]
    if (memoized) return memoized
    const text = render(entry.row)
    entry[slot] = memoized === undefined ? '' : text
    return text
  }
}
