import type { Stats } from 'node:fs'
import { promisify } from 'node:util'
import type { Adapter } from 'lowdb'
import { type Log, nodeZlib } from '../runtime/runtime.ts'
import {
  copyToFree,
  createPrivate,
  type Disk,
  ignoreErrors,
  isSameFile,
  readIfExists,
  removeFile,
  statOf,
  syncFolderOf,
} from './disk.ts'
import { documentText, withShared } from './document-text.ts'
import type { DataDocument } from './states.ts'

/** Reads an edited document, which can have anything in it; throws `DamagedFile` with all problems. */
export type ReadEdited = (file: string, bytes: Buffer) => Promise<DataDocument>

type DocumentOptions = {
  disk: Disk
  file: string
  readEdited: ReadEdited
  /** Throws if this process does not own the data file. */
  confirm: () => void
  /** Has the journal name the new document, which is then put in its place. */
  onWritten: (digest: string) => void
  log: Log
}

const isUntouched = (now: Stats | undefined, then: Stats | undefined) =>
  isSameFile(now, then) &&
  now?.size === then?.size &&
  now?.mtimeMs === then?.mtimeMs &&
  now?.ctimeMs === then?.ctimeMs

const CHUNK_CHARS = 64 * 1024

/** lowdb's adapter for db.json: writes and syncs a draft, then renames it, so a reader finds a whole document, old or new. */
export class DocumentFile implements Adapter<DataDocument> {
  /** Identifies the content that was read or written here; null if there was none. */
  digest: string | null
  /** Whether the content is as this program has written it. */
  isOurs = false
  readonly #options: DocumentOptions
  readonly #draft: string
  /** What stood in its place when it was last read or written. */
  #stats: Stats | undefined

  constructor(options: DocumentOptions) {
    this.#options = options
    this.#draft = `${options.file}.tmp`
    this.digest = this.#digestNow()
  }

  get bytes(): number {
    return Number.parseInt(this.digest ?? '0', 10)
  }

  #digestNow(): string | null {
    const { disk, file } = this.#options
    this.#stats = statOf(disk, file)
    const bytes = readIfExists(disk, file)
    return bytes ? `${bytes.length}-${nodeZlib().crc32(bytes).toString(16)}` : null
  }

  /** Reads the document; `null` if there is none. One that this program did not write is checked. */
  async read(): Promise<DataDocument | null> {
    const { disk, file, readEdited } = this.#options
    const bytes = readIfExists(disk, file)
    if (!bytes) return null
    return this.isOurs
      ? (withShared(JSON.parse(bytes.toString('utf8'))) as DataDocument)
      : await readEdited(file, bytes)
  }

  async write(document: DataDocument): Promise<void> {
    const { disk, file, confirm, onWritten } = this.#options
    confirm()
    try {
      const digest = await this.#writeDraft(documentText(document))
      confirm()
      this.#keepEdit()
      onWritten(digest)
      disk.renameSync(this.#draft, file)
      this.digest = digest
      this.#stats = statOf(disk, file)
    } catch (error) {
      ignoreErrors(() => {
        confirm()
        this.tidy()
      })
      throw error
    }
    syncFolderOf(disk, file)
  }

  /** Removes what a write that failed or was killed may have left. */
  tidy() {
    ignoreErrors(() => removeFile(this.#options.disk, this.#draft))
  }

  /** Copies a document aside that is not as it was read or written here. */
  #keepEdit() {
    const { disk, file, log } = this.#options
    // A large file is read again only if somebody has touched it.
    if (isUntouched(statOf(disk, file), this.#stats)) return
    const there = this.#digestNow()
    if (there === this.digest || there === null) return
    const copy = copyToFree(disk, file, `${file}.edited`)
    log.warn(
      `${file} was edited while the sandbox runs, which does not read it again. The edit is kept as ${copy}. To use it, stop the sandbox and replace ${file} by it.`,
    )
    this.digest = there
  }

  /** Writes the draft and syncs it; returns its digest. */
  async #writeDraft(pieces: Iterable<string>): Promise<string> {
    const { disk } = this.#options
    const fd = createPrivate(disk, this.#draft)
    let [size, crc, chunk] = [0, 0, '']
    const flush = async () => {
      const bytes = Buffer.from(chunk)
      chunk = ''
      size += bytes.length
      crc = nodeZlib().crc32(bytes, crc)
      await promisify(disk.writeFile)(fd, bytes)
    }
    try {
      for (const piece of pieces) {
        chunk += piece
        if (chunk.length >= CHUNK_CHARS) await flush()
      }
      await flush()
      await promisify(disk.fsync)(fd)
      return `${size}-${crc.toString(16)}`
    } finally {
      ignoreErrors(() => disk.closeSync(fd))
    }
  }
}
