import { rowsOf, sizeOf } from './layers.ts'
import type { Op, WorldAbout } from './op.ts'
import { imageOf } from './table.ts'
import { UnitOfWork } from './unit-of-work.ts'
import {
  type Base,
  type Images,
  type PinnedState,
  type Snapshot,
  type Specs,
  type WorldHome,
  WorldTables,
} from './world-tables.ts'

/** The rows of a base, oldest first, by table. */
export type BaseRows<Rows> = { [K in keyof Rows]?: readonly Rows[K][] }

// The stores of a process share the images of the same rows.
const IMAGES = new WeakMap<object, unknown>()

// The bases belong to no world.
const NO_WORLD = { name: '', random: { counter: 0 } }

/** The worlds of a store in memory, and the bases that they use. */
export class Worlds<Rows> implements WorldHome<Rows> {
  readonly specs: Specs<Rows>
  readonly names: readonly (keyof Rows & string)[]
  readonly unit = new UnitOfWork()
  readonly byName = new Map<string, WorldTables<Rows>>()
  readonly bases = new Map<string, Base<Rows>>()
  /** The number of readers of frozen layers: pinned states, and a document that is being written. */
  #readers = 0

  constructor(specs: Specs<Rows>) {
    this.specs = specs
    this.names = Object.keys(specs) as (keyof Rows & string)[]
  }

  perTable(make: (table: keyof Rows & string) => unknown): unknown {
    return Object.fromEntries(this.names.map((table) => [table, make(table)]))
  }

  // ---- bases

  /** Creates a base from rows, oldest first, which never change. The key identifies the content: equal keys mean equal rows. */
  makeBase(key: string, rows: BaseRows<Rows>): Base<Rows> {
    const images =
      IMAGES.get(rows) ?? this.perTable((table) => imageOf(this.specs[table], rows[table] ?? []))
    IMAGES.set(rows, images)
    return { key, images: images as Images<Rows> }
  }

  get empty(): Base<Rows> {
    return this.bases.get('') ?? this.makeBase('', {})
  }

  useBase(base: Base<Rows>) {
    if (this.bases.has(base.key)) return
    this.bases.set(base.key, base)
    const undo = () => this.bases.delete(base.key)
    this.unit.record(NO_WORLD, ['base', base.key], undo)
    // Only a journal needs the rows.
    if (!this.unit.write) return
    for (const table of this.names)
      for (const row of rowsOf(base.images[table].layers))
        this.unit.record(NO_WORLD, ['put', table, row], undo)
  }

  /** Removes the bases that no world and no snapshot uses; a base is written again when it is used again. */
  dropUnusedBases() {
    const used = new Set<string | undefined>()
    for (const { base, about, snapshots } of this.byName.values()) {
      used.add(base.key).add(about.base)
      for (const snapshot of snapshots.values()) used.add(snapshot.base.key)
    }
    for (const key of [...this.bases.keys()]) if (!used.has(key)) this.bases.delete(key)
  }

  // ---- worlds

  /** Creates a world on a base. `about` is stored with it. */
  add(name: string, base: Base<Rows>, about: WorldAbout = {}): WorldTables<Rows> {
    return this.unit.change(() => {
      this.useBase(base)
      const state = { base, images: base.images, counter: 0 }
      return this.#enter(name, about, state, ['world', name, base.key, 0, {}, about])
    })
  }

  /** Creates a world with the state of another world or of one of its snapshots; the rows are shared. */
  fork(
    name: string,
    source: WorldTables<Rows>,
    snapshot: string | undefined,
    about: WorldAbout,
  ): WorldTables<Rows> {
    return this.unit.change(() => {
      const state = snapshot === undefined ? source.now() : source.snapshots.get(snapshot)!
      return this.#enter(name, about, state, ['fork', name, source.name, snapshot ?? null, about])
    })
  }

  /** Adds a world with a state that was read from a document. */
  restore(name: string, about: WorldAbout, state: Snapshot<Rows>): WorldTables<Rows> {
    const world = new WorldTables(this, name, about, state)
    this.byName.set(name, world)
    return world
  }

  #enter(name: string, about: WorldAbout, state: Snapshot<Rows>, op: Op): WorldTables<Rows> {
    const world = this.restore(name, about, state)
    this.unit.record(world, op, () => this.byName.delete(name))
    return world
  }

  remove(world: WorldTables<Rows>): () => void {
    this.byName.delete(world.name)
    this.unit.afterCommit(() => this.dropUnusedBases())
    return () => this.byName.set(world.name, world)
  }

  clear() {
    this.byName.clear()
    this.bases.clear()
  }

  // ---- layers

  /** The layers of every world and snapshot; a shared layer is yielded for each user. */
  *#layers() {
    for (const world of this.byName.values()) {
      const view = world.view()
      for (const table of this.names) yield* view[table].layers
      for (const { images } of world.snapshots.values())
        for (const table of this.names) yield* images[table].layers
    }
  }

  /** The rows of all worlds, shared rows counted once: about the number of entries of a document. */
  countRows(): number {
    return sizeOf([...new Set(this.#layers())])
  }

  pin(state: () => Snapshot<Rows>): PinnedState<Rows> {
    // Changes that may still be rolled back must not be read.
    this.unit.flush()
    return { ...state(), release: this.keepFrozen() }
  }

  /** Keeps every frozen layer as it is until the returned function is called. */
  keepFrozen(): () => void {
    this.#readers++
    let isKept = true
    return () => {
      if (!isKept) return
      isKept = false
      if (--this.#readers === 0) this.#unfreeze()
    }
  }

  /** Makes layers mutable that only a reader needed; otherwise each document would add a layer. */
  #unfreeze() {
    // Pending changes would roll back to the frozen layers, so write them first.
    this.unit.flush()
    const users = new Map<object, number>()
    for (const layer of this.#layers()) users.set(layer, (users.get(layer) ?? 0) + 1)
    for (const { tables } of this.byName.values())
      for (const table of this.names) tables[table].unfreeze((layer) => users.get(layer)! > 1)
  }
}
