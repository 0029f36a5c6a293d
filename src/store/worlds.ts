import { SandboxError } from '../model/errors.ts'
import { type Content, contentOf, type Entry, rowsOf, Table, type TableSpec } from './table.ts'
import {
  type AtomicChange,
  type Draws,
  type Op,
  UnitOfWork,
  type WorldAbout,
  type WorldOp,
} from './unit-of-work.ts'

export type Specs<Rows> = { readonly [K in keyof Rows]: TableSpec<Rows[K]> }
/** A world's content at one moment, by table. */
export type Images<Rows> = { [K in keyof Rows]: Content<Rows[K]> }
/** The rows of a base, oldest first, by table. */
export type BaseRows<Rows> = { [K in keyof Rows]?: readonly Rows[K][] }
/** The content that worlds start with and that a reset restores. */
export type Base<Rows> = { key: string; images: Images<Rows> }
/** The state of a world at one moment: the key of its base, its tables, its random counter. */
export type Snapshot<Rows> = { base: string; images: Images<Rows>; counter: number }

type Undo = () => void

/** The tables and the random counter of one world. All changes go through it. */
export class WorldTables<Rows> {
  readonly name: string
  readonly about: WorldAbout
  readonly tables: { readonly [K in keyof Rows]: Table<Rows[K]> }
  /** The position in the world's random series; stored with every change. */
  readonly random: Draws
  readonly unit: UnitOfWork
  readonly #worlds: Worlds<Rows>
  readonly snapshots = new Map<string, Snapshot<Rows>>()
  /** The key of the base that it started from. */
  base: string
  #isDropped = false

  constructor(worlds: Worlds<Rows>, name: string, about: WorldAbout, state: Snapshot<Rows>) {
    this.name = name
    this.about = about
    this.unit = worlds.unit
    this.#worlds = worlds
    this.base = state.base
    this.random = { counter: state.counter }
    this.tables = worlds.perTable(
      (table) => new Table(worlds.specs[table], state.images[table]),
    ) as WorldTables<Rows>['tables']
  }

  isOfBase(table: keyof Rows & string, id: string): boolean {
    const { bases, fixtures } = this.#worlds
    const own = this.base === '' ? undefined : (bases.get(this.base) ?? fixtures.get(this.base))
    // An imported state doesn't say with what it started.
    const known = own ? [own] : [...fixtures.values()]
    return known.some(({ images }) => images[table].rows.has(id))
  }

  get empty(): Base<Rows> {
    return this.#worlds.makeBase('', {})
  }

  /** The present state, which never changes. The next change of a table copies that table. */
  now(): Snapshot<Rows> {
    const images = this.#worlds.perTable((table) => this.tables[table].snapshot()) as Images<Rows>
    return { base: this.base, images, counter: this.random.counter }
  }

  // ---- changing

  /** `change` of the store, which also restores this world's random counter if it fails. */
  readonly change = <T>(run: () => T): T => {
    if (this.#isDropped) throw new SandboxError('not_found', `The client ${this.name} was deleted.`)
    return this.unit.change(run, this.random)
  }

  put<K extends keyof Rows & string>(table: K, row: Rows[K]): Entry<Rows[K]> {
    this.do(['put', table, row])
    return this.tables[table].entry(this.#worlds.specs[table].id(row))!
  }

  remove<K extends keyof Rows & string>(table: K, id: string): void {
    this.do(['remove', table, id])
  }

  reset(base: Base<Rows>): void {
    this.change(() => {
      this.#worlds.useBase(base)
      this.do(['reset', base.key])
    })
  }

  /** Stores a snapshot of the current state under a name; replaces an existing one. */
  save(snapshot: string): void {
    this.do(['save', snapshot, this.random.counter])
  }

  /** Restores a snapshot; the snapshot is not deleted. */
  restore(snapshot: string): void {
    this.do(['restore', snapshot])
  }

  forget(snapshot: string): void {
    this.do(['forget', snapshot])
  }

  /** Deletes the world; later changes of it throw `not_found`. */
  drop(): void {
    this.do(['drop'])
  }

  /** Makes one step of a change. Throws if it does not fit. */
  do(op: WorldOp): void {
    if (!this.unit.isOpen) {
      this.change(() => this.do(op))
      return
    }
    const undo = this.#apply(op)
    if (undo) this.unit.record(this, op, undo)
  }

  /** Makes a step; returns its rollback, or `undefined` if there was nothing to do. */
  #apply(op: WorldOp): Undo | undefined {
    switch (op[0]) {
      case 'put':
        return this.tables[op[1] as keyof Rows].put(op[2] as Rows[keyof Rows])
      case 'remove':
        return this.tables[op[1] as keyof Rows].delete(op[2])
      case 'save':
        return this.setSnapshot(op[1], { ...this.now(), counter: op[2] })
      case 'forget':
        return this.setSnapshot(op[1], undefined)
      case 'restore':
        return this.#load(this.snapshot(op[1]))
      case 'reset':
        return this.#load(this.#worlds.stateOf(op[1]))
      case 'drop':
        this.#isDropped = true
        this.#worlds.byName.delete(this.name)
        this.unit.afterCommit(() => this.#worlds.dropUnusedBases())
        return () => {
          this.#isDropped = false
          this.#worlds.byName.set(this.name, this)
        }
    }
  }

  snapshot(name: string): Snapshot<Rows> {
    const found = this.snapshots.get(name)
    if (found) return found
    throw new Error(`client ${this.name} has no snapshot ${name}`)
  }

  #load({ base, images, counter }: Snapshot<Rows>): Undo {
    const tables = Object.entries(this.tables) as [keyof Rows, Table<unknown>][]
    const undo = tables.map(([name, table]) => table.restore(images[name] as Content<unknown>))
    const [oldBase, oldCounter] = [this.base, this.random.counter]
    this.base = base
    this.random.counter = counter
    return () => {
      for (const rollback of undo) rollback()
      this.base = oldBase
      this.random.counter = oldCounter
    }
  }

  setSnapshot(name: string, state: Snapshot<Rows> | undefined): Undo {
    const before = this.snapshots.get(name)
    const set = (to: Snapshot<Rows> | undefined) => {
      if (to) this.snapshots.set(name, to)
      else this.snapshots.delete(name)
    }
    set(state)
    return () => set(before)
  }
}

type EnterOp = Extract<Op, readonly ['world' | 'fork', ...unknown[]]>
type ForkOp = Extract<Op, readonly ['fork', ...unknown[]]>

// The bases belong to no world.
const NO_WORLD = { name: '', random: { counter: 0 } }

export class Worlds<Rows> {
  readonly specs: Specs<Rows>
  readonly names: readonly (keyof Rows & string)[]
  readonly unit = new UnitOfWork()
  readonly byName = new Map<string, WorldTables<Rows>>()
  readonly bases = new Map<string, Base<Rows>>()
  /** The fixtures of this start: a document names those of its worlds, and doesn't have them. */
  readonly fixtures = new Map<string, Base<Rows>>()
  /** The bases whose rows the journal has. */
  readonly journaled = new Set<string>()

  constructor(specs: Specs<Rows>) {
    this.specs = specs
    this.names = Object.keys(specs) as (keyof Rows & string)[]
  }

  perTable(make: (table: keyof Rows & string) => unknown): unknown {
    return Object.fromEntries(this.names.map((table) => [table, make(table)]))
  }

  // ---- bases

  /** Creates a base from rows, oldest first. The key identifies the content: equal keys mean equal rows. */
  makeBase(key: string, rows: BaseRows<Rows>): Base<Rows> {
    const images = () =>
      this.perTable((table) => contentOf(this.specs[table], rows[table] ?? [])) as Images<Rows>
    return this.bases.get(key) ?? { key, images: images() }
  }

  /** Keeps a base for the worlds that need it, in the journal too. */
  useBase(base: Base<Rows>): void {
    const { key, images } = base
    const before = this.bases.get(key)
    this.bases.set(key, base)
    if (this.journaled.has(key)) return
    this.journaled.add(key)
    const rows = this.perTable((table) => rowsOf(images[table])) as BaseRows<unknown>
    this.unit.record(NO_WORLD, ['base', key, rows], () => {
      this.journaled.delete(key)
      if (!before) this.bases.delete(key)
    })
  }

  stateOf(key: string): Snapshot<Rows> {
    const base = this.bases.get(key)
    if (base) return { base: key, images: base.images, counter: 0 }
    throw new Error(`there are no fixtures ${key}`)
  }

  dropUnusedBases(): void {
    const used = new Set<string | undefined>()
    for (const { base, about, snapshots } of this.byName.values()) {
      used.add(base).add(about.base)
      for (const snapshot of snapshots.values()) used.add(snapshot.base)
    }
    for (const key of this.bases.keys())
      if (!used.has(key)) {
        this.bases.delete(key)
        this.journaled.delete(key)
      }
  }

  // ---- worlds

  add(name: string, base: Base<Rows>, about: WorldAbout = {}): WorldTables<Rows> {
    return this.unit.change(() => {
      this.useBase(base)
      return this.#enter(['world', name, base.key, about])
    })
  }

  /** Creates a world with the state of another world or of one of its snapshots; the rows are shared. */
  fork(name: string, source: WorldTables<Rows>, snapshot: string | undefined, about: WorldAbout) {
    return this.unit.change(() => this.#enter(['fork', name, source.name, snapshot ?? null, about]))
  }

  #enter(op: EnterOp): WorldTables<Rows> {
    const [, name] = op
    const [about, state] = op[0] === 'world' ? [op[3], this.stateOf(op[2])] : this.#forked(op)
    const world = this.restore(name, about, state)
    this.unit.record(world, op, () => this.byName.delete(name))
    return world
  }

  #forked([, , from, snapshot, about]: ForkOp): [WorldAbout, Snapshot<Rows>] {
    const source = this.#world(from)
    return [about, snapshot === null ? source.now() : source.snapshot(snapshot)]
  }

  /** Puts a world with a state in its place. */
  restore(name: string, about: WorldAbout, state: Snapshot<Rows>): WorldTables<Rows> {
    const world = new WorldTables(this, name, about, state)
    this.byName.set(name, world)
    return world
  }

  #world(name: string): WorldTables<Rows> {
    const world = this.byName.get(name)
    if (world) return world
    throw new Error(`there is no client ${name}`)
  }

  clear(): void {
    this.byName.clear()
    this.bases.clear()
    this.journaled.clear()
  }

  // ---- reading a journal

  /** Makes the changes of a journal again, all or none; `onMisfit` throws. */
  replay<C extends { change: AtomicChange }>(
    changes: readonly C[],
    onMisfit: (change: C, error: Error) => never,
  ): void {
    // One change around all: later ones may need a base that is unused in between.
    this.unit.change(() => {
      for (const one of changes)
        try {
          this.#replayOne(one.change)
        } catch (error) {
          onMisfit(one, error as Error)
        }
    })
  }

  #replayOne(change: AtomicChange) {
    for (const [name, counter, ops] of change) {
      for (const op of ops)
        if (op[0] === 'base') this.bases.set(op[1], this.makeBase(op[1], op[2] as BaseRows<Rows>))
        else if (op[0] === 'world' || op[0] === 'fork') this.#enter(op)
        else this.#world(name).do(op)
      const world = this.byName.get(name)
      if (world) world.random.counter = counter
    }
  }
}
