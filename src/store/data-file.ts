// store/: the database: tables in memory, changes that commit or roll back as one, the journal, and db.json. It knows
// nothing of payouts; tables/ says which tables there are.

import { dirname } from 'node:path'
import { Low } from 'lowdb'
import { SandboxError } from '../model/errors.ts'
import type { Log } from '../runtime/runtime.ts'
import {
  backUpAll,
  type Disk,
  dataFiles,
  errnoOf,
  ignoreErrors,
  makeFolder,
  rejectMountedFile,
  removeFile,
  requireRegular,
  resolveLinks,
} from './disk.ts'
import { DocumentFile, type ReadEdited } from './document.ts'
import {
  DamagedFile,
  DataFileExists,
  EditedBesideJournal,
  FORMAT,
  LostOwnership,
  START_WITHOUT,
  UnreadableFile,
} from './errors.ts'
import { Journal, readJournal } from './journal.ts'
import { type Lock, takeLock } from './lock.ts'
import { type DataDocument, documentOf, readStates, type StateShape } from './states.ts'
import type { WorldAbout, WriteChanges } from './unit-of-work.ts'
import { type Base, type BaseRows, type Specs, Worlds, type WorldTables } from './worlds.ts'

// The document is rewritten when the journal is as large as it, and not smaller than this.
const REWRITE_FROM_BYTES = 1024 * 1024

export type DataFileOptions<Rows> = {
  file: string
  shape: StateShape<Rows>
  /** Sync every change to the disk before it is acknowledged. */
  fsync?: boolean
  /** Whether files that cannot be read are copied aside, and the store starts empty. */
  reset?: boolean
  /** Whether there must be no data file yet. */
  mustBeNew?: boolean
  /** The least size of the journal from which the document is rewritten, bytes. */
  compactFrom?: number
  readEdited: ReadEdited
  disk: Disk
  wall: () => number
  log: Log
}

/** The document and the journal of a store, which this process owns. */
class DataFile<Rows> {
  readonly #options: DataFileOptions<Rows>
  readonly #worlds: Worlds<Rows>
  readonly #lock: Lock
  readonly #document: DocumentFile
  readonly #db: Low<DataDocument>
  readonly #journal: Journal
  readonly #rewriteFrom: number
  #lost: LostOwnership | undefined
  #compacting: Promise<void> | undefined
  /** The size of the journal from which the document is rewritten, after a failure. */
  #nextTry = 0
  #failure: string | undefined
  #isClosed = false

  constructor(options: DataFileOptions<Rows>, worlds: Worlds<Rows>, lock: Lock) {
    const { disk, file, fsync = false } = options
    this.#options = options
    this.#worlds = worlds
    this.#lock = lock
    this.#rewriteFrom = options.compactFrom ?? REWRITE_FROM_BYTES
    this.#journal = new Journal(disk, `${file}.journal`, fsync, this.#confirm)
    this.#document = new DocumentFile({
      ...options,
      confirm: this.#confirm,
      onWritten: (digest) => this.#journal.mark(digest),
    })
    this.#db = new Low(this.#document, { format: FORMAT, clients: {} })
  }

  // ---- opening

  /** Reads the files, and begins a new journal. Throws `UnreadableFile`, and leaves all as it is, if they do not fit. */
  async open() {
    const { disk, file, log, shape } = this.#options
    const { path } = this.#journal
    const found = readJournal(disk, path)
    if (!found && this.#lock.replacedDead)
      log.warn(
        `The journal ${path} of a killed sandbox is missing. Changes that were only in the journal are lost. The start continues without them.`,
      )
    const { digest } = this.#document
    const { marks = [], changes: all = [], torn = 0 } = found ?? {}
    const mark = marks.findLast(({ document }) => document === digest)
    if (!mark && all.length > 0)
      throw new EditedBesideJournal(file, path, all.length, this.hasDocument)
    if (torn > 0)
      log.warn(
        `${path}: the last ${torn} bytes are an incomplete write; they are dropped. If something else than a kill cut the file, whole lines before them may be missing.`,
      )
    this.#document.isOurs = mark !== undefined
    await this.#db.read()
    readStates(this.#db.data, this.#worlds, shape)
    const changes = all.filter(({ line }) => line > (mark?.upTo ?? 0))
    this.#worlds.replay(changes, ({ line }, error) => {
      throw new DamagedFile(
        `${path}: line ${line} cannot be applied: ${error.message}. ${START_WITHOUT}`,
      )
    })
    const isEmpty = digest === null && this.#worlds.byName.size === 0
    if (mark || isEmpty)
      this.#journal.begin(
        digest,
        changes.map(({ change }) => JSON.stringify(change)),
      )
    if (mark ? changes.length > 0 : !isEmpty) await this.#rewrite()
    else this.#document.tidy()
  }

  // ---- ownership

  /** Throws `LostOwnership` if the lock, the journal or the folder is no longer ours, now or earlier. */
  readonly #confirm = () => {
    if (this.#lost) throw this.#lost
    const why = this.#lock.whyLost() ?? this.#journal.whyLost()
    if (why === undefined) return
    this.#lost = new LostOwnership(
      `This process no longer owns the data file ${this.#options.file}: ${why}. It rejects all changes from now on. ` +
        'Restart it to continue with the current content of the data file. If you need its present state, export it first (payout-sandbox state export).',
    )
    this.#options.log.error(this.#lost.message)
    throw this.#lost
  }

  /** Checks the ownership again; returns why it's lost. It can't be regained. */
  lostOwnership(): string | undefined {
    try {
      if (!this.#isClosed) this.#confirm()
    } catch {
      // Lost; or the disk failed just now, then the next write checks again.
    }
    return this.#lost?.message
  }

  // ---- writing

  /** Writes changes to the journal. Throws `storage_unavailable`. */
  readonly write: WriteChanges = (changes) => {
    try {
      this.#append(changes)
    } catch (error) {
      throw this.#failed(error)
    }
    const from = Math.max(this.#rewriteFrom, this.#document.bytes, this.#nextTry)
    if (!this.#compacting && this.#journal.bytes >= from) void this.compact()
  }

  #append(changes: Parameters<WriteChanges>[0]) {
    this.#journal.append(changes)
    if (this.#failure === undefined) return
    this.#options.log.info(`The data file ${this.#options.file} can be written again.`)
    this.#failure = undefined
  }

  #failed(error: unknown): SandboxError {
    if (error instanceof LostOwnership)
      return new SandboxError('storage_unavailable', `${error.message} Nothing was changed.`)
    const code = errnoOf(error)
    if (this.#failure === undefined)
      this.#options.log.warn(
        `The data file ${this.#options.file} cannot be written (${code}). The sandbox rejects all changes until it can write again.`,
      )
    this.#failure = code
    return new SandboxError(
      'storage_unavailable',
      `The data file cannot be written (${code}); nothing was changed. Free disk space or make the file writable, then try again.`,
      { headers: { 'retry-after': '1' } },
    )
  }

  /** Tries again after a failed write; returns the errno if it still fails. */
  failure(): string | undefined {
    try {
      // An empty change.
      if (this.#failure !== undefined && !this.#isClosed) this.#append([[['', 0, []]]])
    } catch (error) {
      this.#failure = errnoOf(error)
    }
    return this.#failure
  }

  get hasDocument(): boolean {
    return this.#document.digest !== null
  }

  /** Rewrites the document and begins an empty journal. The sandbox serves requests meanwhile. */
  compact(): Promise<void> {
    // Changes that may still be rolled back must not be in the document. The flush may itself start a compaction.
    if (!this.#compacting) this.#worlds.unit.flush()
    this.#compacting ??= this.#tryToRewrite().finally(() => {
      this.#compacting = undefined
    })
    return this.#compacting
  }

  async #tryToRewrite() {
    try {
      await this.#rewrite()
      this.#nextTry = 0
    } catch (error) {
      // Waits for more changes before the next try; else every change would try again.
      this.#nextTry = this.#journal.bytes + this.#rewriteFrom
      if (!(error instanceof LostOwnership))
        this.#options.log.warn(
          `The document ${this.#options.file} could not be rewritten (${errnoOf(error)}). The sandbox continues to write to the journal.`,
        )
    }
  }

  /** Writes the document with the state of this moment. The changes from now on are in its journal. */
  async #rewrite() {
    this.#worlds.dropUnusedBases()
    this.#worlds.journaled.clear()
    this.#journal.keep()
    this.#db.data = documentOf(this.#worlds, this.#options.shape)
    await this.#db.write()
    this.#journal.begin(this.#document.digest)
  }

  async close() {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#worlds.unit.flush()
    await this.#compacting
    try {
      if (!this.#journal.isEmpty) await this.compact()
      this.#journal.close()
    } finally {
      this.#lock.release()
    }
  }

  /** Gives the files up, after a failed start. */
  abandon() {
    ignoreErrors(() => this.#journal.close())
  }
}

/** Takes the data file and reads it into empty worlds. */
async function openDataFile<Rows>(given: DataFileOptions<Rows>, worlds: Worlds<Rows>) {
  const { disk, log } = given
  const file = resolveLinks(disk, given.file)
  const options = { ...given, file }
  makeFolder(disk, dirname(file))
  for (const path of [file, `${file}.journal`]) requireRegular(disk, path)
  requireRegular(disk, `${file}.lock`, (found) => found.isSocket())
  const lock = await takeLock(disk, file)
  let opened: DataFile<Rows> | undefined
  const open = async () => {
    opened = new DataFile(options, worlds, lock)
    await opened.open()
    return opened
  }
  try {
    rejectMountedFile(disk, file)
    try {
      if (given.mustBeNew && dataFiles(disk, file).length > 0) throw new DataFileExists(given.file)
      return await open()
    } catch (error) {
      if (!(error instanceof UnreadableFile) || !given.reset) throw error
      const copies = backUpAll(
        disk,
        file,
        error instanceof DataFileExists ? 'replaced' : 'damaged',
        given.wall(),
      )
      log.warn(`${error.message}. The sandbox starts with a new data file. Backup: ${copies}.`)
    }
    for (const path of dataFiles(disk, file)) removeFile(disk, path)
    worlds.clear()
    return await open()
  } catch (error) {
    opened?.abandon()
    lock.release()
    throw error
  }
}

/** Opens the store. A change is in the journal before it commits; if it cannot be written, it throws `storage_unavailable`. */
export async function openStore<Rows>({
  specs,
  dataFile,
}: {
  specs: Specs<Rows>
  dataFile?: DataFileOptions<Rows>
}) {
  const worlds = new Worlds(specs)
  const { unit, byName, bases } = worlds
  const files = dataFile && (await openDataFile(dataFile, worlds))
  unit.write = files?.write
  return {
    worlds: byName as ReadonlyMap<string, WorldTables<Rows>>,
    bases: bases as ReadonlyMap<string, Base<Rows>>,
    makeBase: (key: string, rows: BaseRows<Rows>) => worlds.makeBase(key, rows),
    fixtures: worlds.fixtures,
    addWorld: (name: string, base: Base<Rows>, about?: WorldAbout) => worlds.add(name, base, about),
    forkWorld: (...args: Parameters<Worlds<Rows>['fork']>) => worlds.fork(...args),
    change: unit.change,
    batch: unit.batch,
    onDurable: unit.onDurable,
    compact: async () => files?.compact(),
    /** Whether the document is missing, although there is a data file. */
    get lacksDocument() {
      return files !== undefined && !files.hasDocument
    },
    /** The errno of the last failed write, if writes still fail. */
    get failure() {
      return files?.failure()
    },
    /** Checks the ownership again; returns why it's lost. It can't be regained. */
    lostOwnership: () => files?.lostOwnership(),
    close: async () => files?.close(),
  }
}

export type Store<Rows> = Awaited<ReturnType<typeof openStore<Rows>>>
