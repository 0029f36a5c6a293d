import { constants } from 'node:fs'
import { dirname } from 'node:path'
import type { Later } from '../runtime/real-time.ts'
import { createAvailability } from './availability.ts'
import { createCompaction } from './compaction.ts'
import { DamagedFile, OtherFormat } from './damaged-file.ts'
import type { Disk } from './disk.ts'
import { Document } from './document.ts'
import { errnoOf, fileExists, makeFolder, removeFile, resolveLinks } from './files.ts'
import { Journal } from './journal.ts'
import {
  journalNumbers,
  journalPath,
  olderJournals,
  type ReadJournal,
  readJournals,
} from './journal-files.ts'
import { LostOwnership, type Ownership, takeOwnership } from './ownership.ts'
import { OpReader, opsOf } from './state-ops.ts'
import type { WriteChanges } from './unit-of-work.ts'
import { rejectMountedFile, requireRegularFiles } from './unusable-file.ts'
import type { Worlds } from './worlds.ts'

// A clean stop compacts a store up to this size; with a larger one the stop would take too long.
const COMPACT_AT_STOP_BYTES = 16 * 1024 * 1024

export type StoreLog = {
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

export type DataFileOptions = {
  file: string
  fsync: boolean
  onDamage: 'refuse' | 'recover' | 'reset'
  compactFrom: number | undefined
  disk: Disk
  wall: () => number
  later: Later
  log: StoreLog
}

/** The open files of a store, and the worlds that they contain. */
type Opened<Rows> = {
  options: DataFileOptions
  worlds: Worlds<Rows>
  owner: Ownership
  document: Document
  journal: Journal
  /** The number of entries that were read. */
  entries: number
}

/** The document and the journals of a store, which this process owns. */
export class DataFiles<Rows> {
  readonly #options: DataFileOptions
  readonly #worlds: Worlds<Rows>
  readonly #owner: Ownership
  readonly #document: Document
  readonly #journal: Journal
  readonly #availability: ReturnType<typeof createAvailability>
  readonly #compaction: ReturnType<typeof createCompaction>
  #compacting: Promise<void> | undefined
  #isClosed = false

  constructor({ options, worlds, owner, document, journal, entries }: Opened<Rows>) {
    this.#options = options
    this.#worlds = worlds
    this.#owner = owner
    this.#document = document
    this.#journal = journal
    this.#availability = createAvailability({
      file: options.file,
      log: options.log,
      // Appending an empty change shows whether the disk accepts writes again.
      probe: () => journal.append([[['', 0, []]]]),
    })
    this.#compaction = createCompaction({
      from: options.compactFrom,
      journalBytes: () => journal.bytes,
      documentBytes: () => document.bytes,
      countRows: () => worlds.countRows(),
      later: options.later,
      compact: () => void this.compact(),
    })
    this.#compaction.count(entries)
  }

  /** Writes changes to the journal. Throws `storage_unavailable`. */
  readonly write: WriteChanges = (changes) => {
    try {
      this.#journal.append(changes)
    } catch (error) {
      throw this.#availability.failed(error)
    }
    for (const change of changes) for (const [, , ops] of change) this.#compaction.count(ops.length)
    this.#availability.written()
    if (!this.#compacting) this.#compaction.written()
  }

  /** Rewrites the document and starts an empty journal. The sandbox serves requests meanwhile. */
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
      await this.rewrite()
    } catch (error) {
      this.#compaction.failed()
      if (!(error instanceof LostOwnership))
        this.#options.log.warn(
          `The document ${this.#options.file} could not be rewritten (${errnoOf(error)}). The sandbox continues to write to the journal.`,
        )
    }
  }

  /** Writes the document with the state of this moment, and removes the journals until now. */
  async rewrite() {
    const release = this.#worlds.keepFrozen()
    try {
      const generation = this.#journal.rotate()
      this.#worlds.dropUnusedBases()
      const { entries } = this.#compaction
      const rows = this.#worlds.countRows()
      await this.#document.write({ generation, ops: opsOf(this.#worlds) })
      this.#journal.dropOlder()
      this.#compaction.compacted(rows, entries)
    } finally {
      release()
    }
  }

  /** The errno of the last failed write; `undefined` while writes succeed. */
  get failure(): string | undefined {
    return this.#availability.failure
  }

  /** Checks the ownership again; returns why it is lost, which is final. */
  lostOwnership(): string | undefined {
    try {
      if (!this.#isClosed) this.#owner.confirm()
    } catch {
      // Lost; or the disk failed just now, then the next write checks again.
    }
    return this.#owner.lost
  }

  async close() {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#worlds.unit.flush()
    this.#compaction.stop()
    await this.#compacting
    try {
      const total = this.#journal.bytes + this.#document.bytes
      if (!this.#journal.isEmpty && total <= COMPACT_AT_STOP_BYTES) await this.compact()
      this.#journal.close()
    } finally {
      this.#availability.stop()
      this.#owner.release()
    }
  }
}

// ---- opening

/** Takes the data file and reads it into empty worlds. */
export async function openDataFiles<Rows>(
  given: DataFileOptions,
  worlds: Worlds<Rows>,
): Promise<DataFiles<Rows>> {
  const { disk, later, log, onDamage } = given
  const file = resolveLinks(disk, given.file)
  const options = { ...given, file }
  makeFolder(disk, dirname(file))
  requireRegularFiles(disk, [...dataFiles(disk, file), `${file}.lock`])
  const owner = await takeOwnership({ disk, file, later, log })
  try {
    rejectMountedFile(disk, file)
    try {
      return await open(options, worlds, owner)
    } catch (error) {
      if (!(error instanceof DamagedFile) || onDamage !== 'reset') throw error
      log.warn(
        `${error.message}. The sandbox starts with an empty data file; copies of the old files are ${backUp(options)}.`,
      )
    }
    for (const path of dataFiles(disk, file)) removeFile(disk, path)
    worlds.clear()
    return await open(options, worlds, owner)
  } catch (error) {
    owner.release()
    throw error
  }
}

/** Reads and opens the files. Recovers the content before a damage if the options allow it. */
async function open<Rows>(
  options: DataFileOptions,
  worlds: Worlds<Rows>,
  owner: Ownership,
): Promise<DataFiles<Rows>> {
  const { disk, file, fsync, log, onDamage } = options
  const document = new Document(disk, file, owner, worlds.specs)
  const journal = new Journal(disk, file, fsync, owner, worlds.specs)
  const reader = new OpReader(worlds)
  const opened = () =>
    new DataFiles({ options, worlds, owner, document, journal, entries: reader.applied })
  try {
    const { generation, journals } = await readAll(options, owner, document, reader)
    journal.open(generation, journals)
    return opened()
  } catch (error) {
    // Nothing can be recovered from the format of another version.
    if (!(error instanceof DamagedFile) || error instanceof OtherFormat || onDamage !== 'recover')
      throw error
    log.warn(
      `${error.message}. The content before it is recovered; the old files are copied to ${backUp(options)}.`,
    )
  }
  // What follows the damage must not reappear: the document gets the recovered state, and the next journal is empty.
  reader.finish()
  journal.startAfter(journalNumbers(disk, file))
  const files = opened()
  await files.rewrite()
  return files
}

/** Reads the document and its journals in order. */
async function readAll<Rows>(
  { disk, file, log }: DataFileOptions,
  owner: Ownership,
  document: Document,
  reader: OpReader<Rows>,
): Promise<{ generation: number; journals: readonly ReadJournal[] }> {
  const { generation, ops } = await document.read()
  const older = olderJournals(file).find((path) => fileExists(disk, path))
  if (older !== undefined) throw new OtherFormat(older, '3 or older')
  // A clean stop and a kill both leave a journal. If it is missing, changes may be lost.
  const wasUsed = owner.replacedDead || fileExists(disk, file)
  if (wasUsed && !journalNumbers(disk, file).some((number) => number >= generation))
    log.warn(
      `The journal ${journalPath(file, generation)} is missing. Changes that were only in the journal are lost. The start continues without them.`,
    )
  for (const op of ops) reader.apply(op)
  reader.finish()
  const journals = readJournals(disk, file, generation, {
    onChange: (change) => reader.change(change),
    onTorn: (path, bytes) =>
      log.warn(
        `${path}: the last ${bytes} bytes are an incomplete write that was never acknowledged; they are dropped.`,
      ),
  })
  return { generation, journals }
}

/** The paths of the document and all journals, whether they exist or not. */
const dataFiles = (disk: Disk, file: string): string[] => [
  file,
  ...journalNumbers(disk, file).map((number) => journalPath(file, number)),
  ...olderJournals(file),
]

/** Copies the data files; returns the paths of the copies, to print. */
function backUp({ disk, file, wall }: DataFileOptions): string {
  const stamp = new Date(wall()).toISOString().replaceAll(':', '-')
  const copies = dataFiles(disk, file)
    .filter((name) => fileExists(disk, name))
    .map((name) => {
      const copy = `${name}.damaged-${stamp}`
      if (!fileExists(disk, copy)) disk.copyFileSync(name, copy, constants.COPYFILE_EXCL)
      return copy
    })
  return copies.join(', ')
}
