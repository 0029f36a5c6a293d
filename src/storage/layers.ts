import { type Entry, isBefore, type Moment } from './entry.ts'

export type KeyOf<R> = (row: R) => string | undefined

/**
 * How a table finds its rows: `at` is the sort key, which never changes for a row; each index maps a row to its key,
 * if it has one.
 */
export type TableSpec<R> = {
  id: (row: R) => string
  at: (row: R) => Moment
  indexes: Readonly<Record<string, KeyOf<R>>>
  /** Indexes for one row: if several rows have a key, the first one is found. */
  uniques?: Readonly<Record<string, KeyOf<R>>>
  /**
   * Groups of fields whose values many rows share: files have these values once, and so has the memory after a start.
   * The first field of a group decides about the others.
   */
  repeated?: readonly (readonly (keyof R & string)[])[]
}

/** The rows of one index key that a layer adds (oldest first), and the rows of lower layers that it removes. */
export type PostingList = { added: string[]; removed: Set<string> | undefined }

/** The same; just an id if the layer adds one row, because many keys have only one. */
export type Postings = string | PostingList

/** The postings as a list. */
export const listOf = (postings: Postings): PostingList =>
  typeof postings === 'string' ? { added: [postings], removed: undefined } : postings

/** The id of the row that has a unique key, or the ids if several rows have it, first come first. */
export type KeyOwner = string | string[]

/** The content of one layer: rows by id (`null`: removed here), and postings by index and key. */
export type Layer<R> = {
  rows: Map<string, Entry<R> | null>
  indexes: Record<string, Map<string, Postings>>
  /** The owners of unique keys, from their first search on; `null`: removed here. */
  owners: Record<string, Map<string, KeyOwner | null>>
  /** The highest `seq` below this layer and in it, and whether a rollback has put a row behind a newer one. */
  firstSeq: number
  lastSeq: number
  disordered: boolean
  /** The newest entry that was ever in this layer: an entry after it comes last in each of the postings. */
  newest: Entry<R> | undefined
}

/** Layers, the lowest first: a read searches from the last one down. */
export type Layers<R> = readonly Layer<R>[]

/** The immutable content of a table at one moment; forks, snapshots and resets share it. */
export type TableImage<R> = { layers: Layers<R>; seq: number }

export const emptyLayer = <R>(spec: TableSpec<R>, seq: number): Layer<R> => ({
  rows: new Map(),
  indexes: Object.fromEntries(Object.keys(spec.indexes).map((name) => [name, new Map()])),
  owners: {},
  firstSeq: seq,
  lastSeq: seq,
  disordered: false,
  newest: undefined,
})

/** The newest entry of an id in the lowest `depth` layers; `null`: removed there; `undefined`: never there. */
function findLast<R>(layers: Layers<R>, id: string, depth: number) {
  for (let i = depth - 1; i >= 0; i--) {
    const entry = layers[i]!.rows.get(id)
    if (entry !== undefined) return entry
  }
  return undefined
}

/** The entry of an id in the lowest `depth` layers; `undefined` if there is none. */
export const findEntry = <R>(
  layers: Layers<R>,
  id: string,
  depth: number = layers.length,
): Entry<R> | undefined => findLast(layers, id, depth) ?? undefined

/** The number of rows in all layers: an upper limit of the number of rows that exist. */
export const sizeOf = (layers: readonly { rows: { size: number } }[]): number =>
  layers.reduce((sum, { rows }) => sum + rows.size, 0)

// ---- rows in insertion order

/** The rows of a layer in insertion order. */
export function rowsInOrder<R>(layer: Layer<R>): Layer<R>['rows'] {
  if (layer.disordered) {
    const entries = [...layer.rows]
    entries.sort(([, a], [, b]) => (a?.seq ?? 0) - (b?.seq ?? 0))
    layer.rows = new Map(entries)
    layer.disordered = false
  }
  return layer.rows
}

/**
 * The changes over the lowest `depth` layers, in the order to apply them: rows that were set, ids that were removed. A
 * row that was removed and inserted again appears as both.
 *
 * Works layer by layer, so that nothing is collected or sorted: a row is yielded with the layer that defined its
 * position.
 */
export function* changesOver<R>(
  layers: Layers<R>,
  depth: number,
): Generator<{ row: R } | { removed: string }> {
  for (let i = depth; i < layers.length; i++) {
    const lower = layers.slice(depth, i)
    const upper = layers.slice(i + 1)
    for (const [id, own] of rowsInOrder(layers[i]!)) {
      const later = findLast(upper, id, upper.length)
      const entry = later === undefined ? own : later
      if (!lower.some(({ rows }) => rows.has(id))) {
        const old = findEntry(layers, id, depth)
        if (old && old.seq !== entry?.seq) yield { removed: id }
      }
      if (!entry || own?.seq !== entry.seq) continue
      if (!lower.some(({ rows }) => rows.get(id)?.seq === entry.seq)) yield { row: entry.row }
    }
  }
}

/** Every row in insertion order. */
export function* rowsOf<R>(layers: Layers<R>): Generator<R> {
  for (const one of changesOver(layers, 0)) if ('row' in one) yield one.row
}

// ---- rows of one index key

/** The number of rows of one key. */
export function countOfKey<R>(layers: Layers<R>, index: string, key: string): number {
  let total = 0
  for (const layer of layers) {
    const postings = layer.indexes[index]!.get(key)
    if (typeof postings === 'string') total++
    else if (postings) total += postings.added.length - (postings.removed?.size ?? 0)
  }
  return total
}

/** The ids of one key, newest first, from `offset` on. */
export function idsNewestFirst<R>(
  layers: Layers<R>,
  index: string,
  key: string,
  offset: number,
  limit: number,
): string[] {
  const stack: PostingList[] = []
  for (const layer of layers) {
    const postings = layer.indexes[index]!.get(key)
    if (postings) stack.push(listOf(postings))
  }
  if (!isInOrder(layers, stack)) return mergeNewestFirst(layers, stack, offset, limit)
  const ids: string[] = []
  let skip = offset
  for (let i = stack.length - 1; i >= 0 && ids.length < limit; i--) {
    const { added } = stack[i]!
    for (let j = added.length - 1 - skip; j >= 0 && ids.length < limit; j--) ids.push(added[j]!)
    skip = Math.max(0, skip - added.length)
  }
  return ids
}

/** Whether no layer removes rows and the layers do not overlap in time. */
const isInOrder = <R>(layers: Layers<R>, stack: readonly PostingList[]): boolean =>
  stack.every(({ removed }) => !removed?.size) &&
  stack.every(
    ({ added }, i) =>
      i === 0 ||
      isBefore(findEntry(layers, stack[i - 1]!.added.at(-1)!)!, findEntry(layers, added[0]!)!),
  )

/** The rare case: a layer with rows older than those below it, or with removed rows of a lower layer. */
function mergeNewestFirst<R>(
  layers: Layers<R>,
  stack: readonly PostingList[],
  offset: number,
  limit: number,
): string[] {
  const heads = stack.map(({ added }, level) => ({ added, level, next: added.length }))
  const step = (head: (typeof heads)[number]): Entry<R> | undefined => {
    for (head.next--; head.next >= 0; head.next--) {
      const id = head.added[head.next]!
      if (!stack.some(({ removed }, level) => level > head.level && removed?.has(id)))
        return findEntry(layers, id)!
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

// ---- two images

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
  const changed = [...before.layers.slice(shared), ...after.layers.slice(shared)]
  const ids = new Set(changed.flatMap((layer) => [...layer.rows.keys()]))
  const found: (RowDifference<R> & { seq: number })[] = []
  for (const id of ids) {
    yield
    const [a, b] = [findEntry(before.layers, id), findEntry(after.layers, id)]
    if (a?.row === b?.row || JSON.stringify(a?.row) === JSON.stringify(b?.row)) continue
    found.push({ id, before: a?.row, after: b?.row, seq: (b ?? a)!.seq })
  }
  found.sort((a, b) => a.seq - b.seq)
  return found.map(({ seq: _, ...difference }) => difference)
}
