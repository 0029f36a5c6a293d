import { SandboxError } from '../model/errors.ts'
import type { Content, Entry, TableSpec } from './table.ts'
import { Table } from './table.ts'
import type { Draws, Op, UnitOfWork, WorldAbout } from './unit-of-work.ts'

/** The tables' specs, by table name. */
export type Specs<Rows> = { readonly [K in keyof Rows]: TableSpec<Rows[K]> }
/** A world's content at one moment, by table. */
export type Images<Rows> = { [K in keyof Rows]: Content<Rows[K]> }
/** The content that worlds start with and that a reset restores. */
export type Base<Rows> = { key: string; images: Images<Rows> }
/** The state of a world at one moment: the key of its base, its tables, its random counter. */
export type Snapshot<Rows> = { base: string; images: Images<Rows>; counter: number }

type Tables<Rows> = { readonly [K in keyof Rows]: Table<Rows[K]> }

/** What a world needs of the store that it belongs to. */
export type WorldHome<Rows> = {
  readonly specs: Specs<Rows>
  readonly unit: UnitOfWork
  /** An empty base. */
  readonly empty: Base<Rows>
  /** Builds one value a table. */
  perTable(make: (table: keyof Rows & string) => unknown): unknown
  /** Journals a base, if the journal does not have it yet. */
  useBase(base: Base<Rows>): void
  /** Removes a world; the returned function adds it again. */
  remove(world: WorldTables<Rows>): () => void
}

/** The tables and the random counter of one world. All changes go through `insert`, `put` and `remove`. */
export class WorldTables<Rows> {
  readonly name: string
  readonly about: WorldAbout
  readonly tables: Tables<Rows>
  /** The position in the world's random series; stored with every change. */
  readonly random: Draws
  readonly #home: WorldHome<Rows>
  readonly #snapshots = new Map<string, Snapshot<Rows>>()
  #base: string
  #isDropped = false

  constructor(home: WorldHome<Rows>, name: string, about: WorldAbout, state: Snapshot<Rows>) {
    this.name = name
    this.about = about
    this.#home = home
    this.#base = state.base
    this.random = { counter: state.counter }
    this.tables = home.perTable(
      (table) => new Table(home.specs[table], state.images[table]),
    ) as Tables<Rows>
  }

  /** The key of the base that it started from. */
  get base(): string {
    return this.#base
  }

  /** An empty base. */
  get empty(): Base<Rows> {
    return this.#home.empty
  }

  get snapshots(): ReadonlyMap<string, Snapshot<Rows>> {
    return this.#snapshots
  }

  /** The present state, which never changes. The next change of a table copies that table. */
  now(): Snapshot<Rows> {
    const images = this.#home.perTable((table) => this.tables[table].image()) as Images<Rows>
    return { base: this.#base, images, counter: this.random.counter }
  }

  // ---- changing

  /** `change` of the store, which also restores this world's random counter if it fails. */
  readonly change = <T>(run: () => T): T => {
    if (this.#isDropped) throw new SandboxError('not_found', `The client ${this.name} was deleted.`)
    return this.#home.unit.change(run, this.random)
  }

  put<K extends keyof Rows & string>(table: K, row: Rows[K]): Entry<Rows[K]> {
    const { unit, specs } = this.#home
    if (!unit.isOpen) return this.change(() => this.put(table, row))
    const target = this.tables[table]
    const before = target.entry(specs[table].id(row))
    const entry = target.set(row, before)
    unit.record(this, ['put', table, row], () => {
      target.place(entry.id, before)
    })
    return entry
  }

  /** Adds a row whose id is new: `put` without a search for an old row. */
  insert<K extends keyof Rows & string>(table: K, row: Rows[K]): Entry<Rows[K]> {
    const { unit } = this.#home
    if (!unit.isOpen) return this.change(() => this.insert(table, row))
    const target = this.tables[table]
    const entry = target.set(row, undefined)
    unit.record(this, ['put', table, row], () => {
      target.place(entry.id, undefined)
    })
    return entry
  }

  remove<K extends keyof Rows & string>(table: K, id: string): void {
    const { unit } = this.#home
    if (!unit.isOpen) {
      this.change(() => this.remove(table, id))
      return
    }
    const target = this.tables[table]
    const before = target.entry(id)
    if (!before) return
    target.place(id, undefined)
    unit.record(this, ['remove', table, id], () => {
      target.place(id, before)
    })
  }

  /** Resets the world to a base. */
  reset(base: Base<Rows>): void {
    this.change(() => {
      this.#home.useBase(base)
      const { key, images } = base
      this.#load({ base: key, images, counter: 0 }, ['reset', key])
    })
  }

  /** Stores a snapshot of the current state under a name; replaces an existing one. */
  save(snapshot: string): void {
    this.change(() =>
      this.setSnapshot(snapshot, this.now(), ['save', snapshot, this.random.counter]),
    )
  }

  /** Restores a snapshot; the snapshot is not deleted. */
  restore(snapshot: string): void {
    this.change(() => this.#load(this.#snapshots.get(snapshot)!, ['restore', snapshot]))
  }

  /** Deletes a snapshot. */
  forget(snapshot: string): void {
    this.change(() => this.setSnapshot(snapshot, undefined, ['forget', snapshot]))
  }

  /** Deletes the world; later changes of it throw `not_found`. */
  drop(): void {
    this.change(() => {
      const undo = this.#home.remove(this)
      this.#isDropped = true
      this.#home.unit.record(this, ['drop'], () => {
        undo()
        this.#isDropped = false
      })
    })
  }

  #load({ base, images, counter }: Snapshot<Rows>, op: Op) {
    const tables = Object.entries(this.tables) as [keyof Rows & string, Table<unknown>][]
    const undo = tables.map(([name, table]) => table.load(images[name] as Content<unknown>))
    const [oldBase, oldCounter] = [this.#base, this.random.counter]
    this.#base = base
    this.random.counter = counter
    this.#home.unit.record(this, op, () => {
      for (const rollback of undo) rollback()
      this.#base = oldBase
      this.random.counter = oldCounter
    })
  }

  /** Sets or deletes a snapshot, in an open change. */
  setSnapshot(snapshot: string, state: Snapshot<Rows> | undefined, op: Op) {
    const before = this.#snapshots.get(snapshot)
    const set = (to: Snapshot<Rows> | undefined) => {
      if (to) this.#snapshots.set(snapshot, to)
      else this.#snapshots.delete(snapshot)
    }
    set(state)
    this.#home.unit.record(this, op, () => set(before))
  }
}
