import type { LayerNumbers, Op, WorldAbout } from './document.ts'
import type { Base, BaseRows, Images, Specs, WorldTables } from './store.ts'
import { createTable, type Table } from './table.ts'

/** The store's lists to rebuild, and the functions that create a world and a base. */
export type OpApplierDeps<Rows> = {
  specs: Specs<Rows>
  bases: Map<string, Base<Rows>>
  worlds: Map<string, WorldTables<Rows>>
  makeBase: (key: string, rows: BaseRows<Rows>) => Base<Rows>
  addWorld: (name: string, base: Base<Rows>, about: WorldAbout, images: Images<Rows>) => void
  forkWorld: (
    name: string,
    source: WorldTables<Rows>,
    snapshot: string | undefined,
    about: WorldAbout,
  ) => void
}

/** Applies the ops of a document and a journal without writing them, to rebuild the worlds. */
export function createOpApplier<Rows>(deps: OpApplierDeps<Rows>) {
  type Name = keyof Rows & string
  const { specs, bases, worlds, makeBase, addWorld, forkWorld } = deps
  let world: WorldTables<Rows> | undefined
  let pendingBase: { key: string; rows: { [K in Name]?: Rows[K][] } } | undefined
  let pendingLayer: { number: number; table: Table<Rows[Name]> | undefined } | undefined
  const layers = new Map<number, Images<Rows>[Name]>()

  function finish() {
    if (pendingBase)
      bases.set(pendingBase.key, makeBase(pendingBase.key, pendingBase.rows as BaseRows<Rows>))
    if (pendingLayer?.table) layers.set(pendingLayer.number, pendingLayer.table.image())
    pendingBase = undefined
    pendingLayer = undefined
  }

  /** The table that the current op changes; undefined if this version no longer has it. */
  function target(name: string): Table<Rows[Name]> | undefined {
    return pendingLayer
      ? pendingLayer.table
      : (world?.tables[name as Name] as Table<Rows[Name]> | undefined)
  }

  function imagesOn(base: Base<Rows>, numbers: LayerNumbers): Images<Rows> {
    const images = { ...base.images }
    for (const [table, number] of Object.entries(numbers))
      if (specs[table as Name]) images[table as Name] = layers.get(number)! as never
    return images
  }

  let applied = 0

  function apply(op: Op) {
    applied++
    switch (op[0]) {
      case 'base':
        finish()
        pendingBase = { key: op[1], rows: {} }
        return
      case 'layer': {
        finish()
        const [, number, name, baseKey, parent] = op
        const spec = specs[name as Name]
        const below = parent === 0 ? bases.get(baseKey)!.images[name as Name] : layers.get(parent)!
        pendingLayer = { number, table: spec && createTable(spec, below) }
        return
      }
      case 'world': {
        finish()
        const [, name, baseKey, counter, numbers, about] = op
        const base = bases.get(baseKey)!
        addWorld(name, base, about ?? {}, imagesOn(base, numbers ?? {}))
        world = worlds.get(name)!
        world.random.counter = counter
        return
      }
      case 'fork':
        forkWorld(op[1], worlds.get(op[2])!, op[3] ?? undefined, op[4])
        world = worlds.get(op[1])
        return
      case 'save':
        if (!world) return
        world.random.counter = op[2]
        world.save(op[1])
        return
      case 'restore':
        world?.restore(op[1])
        return
      case 'take':
        world?.take(worlds.get(op[1])!)
        return
      case 'forget':
        world?.forget(op[1])
        return
      case 'put': {
        const table = op[1] as Name
        // Ignore rows of a table that this version no longer has.
        if (!specs[table]) return
        if (pendingBase) {
          pendingBase.rows[table] ??= []
          pendingBase.rows[table].push(op[2] as Rows[Name])
        } else target(table)?.put(op[2] as Rows[Name])
        return
      }
      case 'set': {
        const table = target(op[1])
        const old = table?.get(op[2])
        if (old) table!.put({ ...old, ...(op[3] as object) })
        return
      }
      case 'remove':
        target(op[1])?.remove(op[2])
        return
      case 'counter':
        if (world) world.random.counter = op[1]
        return
      case 'drop':
        worlds.delete(op[1])
        return
      case 'reset':
        world?.reset(bases.get(op[1])!)
        return
    }
  }

  return {
    apply,
    /** The number of applied ops. */
    get applied() {
      return applied
    },
    /** Applies one line of the journal: the atomic changes of one or more worlds. */
    line(value: unknown) {
      type Part = [world: string, counter: number, ops: Op[]]
      const one = value as Part | Part[]
      for (const [name, counter, ops] of typeof one[0] === 'string'
        ? [one as Part]
        : (one as Part[])) {
        world = worlds.get(name)
        for (const op of ops) apply(op)
        finish()
        if (world) world.random.counter = counter
      }
    },
    finish,
  }
}
