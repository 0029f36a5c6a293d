import { changesOver, type Layer, type Layers, rowsOf } from './layers.ts'
import type { AtomicChange, LayerNumbers, Op } from './op.ts'
import { Table } from './table.ts'
import type { Base, Images, Snapshot, WorldTables } from './world-tables.ts'
import type { BaseRows, Worlds } from './worlds.ts'

// ---- state to ops

/** A state to write: the current state of a world, or one of its snapshots. */
type StoredState<Rows> = {
  world: WorldTables<Rows>
  snapshot: string | undefined
  state: Snapshot<Rows>
}

/**
 * Captures all worlds at one moment and returns their ops. They do not depend on later changes as long as the layers
 * are kept frozen (`keepFrozen`). Layers that several states share are written once.
 */
export function opsOf<Rows>(worlds: Worlds<Rows>): Iterable<Op> {
  const states: StoredState<Rows>[] = []
  for (const world of worlds.byName.values()) {
    // A snapshot is written as an earlier state of its world, before the current state.
    for (const [snapshot, state] of world.snapshots) states.push({ world, snapshot, state })
    states.push({ world, snapshot: undefined, state: world.now() })
  }
  return new StateWriter(worlds.names, [...worlds.bases.values()], states).ops()
}

/** Writes states as ops, and numbers the layers that several of them share. */
class StateWriter<Rows> {
  readonly #names: readonly (keyof Rows & string)[]
  readonly #bases: readonly Base<Rows>[]
  readonly #states: readonly StoredState<Rows>[]
  /** The number of states that use a layer. */
  readonly #uses = new Map<object, number>()
  /** The numbers of the shared layers that are written. */
  readonly #numbers = new Map<object, number>()

  constructor(
    names: readonly (keyof Rows & string)[],
    bases: readonly Base<Rows>[],
    states: readonly StoredState<Rows>[],
  ) {
    this.#names = names
    this.#bases = bases
    this.#states = states
    for (const { state } of states)
      for (const table of names)
        for (const layer of state.images[table].layers.slice(1))
          this.#uses.set(layer, (this.#uses.get(layer) ?? 0) + 1)
  }

  *ops(): Generator<Op> {
    for (const { key, images } of this.#bases) {
      yield ['base', key]
      for (const table of this.#names)
        for (const row of rowsOf(images[table].layers)) yield ['put', table, row]
    }
    for (const { world, snapshot, state } of this.#states) {
      const { base, images, counter } = state
      const shared: Record<string, number> = {}
      for (const table of this.#names) {
        const number = yield* this.#sharedLayers(base.key, table, images[table].layers)
        if (number > 0) shared[table] = number
      }
      yield ['world', world.name, base.key, counter, shared, world.about]
      for (const table of this.#names) {
        const { layers } = images[table]
        yield* changeOps(table, layers, this.#sharedDepth(layers))
      }
      if (snapshot !== undefined) yield ['save', snapshot, counter]
    }
  }

  /** The number of lowest layers that a state shares with another. */
  #sharedDepth(layers: readonly object[]): number {
    let depth = 1
    while (depth < layers.length && this.#uses.get(layers[depth]!)! > 1) depth++
    return depth
  }

  /** Writes the shared layers of a table that are not written yet; returns the number of the uppermost one, or 0. */
  *#sharedLayers<R>(baseKey: string, table: string, layers: Layers<R>): Generator<Op, number> {
    const depth = this.#sharedDepth(layers)
    let parent = 0
    for (let i = 1; i < depth; i++) {
      let number = this.#numbers.get(layers[i]!)
      if (number === undefined) {
        number = this.#numbers.size + 1
        this.#numbers.set(layers[i]!, number)
        yield ['layer', number, table, baseKey, parent]
        yield* changeOps(table, layers.slice(0, i + 1), i)
      }
      parent = number
    }
    return parent
  }
}

function* changeOps<R>(table: string, layers: readonly Layer<R>[], depth: number): Generator<Op> {
  for (const one of changesOver(layers, depth))
    yield 'row' in one ? ['put', table, one.row] : ['remove', table, one.removed]
}

// ---- ops to state

/** Applies the ops of a document and of journals, to rebuild the worlds. */
export class OpReader<Rows> {
  readonly #worlds: Worlds<Rows>
  #world: WorldTables<Rows> | undefined
  #pendingBase: { key: string; rows: Record<string, unknown[]> } | undefined
  #pendingLayer: { number: number; table: Table<unknown> | undefined } | undefined
  readonly #layers = new Map<number, unknown>()
  /** The number of applied ops. */
  applied = 0

  constructor(worlds: Worlds<Rows>) {
    this.#worlds = worlds
  }

  /** Applies an atomic change of a journal. */
  change(change: AtomicChange) {
    for (const [name, counter, ops] of change) {
      this.#world = this.#worlds.byName.get(name)
      for (const op of ops) this.apply(op)
      this.finish()
      if (this.#world) this.#world.random.counter = counter
    }
  }

  /** Applies one op; call `finish` after the last one. */
  apply(op: Op) {
    this.applied++
    const worlds = this.#worlds
    switch (op[0]) {
      case 'base':
        this.finish()
        this.#pendingBase = { key: op[1], rows: {} }
        return
      case 'layer':
        this.finish()
        this.#pendingLayer = { number: op[1], table: this.#tableOfLayer(op[2], op[3], op[4]) }
        return
      case 'world': {
        this.finish()
        const [, name, baseKey, counter, numbers, about] = op
        const base = worlds.bases.get(baseKey)!
        const state = { base, images: this.#imagesOn(base, numbers), counter }
        this.#world = worlds.byName.get(name)
        // In a document, the snapshots of a world come before its current state.
        if (this.#world) this.#world.load(state)
        else this.#world = worlds.restore(name, about, state)
        return
      }
      case 'fork':
        this.#world = worlds.fork(op[1], worlds.byName.get(op[2])!, op[3] ?? undefined, op[4])
        return
      case 'drop':
        worlds.byName.delete(op[1])
        return
      case 'put':
        this.#put(op[1], op[2])
        return
      case 'set':
        this.#target(op[1])?.assign(op[2], op[3] as object)
        return
      case 'remove':
        this.#target(op[1])?.remove(op[2])
        return
      default:
        if (this.#world) this.#applyTo(this.#world, op)
    }
  }

  /** Ends the base or the layer that the last ops belong to. */
  finish() {
    if (this.#pendingBase) {
      const { key, rows } = this.#pendingBase
      this.#worlds.bases.set(key, this.#worlds.makeBase(key, rows as BaseRows<Rows>))
    }
    if (this.#pendingLayer?.table)
      this.#layers.set(this.#pendingLayer.number, this.#pendingLayer.table.image())
    this.#pendingBase = undefined
    this.#pendingLayer = undefined
  }

  #applyTo(world: WorldTables<Rows>, op: Op) {
    switch (op[0]) {
      case 'save':
        world.random.counter = op[2]
        world.save(op[1])
        return
      case 'restore':
        world.restore(op[1])
        return
      case 'forget':
        world.forget(op[1])
        return
      case 'take':
        world.take(this.#worlds.byName.get(op[1])!)
        return
      case 'reset':
        world.reset(this.#worlds.bases.get(op[1])!)
        return
    }
  }

  /** A table on the layers below a new one; `undefined` if this version no longer has it. */
  #tableOfLayer(name: string, baseKey: string, parent: number): Table<unknown> | undefined {
    const table = name as keyof Rows & string
    const spec = this.#worlds.specs[table]
    const base = this.#worlds.bases.get(baseKey)!
    const below = parent === 0 ? base.images[table] : this.#layers.get(parent)!
    return spec && (new Table(spec, below as Images<Rows>[typeof table]) as Table<unknown>)
  }

  #imagesOn(base: Base<Rows>, numbers: LayerNumbers): Images<Rows> {
    const images: Record<string, unknown> = { ...base.images }
    for (const [table, number] of Object.entries(numbers))
      if (table in images) images[table] = this.#layers.get(number)!
    return images as Images<Rows>
  }

  /** The table that the current op changes; `undefined` if this version no longer has it. */
  #target(name: string): Table<unknown> | undefined {
    if (this.#pendingLayer) return this.#pendingLayer.table
    return this.#world?.tables[name as keyof Rows] as Table<unknown> | undefined
  }

  #put(table: string, row: unknown) {
    if (!this.#pendingBase) {
      this.#target(table)?.put(row)
      return
    }
    // Rows of a table that this version no longer has are ignored by `makeBase`.
    this.#pendingBase.rows[table] ??= []
    this.#pendingBase.rows[table].push(row)
  }
}
