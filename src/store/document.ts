import { type Adapter, Low } from 'lowdb'
import { nodeZlib } from '../runtime/node-modules.ts'
import {
  copyToFree,
  createPrivate,
  type Disk,
  ignoreErrors,
  readIfExists,
  removeFile,
  syncFile,
  syncFolderOf,
  writeOn,
} from './disk.ts'
import { DamagedFile, FORMAT, OtherFormat } from './errors.ts'
import type { DocumentContent } from './states.ts'

/** The digest of a document. Another content has another one, unless somebody takes great pains. */
export const digestOf = (bytes: Buffer): string =>
  `${bytes.length}-${nodeZlib().crc32(bytes).toString(16)}`

/** Reads an edited document, which can have anything in it; throws `DamagedFile` with all problems. */
export type ReadEdited = (file: string, text: string) => Promise<DocumentContent>

/** The text of a file, without a byte order mark. */
const textOf = (bytes: Buffer): string => bytes.toString('utf8').replace(/^\ufeff/, '')

/** Reads a document as JSON, and checks its format. */
export async function readPlain(file: string, text: string): Promise<DocumentContent> {
  let content: Partial<DocumentContent> | null
  try {
    content = JSON.parse(text)
  } catch (error) {
    throw new DamagedFile(`${file}: ${(error as Error).message}`)
  }
  const { format } = content ?? {}
  if (format !== FORMAT) throw new OtherFormat(file, format)
  return content as DocumentContent
}

type DocumentOptions = {
  disk: Disk
  file: string
  readEdited: ReadEdited
  /** Throws if this process does not own the data file. */
  confirm: () => void
  /** Begins the journal of a new document, with the digests of both. The new document is then put in place. */
  onWritten: (document: string, previous: string | null) => void
  log: { warn(message: string): void }
}

const NOTHING: DocumentContent = { format: FORMAT, clients: {} }
const CHUNK_CHARS = 64 * 1024

/** The document of a data file, which lowdb reads and writes. */
export class Document {
  readonly #adapter: DocumentAdapter
  readonly #low: Low<DocumentContent | Iterable<string>>

  constructor(options: DocumentOptions) {
    this.#adapter = new DocumentAdapter(options)
    this.#low = new Low<DocumentContent | Iterable<string>>(this.#adapter, NOTHING)
  }

  /** The digest of the document in its place; null if there is none. */
  get digest(): string | null {
    return this.#adapter.digest
  }

  /** The size of the file. */
  get bytes(): number {
    return Number.parseInt(this.digest ?? '0', 10)
  }

  /** Finds out the digest of the document. Finishes what a killed process began: it had begun the journal of a draft. */
  open(journal: { document: string | null; previous: string | null } | undefined) {
    this.#adapter.open(journal)
  }

  /** Removes what a failed write may have left. */
  tidy() {
    this.#adapter.tidy()
  }

  /** Reads the content; one that this program did not write is checked. */
  async read(isOurs: boolean): Promise<DocumentContent> {
    this.#adapter.isOurs = isOurs
    await this.#low.read()
    return this.#low.data as DocumentContent
  }

  /** Writes a new document, of pieces of text. */
  async write(pieces: Iterable<string>): Promise<void> {
    this.#low.data = pieces
    try {
      await this.#low.write()
    } finally {
      // It refers to rows that are no longer needed.
      this.#low.data = NOTHING
    }
  }
}

/**
 * The lowdb adapter of the document. `write` writes a draft beside the old document, without blocking the event loop,
 * syncs it and renames it. So a reader finds either the whole old document or the whole new one. An old document that
 * somebody has edited meanwhile is copied aside.
 */
class DocumentAdapter implements Adapter<DocumentContent | Iterable<string>> {
  digest: string | null = null
  isOurs = false
  readonly #options: DocumentOptions
  readonly #draft: string
  /** The digest of a draft that the journal belongs to already, if it could not be put in place. */
  #waiting: string | undefined

  constructor(options: DocumentOptions) {
    this.#options = options
    this.#draft = `${options.file}.tmp`
  }

  #digestAt(path: string): string | null {
    const bytes = readIfExists(this.#options.disk, path)
    return bytes ? digestOf(bytes) : null
  }

  open(journal: { document: string | null; previous: string | null } | undefined) {
    const { disk, file } = this.#options
    this.digest = this.#digestAt(file)
    const isUnfinished =
      journal && journal.document !== this.digest && journal.previous === this.digest
    if (!isUnfinished || journal.document !== this.#digestAt(this.#draft)) return
    disk.renameSync(this.#draft, file)
    this.digest = journal.document
  }

  tidy() {
    ignoreErrors(() => removeFile(this.#options.disk, this.#draft))
  }

  async read(): Promise<DocumentContent | null> {
    const { disk, file, readEdited } = this.#options
    const bytes = readIfExists(disk, file)
    if (!bytes) return null
    return this.isOurs ? JSON.parse(textOf(bytes)) : await readEdited(file, textOf(bytes))
  }

  async write(pieces: DocumentContent | Iterable<string>): Promise<void> {
    const { confirm, onWritten } = this.#options
    confirm()
    // The changes of the journal belong to the draft that waits.
    if (this.#waiting !== undefined) {
      this.#keepEdit()
      this.#putInPlace(this.#waiting)
    }
    let isUsed = false
    try {
      const digest = await this.#writeDraft(pieces as Iterable<string>)
      confirm()
      const previous = this.#keepEdit()
      // The journal may belong to it even if an error is reported.
      isUsed = true
      onWritten(digest, previous)
      this.#waiting = digest
      this.#putInPlace(digest)
    } catch (error) {
      if (!isUsed)
        ignoreErrors(() => {
          confirm()
          this.tidy()
        })
      throw error
    }
  }

  #putInPlace(digest: string) {
    const { disk, file } = this.#options
    disk.renameSync(this.#draft, file)
    this.digest = digest
    this.#waiting = undefined
    syncFolderOf(disk, file)
  }

  /** Copies a document aside that is not as it was read or written here; returns the digest of what is in place. */
  #keepEdit(): string | null {
    const { disk, file, log } = this.#options
    const there = this.#digestAt(file)
    if (there === this.digest) return there
    if (there !== null) {
      const copy = copyToFree(disk, file, `${file}.edited`)
      log.warn(
        `${file} was edited while the sandbox runs, which does not read it again. The edit is kept as ${copy}. To use it, stop the sandbox and replace ${file} by it.`,
      )
    }
    this.digest = there
    return there
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
      await writeOn(disk, fd, bytes)
    }
    try {
      for (const piece of pieces) {
        chunk += piece
        if (chunk.length >= CHUNK_CHARS) await flush()
      }
      await flush()
      await syncFile(disk, fd)
      return `${size}-${crc.toString(16)}`
    } finally {
      ignoreErrors(() => disk.closeSync(fd))
    }
  }
}
