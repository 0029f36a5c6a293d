import type { Op } from './document.ts'
import type { Base, Snapshot, Specs, WorldTables } from './store.ts'
import { createTable, type TableImage } from './table.ts'

type Layer = TableImage<unknown>['layers'][number]
/** A state to write: the current state of a world, or one of its snapshots. */
type StoredState<Rows> = {
  world: WorldTables<Rows>
  snapshot: string | undefined
  state: Snapshot<Rows>
}

/**
 * Captures all worlds at one moment and returns a function that generates their ops, any number of times and
 * independent of later changes. Layers that several states share are written once.
 */
export function takeCheckpoint<Rows>(
  specs: Specs<Rows>,
  bases: readonly Base<Rows>[],
  worlds: Iterable<WorldTables<Rows>>,
): () => Generator<Op> {
  type Name = keyof Rows & string
  const names = Object.keys(specs as object) as Name[]
  const states: StoredState<Rows>[] = []
  for (const world of worlds) {
    // A snapshot is written as an earlier state of its world, before the current state.
    for (const [snapshot, state] of world.snapshots) states.push({ world, snapshot, state })
    states.push({ world, snapshot: undefined, state: world.now() })
  }
  const layersOf = ({ state }: StoredState<Rows>, table: Name) =>
    state.images[table].layers as readonly Layer[]
  const uses = new Map<Layer, number>()
  for (const stored of states)
    for (const table of names)
      for (const layer of layersOf(stored, table).slice(1))
        uses.set(layer, (uses.get(layer) ?? 0) + 1)

  /** The number of lowest layers that a state shares with another. */
  function sharedDepth(layers: readonly Layer[]): number {
    let depth = 1
    while (depth < layers.length && uses.get(layers[depth]!)! > 1) depth++
    return depth
  }

  function* changesOf(table: Name, image: TableImage<never>, depth: number): Generator<Op> {
    for (const one of createTable(specs[table] as never, image).changes(depth))
      yield 'row' in one ? ['put', table, one.row] : ['remove', table, one.removed]
  }

  return function* () {
    for (const { key, images } of bases) {
      yield ['base', key]
      for (const table of names)
        for (const row of createTable(specs[table], images[table]).rows()) yield ['put', table, row]
    }
    const numbers = new Map<Layer, number>()
    for (const stored of states) {
      const { world, snapshot, state } = stored
      const { base, images, counter } = state
      const sharedLayers: Record<string, number> = {}
      const depths = {} as Record<Name, number>
      for (const table of names) {
        const layers = layersOf(stored, table)
        depths[table] = sharedDepth(layers)
        let parent = 0
        for (let i = 1; i < depths[table]; i++) {
          let number = numbers.get(layers[i]!)
          if (number === undefined) {
            number = numbers.size + 1
            numbers.set(layers[i]!, number)
            yield ['layer', number, table, base.key, parent]
            const image = { layers: layers.slice(0, i + 1), seq: 0 } as unknown as TableImage<never>
            yield* changesOf(table, image, i)
          }
          parent = number
        }
        if (parent > 0) sharedLayers[table] = parent
      }
      yield ['world', world.name, base.key, counter, sharedLayers, world.about]
      for (const table of names)
        yield* changesOf(table, images[table] as TableImage<never>, depths[table])
      if (snapshot !== undefined) yield ['save', snapshot, counter]
    }
  }
}
