import type { Entry } from './entry.ts'
import { findEntry, type KeyOf, type KeyOwner, type Layers, rowsInOrder } from './layers.ts'

/** An index for one row. */
type Unique<R> = { name: string; keyOf: KeyOf<R> }

/**
 * The owners of unique keys in a layer. They are collected at the first search and kept from then on, so that a start
 * need not collect those of many rows.
 */
function ownersIn<R>(layers: Layers<R>, level: number, unique: Unique<R>) {
  const { name, keyOf } = unique
  const { owners } = layers[level]!
  if (!owners[name]) {
    owners[name] = new Map()
    const upTo = layers.slice(0, level + 1)
    for (const [id, entry] of rowsInOrder(layers[level]!)) {
      const old = findEntry(layers, id, level)
      const oldKey = old && keyOf(old.row)
      const key = entry ? keyOf(entry.row) : undefined
      if (key === oldKey) continue
      if (oldKey !== undefined) removeOwner(upTo, unique, oldKey, old!)
      if (key !== undefined) addOwner(upTo, unique, key, entry!)
    }
  }
  return owners[name]
}

/** The owner of a unique key in the lowest `depth` layers; `undefined` if no row has it. */
function findOwner<R>(
  layers: Layers<R>,
  unique: Unique<R>,
  key: string,
  depth: number = layers.length,
): KeyOwner | undefined {
  for (let i = depth - 1; i >= 0; i--) {
    const owner = ownersIn(layers, i, unique).get(key)
    if (owner !== undefined) return owner ?? undefined
  }
  return undefined
}

/** The id of the first row that has a unique key; `undefined` if no row has it. */
export function findUniqueId<R>(
  layers: Layers<R>,
  unique: Unique<R>,
  key: string,
): string | undefined {
  const owner = findOwner(layers, unique, key)
  return typeof owner === 'object' ? owner[0] : owner
}

/**
 * Gives a unique key of the top layer to one more row: a reading permits several, and rows that swap keys are read back
 * one by one.
 */
export function addOwner<R>(layers: Layers<R>, unique: Unique<R>, key: string, { id }: Entry<R>) {
  const own = layers.at(-1)!.owners[unique.name]
  if (!own) return
  const owner = findOwner(layers, unique, key)
  // A list of this layer grows; that of a lower layer never changes.
  if (Array.isArray(owner) && own.get(key) === owner) owner.push(id)
  else own.set(key, owner === undefined ? id : [owner, id].flat())
}

/** Takes a unique key of the top layer from a row. */
export function removeOwner<R>(
  layers: Layers<R>,
  unique: Unique<R>,
  key: string,
  { id }: Entry<R>,
) {
  const own = layers.at(-1)!.owners[unique.name]
  if (!own) return
  const left = [findOwner(layers, unique, key) ?? []].flat().filter((one) => one !== id)
  if (left.length > 0) own.set(key, left.length === 1 ? left[0]! : left)
  else if (findOwner(layers, unique, key, layers.length - 1) === undefined) own.delete(key)
  else own.set(key, null)
}
