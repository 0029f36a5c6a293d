import { type Later, realLater } from '../runtime/real-time.ts'
import { type DataFiles, openDataFiles, type StoreLog } from './data-files.ts'
import { type Disk, nodeDisk } from './disk.ts'
import type { WorldAbout } from './op.ts'
import type { Base, Specs, WorldTables } from './world-tables.ts'
import { type BaseRows, Worlds } from './worlds.ts'

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
  log: StoreLog
}

/**
 * Opens the store: worlds of tables in memory. Each change is written to the journal before it commits; lowdb rewrites
 * the document from time to time. A change that cannot be written is rolled back and throws `storage_unavailable`.
 */
export async function openStore<Rows>(options: StoreOptions<Rows>) {
  const worlds = new Worlds(options.specs)
  const { unit, byName, bases } = worlds
  let files: DataFiles<Rows> | undefined
  if (options.file !== undefined) {
    const { file, fsync = false, onDamage = 'refuse', compactFrom } = options
    const { disk = nodeDisk, wall, later = realLater, log } = options
    const given = { file, fsync, onDamage, compactFrom, disk, wall, later, log }
    files = await openDataFiles(given, worlds)
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
    compact: async () => files?.compact(),
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
