/** Properties of a world that never change: the base that a reset restores, if the world has its own. */
export type WorldAbout = { readonly base?: string }

/** The layer that a world of the document is built on, besides its base: layer number by table name. */
export type LayerNumbers = Readonly<Record<string, number>>

/**
 * One step of rebuilding the state; the document and the journal are both lists of these. A layer that several worlds
 * or snapshots share is in the document once. A snapshot is the state of its world at that time, followed by `save`.
 */
export type Op =
  | ['base', key: string]
  | ['layer', number: number, table: string, baseKey: string, parent: number]
  | [
      'world',
      name: string,
      baseKey: string,
      counter: number,
      layers: LayerNumbers,
      about: WorldAbout,
    ]
  | ['fork', name: string, source: string, snapshot: string | null, about: WorldAbout]
  | ['save', snapshot: string, counter: number]
  | ['restore', snapshot: string]
  | ['take', source: string]
  | ['forget', snapshot: string]
  | ['put', table: string, row: unknown]
  | ['set', table: string, id: string, fields: unknown]
  | ['remove', table: string, id: string]
  | ['drop', name: string]
  | ['reset', baseKey: string]

/** What a change did to one world. */
export type WorldChange = [world: string, counter: number, ops: Op[]]

/** What one atomic change did, one part for each world. */
export type AtomicChange = readonly WorldChange[]

/** A new row is written in full, a changed row as its id and the changed fields. */
export function opOfPut(table: string, id: string, row: object, before: object | undefined): Op {
  const changed = before && changedFields(before, row)
  return changed ? ['set', table, id, changed] : ['put', table, row]
}

/** The changed fields of a row; `undefined` if a field was removed. */
function changedFields(before: object, row: object): object | undefined {
  const old = before as Record<string, unknown>
  const changed: Record<string, unknown> = {}
  let commonFields = 0
  for (const name in row) {
    const value = (row as Record<string, unknown>)[name]
    const oldValue = old[name]
    // Most fields have a value, which saves the search for their name.
    if (oldValue !== undefined || name in old) commonFields++
    if (value !== oldValue) {
      if (value === undefined) return undefined
      changed[name] = value
    }
  }
  for (const _ in old) commonFields--
  return commonFields === 0 ? changed : undefined
}
