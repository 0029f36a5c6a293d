import { type Entry, isBefore } from './entry.ts'
import { findEntry, type Layers, type PostingList, type Postings } from './layers.ts'

type Named = { name: string }

// The postings of the top layer change with its rows; those of the layers below never change.

/** The list of a key, which replaces a single id. */
function storedList(
  keys: Map<string, Postings>,
  key: string,
  postings: Postings | undefined,
): PostingList {
  if (typeof postings === 'object') return postings
  const list = { added: postings === undefined ? [] : [postings], removed: undefined }
  keys.set(key, list)
  return list
}

/** Lists an entry under a key of an index of the top layer. The entry can already be found. */
export function addPosting<R>(layers: Layers<R>, index: Named, key: string, entry: Entry<R>) {
  const { indexes, newest } = layers.at(-1)!
  const keys = indexes[index.name]!
  const postings = keys.get(key)
  if (postings === undefined) {
    keys.set(key, entry.id)
    return
  }
  const { added, removed } = storedList(keys, key, postings)
  if (entry === newest && removed === undefined) {
    added.push(entry.id)
    return
  }
  // A row restored by a rollback is found in the lower layers again; a row that was inserted again has another
  // position.
  if (removed?.has(entry.id) && findEntry(layers, entry.id, layers.length - 1)?.seq === entry.seq) {
    removed.delete(entry.id)
    if (added.length === 0 && removed.size === 0) keys.delete(key)
    return
  }
  const last = added.at(-1)
  if (last === undefined || isBefore(findEntry(layers, last)!, entry)) added.push(entry.id)
  else added.splice(placeOf(layers, added, entry), 0, entry.id)
}

/** Removes an entry from a key of an index. The entry can still be found. */
export function removePosting<R>(layers: Layers<R>, index: Named, key: string, entry: Entry<R>) {
  const keys = layers.at(-1)!.indexes[index.name]!
  const postings = keys.get(key)
  if (postings === entry.id) {
    keys.delete(key)
    return
  }
  const list = storedList(keys, key, postings)
  const { added } = list
  const place = placeOf(layers, added, entry)
  if (added[place] === entry.id) added.splice(place, 1)
  else {
    list.removed ??= new Set()
    list.removed.add(entry.id)
  }
  if (added.length === 0 && !list.removed?.size) keys.delete(key)
}

/** The index of an entry in a list of ids sorted by (at, seq). */
function placeOf<R>(layers: Layers<R>, ids: readonly string[], entry: Entry<R>): number {
  if (ids.at(-1) === entry.id) return ids.length - 1
  let low = 0
  let high = ids.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(findEntry(layers, ids[middle]!)!, entry)) low = middle + 1
    else high = middle
  }
  return low
}
