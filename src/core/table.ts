/** What a table lists by: all its rows have numbers, or all have ISO texts of one form. */
type Moment = number | string

/** A stored row with its place in the order and the JSON texts kept for it. Rows are replaced, never changed. */
export type Entry<R> = {
  readonly id: string
  readonly row: R
  /** Order of insertion; breaks ties of `at`. */
  readonly seq: number
  readonly at: Moment
  /** Kept JSON text of the row's one or two views (see `keptText`). */
  text: string | undefined
  otherText: string | undefined
}

/**
 * How a table finds its rows: `at` is what it lists by, which a row keeps all its life;
 * each index maps a row to its key, if it has one.
 */
export type TableSpec<R> = {
  id: (row: R) => string
  at: (row: R) => Moment
  indexes: Readonly<Record<string, (row: R) => string | undefined>>
  /** Keys that at most one row has, if any. */
  uniques?: Readonly<Record<string, (row: R) => string | undefined>>
}

/** The rows of one index key that a layer adds (oldest first), and the rows below it that it takes away. */
type Postings = { added: string[]; gone: Set<string> | undefined }

/** What one layer knows: rows by id (`null`: removed here), and postings by index and key. */
type Layer<R> = {
  rows: Map<string, Entry<R> | null>
  indexes: Record<string, Map<string, Postings>>
  /** Unique key -> id; `null`: taken away here. */
  uniques: Record<string, Map<string, string | null>>
  /** The highest `seq` below it and in it, and whether an undone change has put a row behind a newer one. */
  firstSeq: number
  lastSeq: number
  disordered: boolean
}

/** A table's content at one moment, to be shared by forks, snapshots and resets; it never changes. */
export type TableImage<R> = { layers: readonly Layer<R>[]; seq: number }

const emptyLayer = <R>(spec: TableSpec<R>, seq: number): Layer<R> => ({
  rows: new Map(),
  indexes: Object.fromEntries(Object.keys(spec.indexes).map((name) => [name, new Map()])),
  uniques: Object.fromEntries(Object.keys(spec.uniques ?? {}).map((name) => [name, new Map()])),
  firstSeq: seq,
  lastSeq: seq,
  disordered: false,
})

// A table that is not changed has no layer of its own: most of a client's tables are like that, and there may be many.
const NOTHING = new WeakMap<object, Layer<never>>()

function nothingOf<R>(spec: TableSpec<R>): Layer<R> {
  let nothing = NOTHING.get(spec) as Layer<R> | undefined
  if (!nothing) {
    nothing = emptyLayer(spec, 0)
    NOTHING.set(spec, nothing as Layer<never>)
  }
  return nothing
}

type Position = { readonly at: Moment; readonly seq: number }
const isBefore = (a: Position, b: Position) => (a.at === b.at ? a.seq < b.seq : a.at < b.at)

/** What a layer knows, in the order its rows came. */
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
 * A table as a stack of layers: immutable ones below (the fixtures, a forked world) and one that takes the changes.
 * A read looks from the top down; dropping the top layer is a reset; sharing the lower ones is a fork.
 * Cost of a change or a page does not grow with the table.
 */
export function createTable<R>(spec: TableSpec<R>, image: TableImage<R> = { layers: [], seq: 0 }) {
  const indexes = Object.entries(spec.indexes)
  const uniques = Object.entries(spec.uniques ?? {})
  // The bottom layer is always the base that resets go back to, be it empty.
  const nothing = nothingOf(spec)
  let below: readonly Layer<R>[] = image.layers.length ? image.layers : [nothing]
  let seq = image.seq
  let top = nothing
  // What `seq` was when the layer on top began, be it `nothing` still.
  let topSeq = seq
  // The last that came: most lists end in it, and it need not be looked up.
  let newest: Entry<R> | undefined

  function find(id: string): Entry<R> | undefined {
    const own = top.rows.get(id)
    return (own === undefined ? findLast(below, id) : own) ?? undefined
  }

  /** The entry of the layers below, as it is without the changes of this one. */
  const findBelow = (id: string): Entry<R> | undefined => findIn(below, id)

  function post(index: string, key: string, entry: Entry<R>) {
    const keys = top.indexes[index]!
    const postings = keys.get(key)
    if (postings === undefined) {
      keys.set(key, { added: [entry.id], gone: undefined })
      return
    }
    // A row that comes back as it was is found below again; one that was made anew has another place.
    if (postings.gone?.has(entry.id) && findBelow(entry.id)?.seq === entry.seq) {
      postings.gone.delete(entry.id)
      if (postings.added.length === 0 && postings.gone.size === 0) keys.delete(key)
      return
    }
    const last = postings.added.at(-1)
    if (last === undefined || isBefore(last === newest?.id ? newest : find(last)!, entry))
      postings.added.push(entry.id)
    else postings.added.splice(placeOf(postings.added, entry), 0, entry.id)
  }

  /** Where an entry belongs in a list of ids sorted by (at, seq). */
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
        postings = { added: [], gone: undefined }
        keys.set(key, postings)
      }
      postings.gone ??= new Set()
      postings.gone.add(entry.id)
    }
    if (postings && postings.added.length === 0 && !postings.gone?.size) keys.delete(key)
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

  /** Moves a row from one key to another where the two differ. */
  function rekey(previous: Entry<R> | undefined, entry: Entry<R> | undefined) {
    for (const [name, keyOf] of uniques) {
      const oldKey = previous && keyOf(previous.row)
      const newKey = entry && keyOf(entry.row)
      if (oldKey === newKey) continue
      // Rows read back one by one may have handed the key on already.
      if (oldKey !== undefined && idOfUnique(name, oldKey) === previous!.id) {
        if (idOfUniqueBelow(name, oldKey) === undefined) top.uniques[name]!.delete(oldKey)
        else top.uniques[name]!.set(oldKey, null)
      }
      if (newKey !== undefined) top.uniques[name]!.set(newKey, entry!.id)
    }
  }

  /** Keeps the rows of the layer in the order they came. */
  function setRow(id: string, entry: Entry<R>) {
    if (entry.seq > top.lastSeq) {
      top.lastSeq = entry.seq
      // One made anew after its removal comes after all others.
      top.rows.delete(id)
    } else if (entry.seq > top.firstSeq && top.rows.get(id)?.seq !== entry.seq) {
      top.disordered = true
    }
    top.rows.set(id, entry)
  }

  /** Sets or removes an entry as it is and returns what was there: also the way back of an undone change. */
  function place(id: string, entry: Entry<R> | undefined): Entry<R> | undefined {
    const previous = find(id)
    replace(id, previous, entry)
    return previous
  }

  function replace(id: string, previous: Entry<R> | undefined, entry: Entry<R> | undefined) {
    if (top === nothing) top = emptyLayer(spec, topSeq)
    rekey(previous, entry)
    // Postings are taken out while the old entry can still be found, and put in once the new one can.
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
    // Only where no layer takes rows away can the ends of all of them be found.
    const plain =
      stack.every(({ gone }) => !gone?.size) &&
      stack.every(
        ({ added }, i) => i === 0 || isBefore(find(stack[i - 1]!.added.at(-1)!)!, find(added[0]!)!),
      )
    if (!plain) return mergedNewestFirst(stack, offset, limit)
    const ids: string[] = []
    let skip = offset
    for (let i = stack.length - 1; i >= 0 && ids.length < limit; i--) {
      const { added } = stack[i]!
      for (let j = added.length - 1 - skip; j >= 0 && ids.length < limit; j--) ids.push(added[j]!)
      skip = Math.max(0, skip - added.length)
    }
    return ids
  }

  /** The rarer case: rows older than those below them, or rows taken away from a lower layer. */
  function mergedNewestFirst(stack: readonly Postings[], offset: number, limit: number): string[] {
    const heads = stack.map(({ added }, layer) => ({ added, layer, next: added.length }))
    const step = (head: (typeof heads)[number]): Entry<R> | undefined => {
      for (head.next--; head.next >= 0; head.next--) {
        const id = head.added[head.next]!
        if (!stack.some(({ gone }, layer) => layer > head.layer && gone?.has(id))) return find(id)!
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

  /** Layer by layer, so that nothing is gathered or sorted: a row is told where its place in the order was made. */
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
    /** The same for whoever has looked up what was there. */
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
      let total = own ? own.added.length - (own.gone?.size ?? 0) : 0
      for (const layer of below) {
        const postings = layer.indexes[index]!.get(key)
        if (postings) total += postings.added.length - (postings.gone?.size ?? 0)
      }
      return total
    },
    /** Every row, in the order they came. */
    *rows(): Generator<R> {
      for (const one of changesOver(0)) if ('row' in one) yield one.row
    },
    /**
     * What differs from the lowest layers (the one at the bottom, if not told otherwise), to be done over them in this
     * order: rows set, ids of removed ones. A row of them that was removed and made anew is told as both.
     */
    changes: (depth = 1) => changesOver(depth),
    /** Freezes what is here now, to be shared; the table goes on with a new top layer. Costs next to nothing. */
    image(): TableImage<R> {
      if (top.rows.size > 0) {
        below = withFewLayers(spec, [...below, top])
        top = nothing
        topSeq = seq
      }
      return { layers: below, seq }
    },
    /** What is here now, to be looked at before it changes again. */
    view: (): TableImage<R> => ({ layers: [...below, top], seq }),
    /**
     * Takes up again what was frozen by `image` for somebody who is done with it: what came since is put into it. A
     * layer that somebody else stands on stays as it is, and so does one that too much came after to be put in at once.
     */
    unfreeze(isShared: (layer: object) => boolean) {
      for (let last = below.at(-1)!; below.length > 1; last = below.at(-1)!) {
        if (isShared(last) || top.rows.size > MAX_THAWED) return
        const later = top
        top = last
        topSeq = last.firstSeq
        below = below.slice(0, -1)
        for (const [id, entry] of rowsInOrder(later)) place(id, entry ?? undefined)
      }
    },
    /** Takes another content, and returns the way back. */
    load(other: TableImage<R>): () => void {
      const before = { below, top, topSeq, seq }
      below = other.layers
      seq = other.seq
      top = nothing
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
const MAX_THAWED = 10_000
// A read looks through every layer, so small ones are joined; joining this many rows costs well under 1 ms.
const JOINED_ROWS = 512

/** Joins the uppermost layers while the upper is not much smaller than the one below it: few are left of many. */
function withFewLayers<R>(spec: TableSpec<R>, layers: readonly Layer<R>[]): readonly Layer<R>[] {
  const [lower, upper] = layers.slice(-2) as [Layer<R>, Layer<R>]
  // The one at the bottom stays: other worlds stand on it, and changes are told against it.
  if (layers.length < 3 || lower.rows.size > 2 * upper.rows.size) return layers
  if (lower.rows.size + upper.rows.size > JOINED_ROWS) return layers
  const joined = createTable(spec, { layers: layers.slice(0, -2), seq: lower.firstSeq })
  const ids = new Set([...lower.rows.keys(), ...upper.rows.keys()])
  const entries = [...ids].map((id) => [id, findIn(layers, id)] as const)
  entries.sort(([, a], [, b]) => (a?.seq ?? 0) - (b?.seq ?? 0))
  for (const [id, entry] of entries) {
    const old = joined.entry(id)
    // One made anew after its removal has another place in the lists.
    if (old && old.seq !== entry?.seq) joined.remove(id)
    if (entry) joined.place(id, entry)
  }
  // Joined, it may in turn not be much smaller than the one below.
  return joined.image().layers
}

/** What the uppermost of the lowest `depth` layers that knows an id has under it; `null`: it was removed there. */
function findLast<R>(layers: readonly Layer<R>[], id: string, depth = layers.length) {
  for (let i = depth - 1; i >= 0; i--) {
    const entry = layers[i]!.rows.get(id)
    if (entry !== undefined) return entry
  }
  return undefined
}

/** What stands in a stack of layers, or in the lowest `depth` of them, under an id. */
const findIn = <R>(layers: readonly Layer<R>[], id: string, depth?: number) =>
  findLast(layers, id, depth) ?? undefined

/** A row that is not the same in two images; `undefined` where it is not there. */
export type RowDifference<R> = { id: string; before: R | undefined; after: R | undefined }

/**
 * The rows that differ between two images, in the order they came; layers that both share cost nothing. Each `yield` is
 * a place to pause.
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

/** A table's content made from rows given oldest first: the fixtures' base. */
export function imageOf<R>(spec: TableSpec<R>, rows: readonly R[]): TableImage<R> {
  const table = createTable(spec)
  for (const row of rows) table.put(row)
  const { layers, seq } = table.image()
  return { layers: layers.slice(-1), seq }
}

/**
 * Renders an entry's JSON text and keeps it from its second use on; a row has room for two views.
 * Most rows are shown once, by the call that makes them, and a kept text is most of what a row weighs.
 */
export function memoizedText<R>(slot: 'text' | 'otherText', render: (row: R) => string) {
  return (entry: Entry<R>): string => {
    const kept = entry[slot]
    if (kept) return kept
    const text = render(entry.row)
    entry[slot] = kept === undefined ? '' : text
    return text
  }
}
