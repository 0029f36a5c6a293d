import { constants } from 'node:fs'
import { dirname } from 'node:path'
import { Low } from 'lowdb'
import { SandboxError } from '../model/errors.ts'
import { type Later, realLater } from '../runtime/real-time.ts'
import { createOpApplier, type OpApplierDeps } from './apply-ops.ts'
import { createAvailability } from './availability.ts'
import { createChanges } from './changes.ts'
import { DamagedFile } from './checked-lines.ts'
import { takeCheckpoint } from './checkpoint.ts'
import { createCompaction } from './compaction.ts'
import { type Disk, nodeDisk } from './disk.ts'
import {
  type DocumentContent,
  documentAdapter,
  type Op,
  OtherFormat,
  type WorldAbout,
} from './document.ts'
import { errnoOf, fileExists, makeFolder, removeFile, resolveLinks } from './files.ts'
import { createJournal, type Journal } from './journal.ts'
import { LostOwnership, type Ownership, takeOwnership } from './ownership.ts'
import {
  createTable,
  type Entry,
  imageOf,
  type Table,
  type TableImage,
  type TableSpec,
} from './table.ts'
import { rejectMountedFile, requireRegularFiles } from './unusable-file.ts'

/** The tables' specs, by table name. */
export type Specs<Rows> = { readonly [K in keyof Rows]: TableSpec<Rows[K]> }
/** A world's content at one moment: one image a table. */
export type Images<Rows> = { [K in keyof Rows]: TableImage<Rows[K]> }
/** The content that worlds start with and that a reset restores. */
export type Base<Rows> = { key: string; images: Images<Rows> }
/** The state of a world at one moment, with its random counter. */
export type Snapshot<Rows> = { base: Base<Rows>; images: Images<Rows>; counter: number }
/** A state that does not change until it is released, whatever happens to its world. */
export type PinnedState<Rows> = Snapshot<Rows> & { release: () => void }
/** The rows of a base, oldest first, by table. */
export type BaseRows<Rows> = { [K in keyof Rows]?: readonly Rows[K][] }

export type StoreOptions<Rows> = {
  specs: Specs<Rows>
  /** The data file; without it state is only in memory. */
  file?: string
  /** Sync every change to the disk before it is acknowledged. */
  fsync?: boolean
  /** What to do with a damaged file: recover the content before the damage, or start empty; both make a copy first. */
  onDamage?: 'refuse' | 'recover' | 'reset'
  /** The journal size from which the document is rewritten, bytes. */
  compactFrom?: number
  disk?: Disk
  wall: () => number
  later?: Later
  log: { info(message: string): void; warn(message: string): void; error(message: string): void }
}

/** The tables and the random counter of one world. All changes go through `put` and `remove`. */
export type WorldTables<Rows> = {
  readonly name: string
  readonly tables: { readonly [K in keyof Rows]: Table<Rows[K]> }
  readonly base: Base<Rows>
  /** An empty base. */
  readonly empty: Base<Rows>
  readonly about: WorldAbout
  readonly snapshots: ReadonlyMap<string, Snapshot<Rows>>
  /** The position in the world's random series; stored with every change. */
  random: { counter: number }
  /** `store.change`, which also restores this world's random counter if it fails. */
  change<T>(run: () => T): T
  put<K extends keyof Rows & string>(table: K, row: Rows[K]): Entry<Rows[K]>
  remove<K extends keyof Rows & string>(table: K, id: string): void
  /** Resets the world to a base. */
  reset(base: Base<Rows>): void
  /** The current state, frozen so that it can be shared; costs almost nothing. */
  now(): Snapshot<Rows>
  /** The current content, valid only until the next change. */
  view(): Images<Rows>
  /** Pins the state of the world or of one of its snapshots, so that it can be read until it is released. */
  pin(snapshot?: string): PinnedState<Rows>
  /** Replaces all rows with those of another world of the same store. */
  take(source: WorldTables<Rows>): void
  /** Stores a snapshot of the current state under a name; replaces an existing one. */
  save(snapshot: string): void
  /** Restores a snapshot; the snapshot is not deleted. */
  restore(snapshot: string): void
  /** Deletes a snapshot. */
  forget(snapshot: string): void
  /** Deletes the world; later changes of it throw `not_found`. */
  drop(): void
}

/** The content of a document to write: its ops and rows, and the entries that were counted at that moment. */
type Checkpoint = { ops: () => Iterable<Op>; rows: number; entries: number }

// A clean stop compacts a store up to this size; with a larger one the stop would take too long.
const COMPACT_AT_STOP_BYTES = 32 * 1024 * 1024

/**
 * Opens the store: worlds of tables in memory. Each change is written to the journal before it commits; lowdb rewrites
 * the document from time to time. A change that cannot be written is rolled back and throws `storage_unavailable`.
 */
export async function openStore<Rows>(options: StoreOptions<Rows>) {
  type Name = keyof Rows & string
  const { specs, log, disk = nodeDisk, later = realLater } = options
  const file = options.file === undefined ? undefined : resolveLinks(disk, options.file)
  const names = Object.keys(specs as object) as Name[]
  const bases = new Map<string, Base<Rows>>()
  const worlds = new Map<string, WorldTables<Rows>>()
  // The images of pinned states.
  const pinned: Images<Rows>[] = []
  const changes = createChanges(file === undefined ? undefined : write)
  const { change } = changes
  // Appending an empty change shows whether the disk accepts writes again.
  const availability = createAvailability({
    file,
    log,
    probe: () => journal?.append(['["",0,[]]']),
  })
  const compaction = createCompaction({
    from: options.compactFrom,
    journalBytes: () => journal!.size,
    documentBytes: () => adapter!.bytes(),
    countRows,
    later,
    compact: () => void compact(),
  })

  // ---- changes

  const record: typeof changes.record = (...op) => {
    compaction.count(1)
    changes.record(...op)
  }

  function write(lines: readonly string[]) {
    // While the files are read at the start, nothing is written.
    if (!journal) return
    try {
      journal.append(lines)
    } catch (error) {
      throw availability.failed(error)
    }
    availability.written()
    if (!compacting) compaction.written()
  }

  /** A new row is written in full, a changed row as its id and the changed fields. */
  function opOfPut<K extends Name>(
    table: K,
    id: string,
    row: Rows[K],
    before: Rows[K] | undefined,
  ): Op {
    // Without a journal there is no need to compare.
    const changed = journal && before && changedFields(before as object, row as object)
    return changed ? ['set', table, id, changed] : ['put', table, row]
  }

  // ---- worlds

  const imagesBy = (imageIn: (table: Name) => unknown) =>
    Object.fromEntries(names.map((table) => [table, imageIn(table)])) as unknown as Images<Rows>

  function createWorld(
    name: string,
    about: WorldAbout,
    { base, images, counter }: Snapshot<Rows>,
  ): WorldTables<Rows> {
    const tables = Object.fromEntries(
      names.map((table) => [table, createTable(specs[table], images[table])]),
    ) as unknown as WorldTables<Rows>['tables']
    const random = { counter }
    const snapshots = new Map<string, Snapshot<Rows>>()
    let currentBase = base
    let dropped = false
    const counterNow = () => random.counter
    const within = <T>(run: () => T): T => {
      if (dropped) throw new SandboxError('not_found', `The client ${name} was deleted.`)
      return change(run, random)
    }

    const now = (): Snapshot<Rows> => ({
      base: currentBase,
      images: imagesBy((table) => tables[table].image()),
      counter: random.counter,
    })

    /** Loads another state and returns the rollback. */
    function load(next: Snapshot<Rows>): () => void {
      const rollback = names.map((table) => tables[table].load(next.images[table]))
      const [oldBase, oldCounter] = [currentBase, random.counter]
      currentBase = next.base
      random.counter = next.counter
      return () => {
        for (const undo of rollback) undo()
        currentBase = oldBase
        random.counter = oldCounter
      }
    }

    function setSnapshot(snapshot: string, state: Snapshot<Rows> | undefined, op: Op) {
      const before = snapshots.get(snapshot)
      const set = (to: Snapshot<Rows> | undefined) => {
        if (to) snapshots.set(snapshot, to)
        else snapshots.delete(snapshot)
      }
      set(state)
      record(name, counterNow, op, () => set(before))
    }

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
        const op = opOfPut(table, id, row, before?.row)
        const entry = target.set(row, before)
        record(name, counterNow, op, () => {
          target.place(id, before)
        })
        return entry
      },
      remove: (table, id) => {
        if (!changes.isOpen) return within(() => world.remove(table, id))
        const target = tables[table]
        const before = target.remove(id)
        if (!before) return
        record(name, counterNow, ['remove', table, id], () => {
          target.place(id, before)
        })
      },
      reset: (next) =>
        within(() => {
          useBase(next)
          const rollback = load({ base: next, images: next.images, counter: 0 })
          record(name, counterNow, ['reset', next.key], rollback)
        }),
      get empty() {
        return bases.get('') ?? makeBase('', {})
      },
      about,
      snapshots,
      now,
      view: () => imagesBy((table) => tables[table].view()),
      pin(snapshot) {
        // Changes that may still be rolled back must not be read.
        changes.flush()
        return pin(snapshot === undefined ? now() : snapshots.get(snapshot)!)
      },
      take: (source) =>
        within(() => {
          const rollback = load(source.now())
          record(name, counterNow, ['take', source.name], rollback)
        }),
      save: (snapshot) =>
        within(() => setSnapshot(snapshot, now(), ['save', snapshot, random.counter])),
      forget: (snapshot) => within(() => setSnapshot(snapshot, undefined, ['forget', snapshot])),
      restore: (snapshot) =>
        within(() => {
          const rollback = load(snapshots.get(snapshot)!)
          record(name, counterNow, ['restore', snapshot], rollback)
        }),
      drop: () =>
        within(() => {
          worlds.delete(name)
          dropped = true
          record(name, counterNow, ['drop', name], () => {
            worlds.set(name, world)
            dropped = false
          })
          changes.afterCommit(dropUnusedBases)
        }),
    }
    return world
  }

  /** Pins a state for a reader. Otherwise its layers would become mutable again after the next document. */
  function pin(state: Snapshot<Rows>): PinnedState<Rows> {
    const { images } = state
    pinned.push(images)
    return {
      ...state,
      release() {
        const place = pinned.indexOf(images)
        if (place === -1) return
        pinned.splice(place, 1)
        // A document that is being written also uses layers, and unfreezes them at its end.
        if (!compacting && checkpoint === undefined) unfreezeAll()
      },
    }
  }

  /** Creates a base from rows, oldest first. The key identifies the content: equal keys mean equal rows. */
  const makeBase = (key: string, rows: BaseRows<Rows>): Base<Rows> => ({
    key,
    images: imagesBy((table) => imageOf(specs[table], rows[table] ?? [])),
  })

  /** Writes the rows of a base once, when the first world uses it. */
  function useBase(base: Base<Rows>) {
    if (bases.has(base.key)) return
    bases.set(base.key, base)
    const undo = () => bases.delete(base.key)
    record('', () => 0, ['base', base.key], undo)
    for (const table of names) {
      for (const row of createTable(specs[table], base.images[table]).rows())
        record('', () => 0, ['put', table, row], undo)
    }
  }

  /** Removes the bases that no world and no snapshot uses; a base is written again when it is used again. */
  function dropUnusedBases() {
    const used = new Set<string | undefined>()
    for (const { base, about, snapshots } of worlds.values()) {
      used.add(base.key).add(about.base)
      for (const snapshot of snapshots.values()) used.add(snapshot.base.key)
    }
    for (const key of [...bases.keys()]) if (!used.has(key)) bases.delete(key)
  }

  function enter(world: WorldTables<Rows>, op: Op): WorldTables<Rows> {
    const { name, random } = world
    worlds.set(name, world)
    const undo = () => worlds.delete(name)
    record(name, () => random.counter, op, undo)
    return world
  }

  /** Creates a world on a base. `about` is stored with it. */
  function addWorld(name: string, base: Base<Rows>, about: WorldAbout = {}): WorldTables<Rows> {
    return change(() => {
      useBase(base)
      const world = createWorld(name, about, { base, images: base.images, counter: 0 })
      return enter(world, ['world', name, base.key, 0, {}, about])
    })
  }

  /** Creates a world with the state of another world or of one of its snapshots; the rows are shared. */
  function forkWorld(
    name: string,
    source: WorldTables<Rows>,
    snapshot: string | undefined,
    about: WorldAbout,
  ): WorldTables<Rows> {
    return change(() => {
      const state = snapshot === undefined ? source.now() : source.snapshots.get(snapshot)!
      const world = createWorld(name, about, state)
      return enter(world, ['fork', name, source.name, snapshot ?? null, about])
    })
  }

  /** Deletes a world. */
  const dropWorld = (name: string) => worlds.get(name)?.drop()

  // ---- reading back and writing anew

  const replayDeps: OpApplierDeps<Rows> = {
    specs,
    bases,
    worlds,
    makeBase,
    forkWorld,
    addWorld(name, base, about, images) {
      const earlier = worlds.get(name)
      const world = createWorld(name, about, { base, images, counter: 0 })
      // In a document, the snapshots of a world come before its current state.
      for (const [snapshot, state] of earlier?.snapshots ?? [])
        (world.snapshots as Map<string, Snapshot<Rows>>).set(snapshot, state)
      worlds.set(name, world)
    },
  }

  /** A checkpoint of the current state. `entries`: how many entries a start would read. */
  function checkpointNow(entries: number): Checkpoint {
    dropUnusedBases()
    return {
      ops: takeCheckpoint(specs, [...bases.values()], worlds.values()),
      rows: countRows(),
      entries,
    }
  }

  // ---- files

  const adapter = file === undefined ? undefined : documentAdapter(disk, file, () => owner!)
  const document = adapter && new Low<DocumentContent>(adapter, { generation: 0, ops: [] })
  let journal: Journal | undefined
  let owner: Ownership | undefined
  let compacting: Promise<void> | undefined
  // The checkpoint of the last journal rotation, until a document contains it. The journal continues from there.
  let checkpoint: Checkpoint | undefined
  let closed = false

  async function load(path: string) {
    makeFolder(disk, dirname(path))
    requireRegularFiles(disk, [...filesOf(path), `${path}.lock`])
    owner = await takeOwnership({ disk, file: path, later, log })
    try {
      rejectMountedFile(disk, path)
      await readFiles(path)
    } catch (error) {
      if (!(error instanceof DamagedFile) || options.onDamage !== 'reset') {
        owner.release()
        throw error
      }
      log.warn(
        `${error.message}. The sandbox starts with an empty data file; copies of the old files are ${backUpFiles(path).join(', ')}.`,
      )
      for (const name of filesOf(path)) removeFile(disk, name)
      bases.clear()
      worlds.clear()
      checkpoint = undefined
      await readFiles(path)
    }
  }

  const filesOf = (path: string) => {
    const stem = path.replace(/\.json$/, '')
    return [path, `${stem}.journal.previous.jsonl`, `${stem}.journal.jsonl`] as const
  }

  function backUpFiles(path: string): string[] {
    const stamp = new Date(options.wall()).toISOString().replaceAll(':', '-')
    return filesOf(path)
      .filter((name) => fileExists(disk, name))
      .map((name) => {
        const copy = `${name}.damaged-${stamp}`
        if (!fileExists(disk, copy)) disk.copyFileSync(name, copy, constants.COPYFILE_EXCL)
        return copy
      })
  }

  /** A clean stop and a kill both leave a journal. If it is missing, changes may be lost. */
  function warnOfMissingJournal(path: string) {
    const [, previousFile, journalFile] = filesOf(path)
    const wasUsed = owner!.replacedDead || fileExists(disk, path)
    if (!wasUsed || fileExists(disk, journalFile) || fileExists(disk, previousFile)) return
    log.warn(
      `The journal ${journalFile} is missing. Changes that were only in the journal are lost. The start continues without them.`,
    )
  }

  async function readFiles(path: string) {
    const [, previousFile, journalFile] = filesOf(path)
    const replay = createOpApplier(replayDeps)
    let recovered = false
    const recover = (error: DamagedFile) => {
      // Nothing can be recovered from the format of another version.
      if (options.onDamage !== 'recover' || error instanceof OtherFormat) throw error
      const copies = recovered ? [] : backUpFiles(path)
      recovered = true
      log.warn(
        `${error.message}. The content before it is recovered; the old files are copied to ${copies.join(', ')}.`,
      )
    }
    await document!.read()
    warnOfMissingJournal(path)
    const { generation, ops } = document!.data
    try {
      for (const op of ops) replay.apply(op)
    } catch (error) {
      if (!(error instanceof DamagedFile)) throw error
      recover(error)
    }
    replay.finish()
    // The ops are applied; free them.
    document!.data = { generation, ops: [] }
    const opened = createJournal(disk, journalFile, previousFile, options.fsync ?? false, owner!)
    opened.open(generation, (line) => !recovered && replay.line(line), {
      torn: (name, bytes) =>
        log.warn(
          `${name}: the last ${bytes} bytes are an incomplete write that was never acknowledged; they are dropped.`,
        ),
      damage: (damage) => recover(new DamagedFile(damage)),
      onRotated() {
        checkpoint = checkpointNow(replay.applied)
      },
    })
    journal = opened
    compaction.count(replay.applied)
    if (!recovered) return
    // Lines after the damage must not reappear: once the document contains the recovered state, the journal starts
    // empty.
    const next = opened.generation + 1
    checkpoint = undefined
    const good = checkpointNow(replay.applied)
    document!.data = { generation: next, ops: good.ops() }
    await document!.write()
    compaction.compacted(good.rows, good.entries)
    opened.startEmpty(next)
    opened.dropPrevious()
    document!.data = { generation: 0, ops: [] }
  }

  /** The layers of every world, snapshot and pinned state; a shared layer is yielded for each user. */
  function* allLayers(): Generator<{ rows: ReadonlyMap<string, unknown> }> {
    for (const world of worlds.values()) {
      for (const table of names) yield* world.view()[table].layers
      for (const { images } of world.snapshots.values())
        for (const table of names) yield* images[table].layers
    }
    for (const images of pinned) for (const table of names) yield* images[table].layers
  }

  /** The rows of all worlds, shared rows counted once: about the number of entries of a document. */
  function countRows(): number {
    let rows = 0
    for (const layer of new Set(allLayers())) rows += layer.rows.size
    return rows
  }

  /** Rewrites the document and starts an empty journal. The sandbox serves requests meanwhile. */
  function compact(): Promise<void> {
    // Changes that may still be rolled back must not be in the document. The flush may itself start a compaction.
    if (!compacting) changes.flush()
    compacting ??= rewriteDocument().finally(() => {
      compacting = undefined
    })
    return compacting
  }

  /** Makes layers mutable that only the document needed; otherwise each document would add a layer. */
  function unfreezeAll() {
    // Pending changes would roll back to the frozen layers, so write them first.
    changes.flush()
    const users = new Map<object, number>()
    for (const layer of allLayers()) users.set(layer, (users.get(layer) ?? 0) + 1)
    for (const { tables } of worlds.values())
      for (const table of names) tables[table].unfreeze((layer) => users.get(layer)! > 1)
  }

  async function rewriteDocument() {
    try {
      journal!.rotate()
      checkpoint ??= checkpointNow(compaction.entries)
      document!.data = { generation: journal!.generation, ops: checkpoint.ops() }
      await document!.write()
      journal!.dropPrevious()
      compaction.compacted(checkpoint.rows, checkpoint.entries)
      checkpoint = undefined
      unfreezeAll()
    } catch (error) {
      compaction.failed()
      if (!(error instanceof LostOwnership))
        log.warn(
          `The document ${file} could not be rewritten (${errnoOf(error)}). The sandbox continues to write to the journal.`,
        )
    } finally {
      document!.data = { generation: 0, ops: [] }
    }
  }

  if (file !== undefined) await load(file)

  return {
    worlds: worlds as ReadonlyMap<string, WorldTables<Rows>>,
    bases: bases as ReadonlyMap<string, Base<Rows>>,
    makeBase,
    addWorld,
    forkWorld,
    dropWorld,
    change,
    afterCommit: changes.afterCommit,
    batch: changes.batch,
    onDurable: changes.onDurable,
    compact,
    /** The errno of the last failed write; `undefined` while writes succeed. */
    get failure() {
      return availability.failure
    },
    /** Checks the ownership again; returns why it is lost, which is final. */
    lostOwnership(): string | undefined {
      try {
        if (!closed) owner?.confirm()
      } catch {
        // Lost; or the disk failed just now, then the next write checks again.
      }
      return owner?.lost
    },
    async close() {
      if (!journal || closed) return
      closed = true
      changes.flush()
      compaction.stop()
      await compacting
      try {
        const total = journal.size + adapter!.bytes()
        const isCompact = journal.isEmpty && checkpoint === undefined
        if (!isCompact && total <= COMPACT_AT_STOP_BYTES) await compact()
        journal.close()
      } finally {
        availability.stop()
        owner?.release()
      }
    },
  }
}

/** The changed fields of a row; `undefined` if a field was removed. */
function changedFields(before: object, row: object): object | undefined {
  const old = before as Record<string, unknown>
  const changed: Record<string, unknown> = {}
  let commonFields = 0
  for (const name in row) {
    const value = (row as Record<string, unknown>)[name]
    if (name in old) commonFields++
    if (value !== old[name]) {
      if (value === undefined) return undefined
      changed[name] = value
    }
  }
  for (const _ in old) commonFields--
  return commonFields === 0 ? changed : undefined
}

/** The open store. */
export type Store<Rows> = Awaited<ReturnType<typeof openStore<Rows>>>
