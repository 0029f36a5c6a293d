import { checkedLines } from './checked-lines.ts'
import type { Disk } from './disk.ts'
import {
  appendWhole,
  createNewPrivate,
  createPrivate,
  ignoreErrors,
  removeFile,
  syncFolderOf,
} from './files.ts'
import { headerText, journalPath, type ReadJournal } from './journal-files.ts'
import type { AtomicChange } from './op.ts'
import { OpEncoder, type RepeatedFields } from './op-codec.ts'
import type { Ownership } from './ownership.ts'

type JournalOwner = Pick<
  Ownership,
  'confirm' | 'confirmIfStale' | 'confirmWritten' | 'expectFile' | 'forgetFile' | 'setJournal'
>

/** The content of a new file: its first line, or the lines of the file that it replaces. */
type Content = { pieces: Iterable<Buffer>; size: number; headerBytes: number; checksum: number }

function headerOf(after: number | undefined): Content {
  const { bytes, checksum } = checkedLines([headerText(after)], 0)
  return { pieces: [bytes], size: bytes.length, headerBytes: bytes.length, checksum }
}

function writeContent(disk: Disk, fd: number, { pieces }: Content) {
  let size = 0
  for (const piece of pieces) size += appendWhole(disk, fd, size, piece)
}

/**
 * The write-ahead file: each change is a line, written before its response is sent.
 *
 * While the document is rewritten, changes are written to the next journal. The journals before it are kept until a
 * document contains their changes.
 */
export class Journal {
  readonly #disk: Disk
  readonly #file: string
  readonly #fsync: boolean
  readonly #owner: JournalOwner
  readonly #encoder: OpEncoder
  #fd: number | undefined
  #number = 0
  #size = 0
  #headerBytes = 0
  #checksum = 0
  /** Whether a failed write may have left bytes after the last complete line. */
  #hasPartialWrite = false
  /** The sizes of the journals before this one that no document contains yet, by number. */
  readonly #older = new Map<number, number>()
  #olderBytes = 0
  /** The number of a journal that could not be created; its file may be there. */
  #failedNumber: number | undefined

  constructor(
    disk: Disk,
    file: string,
    fsync: boolean,
    owner: JournalOwner,
    repeated: RepeatedFields,
  ) {
    this.#disk = disk
    this.#file = file
    this.#fsync = fsync
    this.#owner = owner
    this.#encoder = new OpEncoder(repeated)
  }

  /** The size of all journals, bytes. */
  get bytes(): number {
    return this.#olderBytes + this.#size
  }

  /** Whether no journal contains a change. */
  get isEmpty(): boolean {
    return this.#older.size === 0 && this.#size === this.#headerBytes
  }

  // ---- starting files

  /**
   * Continues the last of the journals that were read, or starts the first one of a document, in a new file. A previous
   * owner that is still alive has the old file open; its writes there do no harm.
   */
  open(generation: number, journals: readonly ReadJournal[]) {
    const last = journals.at(-1)
    for (const { number, lines, stats } of journals.slice(0, -1)) {
      this.#keep(number, lines.end)
      this.#owner.expectFile(journalPath(this.#file, number), stats)
    }
    if (last && last.headerBytes > 0) {
      const { lines, headerBytes, number } = last
      const { end: size, checksum } = lines
      this.#replace(number, { pieces: lines.wholeLines(), size, headerBytes, checksum })
    } else this.#replace(last?.number ?? generation, headerOf(journals.at(-2)?.lines.end))
  }

  #replace(number: number, content: Content) {
    const path = journalPath(this.#file, number)
    const draft = `${path}.tmp`
    const fd = createPrivate(this.#disk, draft)
    try {
      writeContent(this.#disk, fd, content)
      // Needed without fsync too: what is on the disk from the old file must also be there from the new one.
      if (this.#fsync || content.size > content.headerBytes) this.#disk.fdatasyncSync(fd)
      this.#disk.renameSync(draft, path)
    } catch (error) {
      ignoreErrors(() => this.#disk.closeSync(fd))
      ignoreErrors(() => this.#disk.unlinkSync(draft))
      throw error
    }
    this.#writeTo(number, fd, content)
  }

  /** Starts an empty journal that does not exist yet. `after` is the size of the journal before it. */
  start(number: number, after?: number) {
    const path = journalPath(this.#file, number)
    if (this.#failedNumber === number) removeFile(this.#disk, path)
    // A file of another process must not be replaced: it may contain acknowledged changes.
    const fd = createNewPrivate(this.#disk, path)
    const header = headerOf(after)
    try {
      writeContent(this.#disk, fd, header)
      if (this.#fsync) this.#disk.fdatasyncSync(fd)
    } catch (error) {
      this.#failedNumber = number
      ignoreErrors(() => this.#disk.closeSync(fd))
      ignoreErrors(() => this.#disk.unlinkSync(path))
      throw error
    }
    this.#writeTo(number, fd, header)
  }

  /** Starts an empty journal after damaged ones, which go when the document is rewritten. */
  startAfter(damaged: readonly number[]) {
    for (const number of damaged) this.#keep(number, 0)
    this.start((damaged.at(-1) ?? 0) + 1)
  }

  #writeTo(number: number, fd: number, { size, headerBytes, checksum }: Content) {
    const before = this.#fd
    this.#fd = fd
    this.#number = number
    this.#size = size
    this.#headerBytes = headerBytes
    this.#checksum = checksum
    this.#hasPartialWrite = false
    this.#encoder.restart()
    if (before !== undefined) ignoreErrors(() => this.#disk.closeSync(before))
    const path = journalPath(this.#file, number)
    if (this.#fsync) syncFolderOf(this.#disk, path)
    this.#owner.setJournal(path, fd)
  }

  // ---- writing

  /**
   * Writes all changes, one line each, or none. After it returns, a kill does not lose them; with fsync, a power
   * failure does not either.
   */
  append(changes: readonly AtomicChange[]) {
    const fd = this.#fd
    if (fd === undefined) throw new Error('The journal is closed')
    this.#owner.confirmIfStale()
    this.#cutPartialWrite()
    this.#hasPartialWrite = true
    const lines = changes.map((change) => this.#encoder.encodeChange(change))
    const { bytes, checksum } = checkedLines(lines, this.#checksum)
    const written = appendWhole(this.#disk, fd, this.#size, bytes)
    try {
      if (this.#fsync) this.#disk.fdatasyncSync(fd)
      this.#owner.confirmWritten()
    } catch (error) {
      // A rejected change must not reappear at the next start.
      this.#disk.ftruncateSync(fd, this.#size)
      throw error
    }
    this.#hasPartialWrite = false
    this.#checksum = checksum
    this.#size += written
  }

  /** Truncates the bytes of a failed write: it was rejected and must not reappear. */
  #cutPartialWrite() {
    if (!this.#hasPartialWrite) return
    this.#disk.ftruncateSync(this.#fd!, this.#size)
    // What the failed write defined is not in the file.
    this.#encoder.restart()
    this.#hasPartialWrite = false
  }

  // ---- rotating

  /**
   * Starts the next journal, unless this one is empty. Returns the generation of a document with the state of this
   * moment.
   */
  rotate(): number {
    this.#owner.confirm()
    if (this.#size === this.#headerBytes) return this.#number
    this.#cutPartialWrite()
    const [number, size] = [this.#number, this.#size]
    const stats = this.#disk.fstatSync(this.#fd!)
    this.start(number + 1, size)
    this.#keep(number, size)
    this.#owner.expectFile(journalPath(this.#file, number), stats)
    return this.#number
  }

  #keep(number: number, bytes: number) {
    this.#older.set(number, bytes)
    this.#olderBytes += bytes
  }

  /** Removes the journals before this one: the document contains their changes. */
  dropOlder() {
    this.#owner.confirm()
    for (const [number, bytes] of this.#older) {
      const path = journalPath(this.#file, number)
      this.#owner.forgetFile(path)
      removeFile(this.#disk, path)
      this.#older.delete(number)
      this.#olderBytes -= bytes
    }
  }

  close() {
    const last = this.#fd
    if (last === undefined) return
    this.#fd = undefined
    try {
      this.#disk.fdatasyncSync(last)
    } finally {
      this.#disk.closeSync(last)
    }
  }
}
