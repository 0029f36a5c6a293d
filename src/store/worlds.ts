import { contentOf, rowsOf } from './table.ts'
import { type AtomicChange, type Op, UnitOfWork, type WorldAbout } from './unit-of-work.ts'
import {
  type Base,
  type Images,
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
  /** The bases whose rows the journal has. */
  readonly journaled = new Set<string>()
  #isReplaying = false

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
    const known = this.bases.get(key)
    if (known) return known
    const images =
      IMAGES.get(rows) ?? this.perTable((table) => contentOf(this.specs[table], rows[table] ?? []))
    IMAGES.set(rows, images)
    return { key, images: images as Images<Rows> }
  }

  get empty(): Base<Rows> {
    return this.makeBase('', {})
  }

  useBase(base: Base<Rows>) {
    const { key, images } = base
    const before = this.bases.get(key)
    this.bases.set(key, base)
    if (this.journaled.has(key) || (before && !this.unit.write)) return
    this.journaled.add(key)
    // Only a journal needs the rows.
    const rows = this.unit.write && this.perTable((table) => [...rowsOf(images[table])])
    this.unit.record(NO_WORLD, ['base', key, (rows ?? {}) as BaseRows<unknown>], () => {
      this.journaled.delete(key)
      if (!before) this.bases.delete(key)
    })
  }

  /** Removes the bases that no world and no snapshot uses. */
  dropUnusedBases() {
    // Later changes of a journal may need them.
    if (this.#isReplaying) return
    const used = new Set<string | undefined>()
    for (const { base, about, snapshots } of this.byName.values()) {
      used.add(base).add(about.base)
      for (const snapshot of snapshots.values()) used.add(snapshot.base)
    }
    for (const key of [...this.bases.keys()])
      if (!used.has(key)) {
        this.bases.delete(key)
        this.journaled.delete(key)
      }
  }

  // ---- worlds

  /** Creates a world on a base. `about` is stored with it. */
  add(name: string, base: Base<Rows>, about: WorldAbout = {}): WorldTables<Rows> {
    return this.unit.change(() => {
      this.useBase(base)
      const { key, images } = base
      return this.#enter(name, about, { base: key, images, counter: 0 }, [
        'world',
        name,
        key,
        about,
      ])
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
    this.journaled.clear()
  }

  // ---- reading a journal

  /** Makes a change of a journal again. Throws if it does not fit: something before it is missing. */
  replay(change: AtomicChange) {
    this.#isReplaying = true
    try {
      for (const [name, counter, ops] of change) {
        for (const op of ops) this.#replayOp(name, op)
        const world = this.byName.get(name)
        if (world) world.random.counter = counter
      }
    } finally {
      this.#isReplaying = false
    }
  }

  #world(name: string): WorldTables<Rows> {
    const world = this.byName.get(name)
    if (world) return world
    throw new Error(`there is no client ${name}`)
  }

  #base(key: string): Base<Rows> {
    const base = this.bases.get(key)
    if (base) return base
    throw new Error(`there are no fixtures ${key}`)
  }

  /** A world that has a snapshot. */
  #withSnapshot(name: string, snapshot: string): WorldTables<Rows> {
    const world = this.#world(name)
    if (world.snapshots.has(snapshot)) return world
    throw new Error(`client ${name} has no snapshot ${snapshot}`)
  }

  #replayOp(name: string, op: Op) {
    switch (op[0]) {
      case 'base':
        this.bases.set(op[1], this.makeBase(op[1], op[2] as BaseRows<Rows>))
        return
      case 'world':
        this.add(op[1], this.#base(op[2]), op[3])
        return
      case 'fork': {
        const [, fork, source, snapshot, about] = op
        const from = snapshot === null ? this.#world(source) : this.#withSnapshot(source, snapshot)
        this.fork(fork, from, snapshot ?? undefined, about)
        return
      }
      case 'put':
        this.#world(name).tables[op[1] as keyof Rows].put(op[2] as never)
        return
      case 'remove':
        this.#world(name).tables[op[1] as keyof Rows].place(op[2], undefined)
        return
      case 'save':
        this.#world(name).random.counter = op[2]
        this.#world(name).save(op[1])
        return
      case 'restore':
        this.#withSnapshot(name, op[1]).restore(op[1])
        return
      case 'forget':
        this.#world(name).forget(op[1])
        return
      case 'reset':
        this.#world(name).reset(this.#base(op[1]))
        return
      case 'drop':
        this.#world(name).drop()
    }
  }
}
