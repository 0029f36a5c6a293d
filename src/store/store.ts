import { type DataFileOptions, openDataFile } from './data-file.ts'
import type { WorldAbout } from './unit-of-work.ts'
import { type Base, type BaseRows, type Specs, Worlds, type WorldTables } from './worlds.ts'

export type StoreOptions<Rows> = {
  specs: Specs<Rows>
  /** The data file; without it state is only in memory. */
  dataFile?: DataFileOptions<Rows> | undefined
}

/**
 * Opens the store: worlds of tables in memory. Each change is written to the journal before it commits; lowdb rewrites
 * the document from time to time. A change that cannot be written is rolled back and throws `storage_unavailable`.
 */
export async function openStore<Rows>({ specs, dataFile }: StoreOptions<Rows>) {
  const worlds = new Worlds(specs)
  const { unit, byName, bases } = worlds
  const files = dataFile && (await openDataFile(dataFile, worlds))
  unit.write = files?.write
  return {
    worlds: byName as ReadonlyMap<string, WorldTables<Rows>>,
    bases: bases as ReadonlyMap<string, Base<Rows>>,
    makeBase: (key: string, rows: BaseRows<Rows>) => worlds.makeBase(key, rows),
    addWorld: (name: string, base: Base<Rows>, about?: WorldAbout) => worlds.add(name, base, about),
    forkWorld: (...args: Parameters<Worlds<Rows>['fork']>) => worlds.fork(...args),
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
    /** The errno of the last failed write, if writes still fail. */
    get failure() {
      return files?.failure()
    },
    /** Checks the ownership again; returns why it is lost, which is final. */
    lostOwnership: () => files?.lostOwnership(),
    close: async () => files?.close(),
  }
}

/** The open store. */
export type Store<Rows> = Awaited<ReturnType<typeof openStore<Rows>>>
