import { copyFileSync, existsSync, mkdirSync, readFileSync, unlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { Low } from 'lowdb'
import { SandboxError } from '../model/errors.ts'
import { createChanges } from './changes.ts'
import { type DocumentContent, documentAdapter, type Op } from './document.ts'
import { errnoOf } from './files.ts'
import { createJournal, type Journal } from './journal.ts'
import { DamagedFile } from './lines.ts'
import { takeLock } from './lock.ts'
import {
  createTable,
  type Entry,
  imageOf,
  type Table,
  type TableImage,
  type TableSpec,
} from './table.ts'

/** The tables' specs, by table name. */
export type Specs<Rows> = { readonly [K in keyof Rows]: TableSpec<Rows[K]> }
/** A world's content without its changes: one image a table. */
export type Base<Rows> = { key: string; images: { [K in keyof Rows]: TableImage<Rows[K]> } }
/** Rows to make a base of, oldest first, by table. */
export type BaseRows<Rows> = { [K in keyof Rows]?: readonly Rows[K][] }

export type StoreOptions<Rows> = {
  specs: Specs<Rows>
  /** Where state is kept; without it nothing is. */
  file?: string
  /** Every change waits until the disk has it. */
  fsync?: boolean
  /** What to do with a damaged file: keep what is good of it, or start anew; a copy is kept of it either way. */
  onDamage?: 'refuse' | 'recover' | 'reset'
  wall: () => number
  log: { info(message: string): void; warn(message: string): void }
}

/** One world's tables and draw counter. All changes go through `put` and `remove`. */
export type WorldTables<Rows> = {
  readonly name: string
  readonly tables: { readonly [K in keyof Rows]: Table<Rows[K]> }
  readonly base: Base<Rows>
  /** How far the world's random series was drawn; kept with every change. */
  random: { counter: number }
  /** `store.change`, which also takes back this world's draws if it fails. */
  change<T>(run: () => T): T
  put<K extends keyof Rows & string>(table: K, row: Rows[K]): Entry<Rows[K]>
  remove<K extends keyof Rows & string>(table: K, id: string): void
  /** Back to a base: every change is dropped. */
  reset(base: Base<Rows>): void
}

// The document is made anew when the journal is larger than it, and at least this large: that many bytes are
// read back in about a second after a crash, and a smaller journal would be rewritten all the time.
const COMPACT_FROM_BYTES = 64 * 1024 * 1024
// At a clean stop a store up to this size leaves one tidy document; a larger one would not stop in time.
const TIDY_AT_STOP_BYTES = 32 * 1024 * 1024
const RETRY_MS = 1_000

/**
 * Opens the store: worlds of tables in memory, each change written to the journal before it counts, the document
 * made anew by lowdb now and then. A change that can't be written is undone and told as `storage_unavailable`.
 */
export async function openStore<Rows>(options: StoreOptions<Rows>) {
  type Name = keyof Rows & string
  const { specs, file, log } = options
  const names = Object.keys(specs as object) as Name[]
  const bases = new Map<string, Base<Rows>>()
  const worlds = new Map<string, WorldTables<Rows>>()
  const changes = createChanges(file === undefined ? undefined : write)
  const { change, record } = changes
  let failure: string | undefined
  let retry: NodeJS.Timeout | undefined
  let compactFrom = COMPACT_FROM_BYTES

  // ---- changes

  function fail(error: unknown): SandboxError {
    const code = errnoOf(error)
    if (!failure)
      log.warn(
        `The data file ${file} cannot be written (${code}); changes are refused until it can.`,
      )
    failure = code
    retry ??= setInterval(probe, RETRY_MS).unref()
    return new SandboxError(
      'storage_unavailable',
      `The data file cannot be written (${code}); nothing was changed. Free the disk or make it writable, then try again.`,
      { headers: { 'retry-after': '1' } },
    )
  }

  function healed() {
    if (!failure) return
    log.info(`The data file ${file} can be written again.`)
    failure = undefined
    clearInterval(retry)
    retry = undefined
  }

  function write(lines: readonly string[]) {
    // What is read back at the start is not written again.
    if (!journal) return
    try {
      journal.append(lines)
    } catch (error) {
      throw fail(error)
    }
    if (failure) healed()
    if (journal.size > Math.max(compactFrom, adapter!.bytes())) void compact()
  }

  /** An empty change: shows whether the disk takes writes again. */
  function probe() {
    try {
      journal?.append(['["",0,[]]'])
      healed()
    } catch {
      // Still failing; the next probe tells.
    }
  }

  /** A new row is written whole, one that is changed as its id and its changed fields. */
  function textOfPut<K extends Name>(
    table: K,
    id: string,
    row: Rows[K],
    before: Rows[K] | undefined,
  ): string {
    // Nothing is written where nothing is kept.
    if (!journal) return ''
    const changed = before && changedFields(before as object, row as object)
    return changed
      ? `["set","${table}",${JSON.stringify(id)},${JSON.stringify(changed)}]`
      : `["put","${table}",${JSON.stringify(row)}]`
  }

  // ---- worlds

  function createWorld(name: string, base: Base<Rows>, counter: number): WorldTables<Rows> {
    const tables = Object.fromEntries(
      names.map((table) => [table, createTable(specs[table], base.images[table])]),
    ) as unknown as WorldTables<Rows>['tables']
    const random = { counter }
    let currentBase = base
    const counterNow = () => random.counter
    const within = <T>(run: () => T): T => change(run, random)

    const world: WorldTables<Rows> = {
      name,
      tables,
      get base() {
        return currentBase
      },
      random,
      change: within,
      put: (table, row) => {
        if (!changes.isOpen) return within(() => world.put(table, row))
        const target = tables[table]
        const id = specs[table].id(row)
        const before = target.entry(id)
        const text = textOfPut(table, id, row, before?.row)
        const entry = target.put(row)
        record(name, counterNow, text, () => {
          target.place(id, before)
        })
        return entry
      },
      remove: (table, id) =>
        within(() => {
          const target = tables[table]
          const before = target.remove(id)
          if (!before) return
          record(name, counterNow, `["remove","${table}",${JSON.stringify(id)}]`, () => {
            target.place(id, before)
          })
        }),
      reset: (next) =>
        within(() => {
          useBase(next)
          const wayBack = names.map((table) => tables[table].load(next.images[table]))
          const [oldBase, oldCounter] = [currentBase, random.counter]
          currentBase = next
          random.counter = 0
          record(name, counterNow, `["reset",${JSON.stringify(next.key)}]`, () => {
            for (const undo of wayBack) undo()
            currentBase = oldBase
            random.counter = oldCounter
          })
        }),
    }
    return world
  }

  /** Makes a base of rows given oldest first. The key names their content: equal keys, equal rows. */
  const makeBase = (key: string, rows: BaseRows<Rows>): Base<Rows> => ({
    key,
    images: Object.fromEntries(
      names.map((table) => [table, imageOf(specs[table], rows[table] ?? [])]),
    ) as unknown as Base<Rows>['images'],
  })

  /** A base's rows are written once, when the first world stands on it. */
  function useBase(base: Base<Rows>) {
    if (bases.has(base.key)) return
    bases.set(base.key, base)
    const undo = () => bases.delete(base.key)
    record('', () => 0, `["base",${JSON.stringify(base.key)}]`, undo)
    for (const [, table, row] of baseOps(base)) {
      record('', () => 0, `["put","${table}",${JSON.stringify(row)}]`, undo)
    }
  }

  function* baseOps({ images }: Base<Rows>): Generator<['put', Name, unknown]> {
    for (const table of names) {
      for (const row of createTable(specs[table], images[table]).rows()) yield ['put', table, row]
    }
  }

  /** Makes a world on a base. */
  function addWorld(name: string, base: Base<Rows>): WorldTables<Rows> {
    return change(() => {
      useBase(base)
      const world = createWorld(name, base, 0)
      worlds.set(name, world)
      record(
        name,
        () => world.random.counter,
        `["world",${JSON.stringify(name)},${JSON.stringify(base.key)},0]`,
        () => {
          worlds.delete(name)
        },
      )
      return world
    })
  }

  /** Forgets a world. */
  function dropWorld(name: string) {
    change(() => {
      const world = worlds.get(name)
      if (!world) return
      worlds.delete(name)
      record(
        name,
        () => 0,
        `["drop",${JSON.stringify(name)}]`,
        () => worlds.set(name, world),
      )
    })
  }

  // ---- reading back

  /** Applies ops without writing them: how a document and a journal become worlds again. */
  function createReplay() {
    let world: WorldTables<Rows> | undefined
    let pending: { key: string; rows: { [K in Name]?: Rows[K][] } } | undefined
    const finishBase = () => {
      if (pending) bases.set(pending.key, makeBase(pending.key, pending.rows as BaseRows<Rows>))
      pending = undefined
    }
    const apply = (op: Op) => {
      switch (op[0]) {
        case 'base':
          finishBase()
          pending = { key: op[1], rows: {} }
          return
        case 'world':
          finishBase()
          world = createWorld(op[1], bases.get(op[2])!, op[3])
          worlds.set(op[1], world)
          return
        case 'put': {
          const table = op[1] as Name
          // A table that this version no longer knows has nothing to come back to.
          if (!specs[table]) return
          if (pending) {
            pending.rows[table] ??= []
            pending.rows[table].push(op[2] as Rows[Name])
          } else world?.tables[table].put(op[2] as Rows[Name])
          return
        }
        case 'set': {
          const target = world?.tables[op[1] as Name]
          // The document may be newer than this line: a row that it no longer has is removed further on.
          const old = target?.get(op[2])
          if (old) target!.put({ ...old, ...(op[3] as object) })
          return
        }
        case 'remove':
          world?.tables[op[1] as Name]?.remove(op[2])
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
      line(value: unknown) {
        type Part = [world: string, counter: number, ops: Op[]]
        const one = value as Part | Part[]
        for (const [name, counter, ops] of typeof one[0] === 'string'
          ? [one as Part]
          : (one as Part[])) {
          world = worlds.get(name)
          for (const op of ops) apply(op)
          finishBase()
          if (world) world.random.counter = counter
        }
      },
      finish: finishBase,
    }
  }

  /**
   * Everything there is, as ops. Rows may change while it is read: the journal then holds the newer ones too.
   * Which worlds and bases there are is settled at once: what comes later is in the journal alone.
   */
  function allOps(): Iterable<Op> {
    const stands = [...worlds.values()].map((world) => ({ world, baseKey: world.base.key }))
    const used = new Set(stands.map(({ baseKey }) => baseKey))
    for (const key of [...bases.keys()]) if (!used.has(key)) bases.delete(key)
    return opsOf([...bases], stands)
  }

  function* opsOf(
    usedBases: readonly (readonly [string, Base<Rows>])[],
    stands: readonly { world: WorldTables<Rows>; baseKey: string }[],
  ): Generator<Op> {
    for (const [key, base] of usedBases) {
      yield ['base', key]
      yield* baseOps(base)
    }
    for (const { world, baseKey } of stands) {
      yield ['world', world.name, baseKey, world.random.counter]
      for (const table of names) {
        for (const one of world.tables[table].changes()) {
          // A change that could still be undone must not get into the document.
          changes.flush()
          yield 'row' in one ? ['put', table, one.row] : ['remove', table, one.removed]
        }
      }
    }
  }

  // ---- files

  const adapter = file === undefined ? undefined : documentAdapter(file)
  const document = adapter && new Low<DocumentContent>(adapter, { generation: 0, ops: [] })
  let journal: Journal | undefined
  let unlock: (() => void) | undefined
  let compacting: Promise<void> | undefined
  let closed = false

  async function load(path: string) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    unlock = takeLock(path, options.wall)
    try {
      await readFiles(path)
    } catch (error) {
      if (!(error instanceof DamagedFile) || options.onDamage !== 'reset') {
        unlock()
        throw error
      }
      log.warn(
        `${error.message}. Starting anew; the old files are kept as ${keepCopies(path).join(', ')}.`,
      )
      for (const name of filesOf(path)) if (existsSync(name)) unlinkSync(name)
      bases.clear()
      worlds.clear()
      await readFiles(path)
    }
  }

  const filesOf = (path: string) => {
    const stem = path.replace(/\.json$/, '')
    return [path, `${stem}.journal.previous.jsonl`, `${stem}.journal.jsonl`] as const
  }

  function keepCopies(path: string): string[] {
    const stamp = new Date(options.wall()).toISOString().replaceAll(':', '-')
    return filesOf(path)
      .filter((name) => existsSync(name))
      .map((name) => {
        const copy = `${name}.damaged-${stamp}`
        if (!existsSync(copy)) copyFileSync(name, copy)
        return copy
      })
  }

  async function readFiles(path: string) {
    const [, previousFile, journalFile] = filesOf(path)
    const replay = createReplay()
    let recovered = false
    const recover = (error: DamagedFile) => {
      if (options.onDamage !== 'recover') throw error
      const copies = recovered ? [] : keepCopies(path)
      recovered = true
      log.warn(
        `${error.message}. What stands before it is kept; the old files are copied to ${copies.join(', ')}.`,
      )
    }
    let line = 1
    await document!.read()
    const { generation, ops } = document!.data
    try {
      for (const op of ops) {
        line++
        replay.apply(op)
      }
    } catch (error) {
      // The checksum stands at the end: a damaged line may be met before it is known to be one.
      recover(
        error instanceof DamagedFile
          ? error
          : new DamagedFile({
              file: path,
              line,
              byte: startOfLine(readFileSync(path), line),
              what: 'the entry does not fit those before it',
            }),
      )
    }
    replay.finish()
    // The ops are spent; what they said lives in the worlds now.
    document!.data = { generation, ops: [] }
    const opened = createJournal(journalFile, previousFile, options.fsync ?? false)
    opened.open(generation, (line) => !recovered && replay.line(line), {
      torn: (name, bytes) =>
        log.warn(
          `${name}: the last ${bytes} bytes were never written whole and were answered to nobody; dropped.`,
        ),
      damage: (damage) => recover(new DamagedFile(damage)),
    })
    journal = opened
    if (!recovered) return
    // Lines behind the damage must not come back: the journal starts anew once the document holds what is good.
    const next = opened.generation + 1
    document!.data = { generation: next, ops: allOps() }
    await document!.write()
    opened.startAnew(next)
    opened.dropPrevious()
    document!.data = { generation: 0, ops: [] }
  }

  /** Makes the document anew and starts the journal empty. Requests go on meanwhile. */
  function compact(): Promise<void> {
    compacting ??= (async () => {
      try {
        journal!.rotate()
        document!.data = { generation: journal!.generation, ops: allOps() }
        await document!.write()
        journal!.dropPrevious()
        compactFrom = COMPACT_FROM_BYTES
      } catch (error) {
        // Trying again at every change would do nothing else.
        compactFrom = journal!.size + COMPACT_FROM_BYTES
        log.warn(
          `The document ${file} could not be made anew (${errnoOf(error)}); the journal goes on.`,
        )
      } finally {
        document!.data = { generation: 0, ops: [] }
        compacting = undefined
      }
    })()
    return compacting
  }

  if (file !== undefined) await load(file)

  return {
    worlds: worlds as ReadonlyMap<string, WorldTables<Rows>>,
    bases: bases as ReadonlyMap<string, Base<Rows>>,
    makeBase,
    addWorld,
    dropWorld,
    change,
    afterChange: changes.afterChange,
    together: changes.together,
    whenWritten: changes.whenWritten,
    compact,
    /** `undefined` while all is well, else the errno of the last failed write. */
    get failure() {
      return failure
    },
    async close() {
      if (!journal || closed) return
      closed = true
      changes.flush()
      await compacting
      try {
        const total = journal.size + adapter!.bytes()
        if (!journal.isEmpty && total <= TIDY_AT_STOP_BYTES) await compact()
        journal.close()
      } finally {
        clearInterval(retry)
        unlock?.()
      }
    },
  }
}

/** The fields in which a row differs from the one it replaces; `undefined` where it lacks one that was there. */
function changedFields(before: object, row: object): object | undefined {
  const old = before as Record<string, unknown>
  const changed: Record<string, unknown> = {}
  let kept = 0
  for (const name in row) {
    const value = (row as Record<string, unknown>)[name]
    if (name in old) kept++
    if (value !== old[name]) {
      if (value === undefined) return undefined
      changed[name] = value
    }
  }
  for (const _ in old) kept--
  return kept === 0 ? changed : undefined
}

/** The byte at which a line starts, counted from 1. */
function startOfLine(content: Buffer, line: number): number {
  let start = 0
  for (let i = 1; i < line; i++) start = content.indexOf(10, start) + 1
  return start
}

/** The open store. */
export type Store<Rows> = Awaited<ReturnType<typeof openStore<Rows>>>
