import { type DataFile, type DataFileOptions, openDataFile, type StoreLog } from './data-file.ts'
import { type Disk, nodeDisk } from './disk.ts'
import { readPlain } from './document.ts'
import { plainShape, type StateShape } from './states.ts'
import type { WorldAbout } from './unit-of-work.ts'
import type { Base, Specs, WorldTables } from './world-tables.ts'
import { type BaseRows, Worlds } from './worlds.ts'

export type StoreOptions<Rows> = {
  specs: Specs<Rows>
  /** The data file; without it state is only in memory. */
  file?: string
  /** How a state is written in the data file (default: all tables as they are). */
  shape?: StateShape<Rows>
  /** Reads a data file that somebody has edited (default: only checks that it is JSON). */
  readEdited?: DataFileOptions<Rows>['readEdited']
  /** Sync every change to the disk before it is acknowledged. */
  fsync?: boolean
  onDamage?: DataFileOptions<Rows>['onDamage']
  discardJournal?: boolean
  mustBeNew?: boolean
  /** The least size of the journal from which the document is rewritten, bytes. */
  compactFrom?: number
  disk?: Disk
  wall: () => number
  log: StoreLog
}

/**
 * Opens the store: worlds of tables in memory. Each change is written to the journal before it commits; lowdb rewrites
 * the document from time to time. A change that cannot be written is rolled back and throws `storage_unavailable`.
 */
export async function openStore<Rows>(options: StoreOptions<Rows>) {
  const worlds = new Worlds(options.specs)
  const { unit, byName, bases } = worlds
  let files: DataFile<Rows> | undefined
  if (options.file !== undefined) {
    const { file, compactFrom, wall, log } = options
    const { fsync = false, onDamage = 'refuse', discardJournal = false } = options
    const { mustBeNew = false, disk = nodeDisk } = options
    const { shape = plainShape<Rows>(worlds.names), readEdited = () => readPlain } = options
    const how = { fsync, onDamage, discardJournal, mustBeNew, compactFrom, disk, wall, log }
    files = await openDataFile({ file, shape, readEdited, ...how }, worlds)
    unit.write = files.write
  }
  return {
    worlds: byName as ReadonlyMap<string, WorldTables<Rows>>,
    bases: bases as ReadonlyMap<string, Base<Rows>>,
    makeBase: (key: string, rows: BaseRows<Rows>) => worlds.makeBase(key, rows),
    addWorld: (name: string, base: Base<Rows>, about?: WorldAbout) => worlds.add(name, base, about),
    forkWorld: (
      name: string,
      source: WorldTables<Rows>,
      snapshot: string | undefined,
      about: WorldAbout,
    ) => worlds.fork(name, source, snapshot, about),
    change: unit.change,
    afterCommit: unit.afterCommit,
    batch: unit.batch,
    onDurable: unit.onDurable,
    /** Rewrites the document now. */
    compact: async () => files?.compact(),
    /** Whether the document is missing, although there is a data file. */
    get lacksDocument() {
      return files !== undefined && !files.hasDocument
    },
    /** The errno of the last failed write; `undefined` while writes succeed. */
    get failure() {
      return files?.failure
    },
    /** Checks the ownership again; returns why it is lost, which is final. */
    lostOwnership: () => files?.lostOwnership(),
    close: async () => files?.close(),
  }
}

/** The open store. */
export type Store<Rows> = Awaited<ReturnType<typeof openStore<Rows>>>
