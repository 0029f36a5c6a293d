import { nodeZlib } from '../runtime/runtime.ts'
import {
  createPrivate,
  type Disk,
  ignoreErrors,
  isSameFile,
  readIfExists,
  syncFolderOf,
} from './disk.ts'
import { DamagedFile, FORMAT, START_WITHOUT } from './errors.ts'
import type { AtomicChange } from './unit-of-work.ts'

/** A line that names a document by its digest (null: none), which has all changes up to a line; the first line is one. */
type Mark = { format: number; document: string | null; upTo: number }

// A line is `["1a2b3c4d",JSON]`, with a change or a mark. The CRC-32 of the JSON begins with the number of the line, so a
// missing line is noticed.
const START = '["'
const CRC_LENGTH = 8
const TEXT_AT = START.length + CRC_LENGTH + 2

const crcOf = (text: string | Buffer, line: number): string =>
  nodeZlib().crc32(text, line).toString(16).padStart(CRC_LENGTH, '0')

const lineOf = (text: string, line: number): string => `${START}${crcOf(text, line)}",${text}]\n`

/** The JSON text of a line without its end; `undefined` if the line is not as it was written. */
function textIn(line: Buffer, number: number): string | undefined {
  const text = line.subarray(TEXT_AT, -1)
  const isWhole =
    line.toString('latin1', 0, TEXT_AT) === `${START}${crcOf(text, number)}",` &&
    line.toString('latin1', Math.max(TEXT_AT, line.length - 1)) === ']'
  return isWhole ? text.toString('utf8') : undefined
}

type ReadJournal = {
  marks: Mark[]
  changes: { line: number; change: AtomicChange }[]
  /** The size of an incomplete write at the end, which was never acknowledged unless somebody cut the file. */
  torn: number
}

/** Reads a journal; `undefined` if there's none. Throws `DamagedFile` at the first damaged line. */
export function readJournal(disk: Disk, path: string): ReadJournal | undefined {
  const bytes = readIfExists(disk, path)
  if (!bytes) return undefined
  const read: ReadJournal = { marks: [], changes: [], torn: 0 }
  let [start, number] = [0, 1]
  do {
    const feed = bytes.indexOf('\n', start)
    const end = feed === -1 ? bytes.length : feed
    const line = bytes.subarray(start, end)
    const text = textIn(line, number)
    if (text === undefined) {
      // A journal is put in its place with its first line. If only the line feed is wrong, the line was acknowledged.
      const isTorn = feed === -1 && number > 1 && textIn(line.subarray(0, -1), number) === undefined
      const what =
        bytes.length === 0
          ? 'the file is empty, and a journal never is'
          : `line ${number} is not as it was written: its checksum differs`
      if (!isTorn) throw new DamagedFile(`${path}: ${what}. ${START_WITHOUT}`)
      read.torn = line.length
      break
    }
    const value = JSON.parse(text) as Mark | AtomicChange
    if ('document' in value) read.marks.push(value)
    else read.changes.push({ line: number, change: value })
    start = end + 1
    number++
  } while (start < bytes.length)
  return read
}

/** The write-ahead file: each change is a line, written before its response is sent. */
export class Journal {
  readonly path: string
  readonly #disk: Disk
  readonly #fsync: boolean
  /** Throws if this process does not own the data file. */
  readonly #confirm: () => void
  #fd: number | undefined
  #size = 0
  #lines = 0
  /** Whether a failed write may have left bytes after the last complete line. */
  #isTorn = false
  /** How many changes the document in its place does not have. */
  #changes = 0
  /** The changes since a new document was begun, and the number of lines then. */
  #kept: string[] | undefined
  #upTo = 0

  constructor(disk: Disk, path: string, fsync: boolean, confirm: () => void) {
    this.#disk = disk
    this.path = path
    this.#fsync = fsync
    this.#confirm = confirm
  }

  get bytes(): number {
    return this.#size
  }

  get isEmpty(): boolean {
    return this.#changes === 0
  }

  /** Why the file is no longer ours; `undefined` while it is. */
  whyLost(): string | undefined {
    if (this.#fd === undefined) return undefined
    const there = this.#disk.statSync(this.path, { throwIfNoEntry: false })
    if (!isSameFile(there, this.#disk.fstatSync(this.#fd)))
      return `its journal ${this.path} was removed or replaced`
    return there!.size < this.#size ? `its journal ${this.path} was cut` : undefined
  }

  /** Keeps the changes from now on: a document is begun that does not have them. */
  keep() {
    this.#kept = []
    this.#upTo = this.#lines
  }

  /** Begins the journal of a document in a new file, with changes that the document does not have (default: the kept ones). */
  begin(document: string | null, changes: readonly string[] = this.#kept ?? []) {
    const mark: Mark = { format: FORMAT, document, upTo: 1 }
    const lines = [JSON.stringify(mark), ...changes].map((text, i) => lineOf(text, i + 1))
    const bytes = Buffer.from(lines.join(''))
    const draft = `${this.path}.tmp`
    const fd = createPrivate(this.#disk, draft)
    try {
      this.#disk.writeFileSync(fd, bytes)
      // Needed without fsync too: what is on the disk from the old file must also be there from the new one.
      this.#disk.fdatasyncSync(fd)
      this.#confirm()
      this.#disk.renameSync(draft, this.path)
    } catch (error) {
      ignoreErrors(() => this.#disk.closeSync(fd))
      ignoreErrors(() => this.#disk.unlinkSync(draft))
      throw error
    }
    const before = this.#fd
    this.#fd = fd
    this.#size = bytes.length
    this.#lines = lines.length
    this.#isTorn = false
    this.#changes = changes.length
    this.#kept = undefined
    if (before !== undefined) ignoreErrors(() => this.#disk.closeSync(before))
    syncFolderOf(this.#disk, this.path)
  }

  /** Says that the next document has the changes before `keep`. It is then put in its place. */
  mark(document: string) {
    const mark: Mark = { format: FORMAT, document, upTo: this.#upTo }
    if (this.#fd !== undefined) this.#write([JSON.stringify(mark)], true)
  }

  /** Writes all changes or none; after it returns, a kill does not lose them, nor, with fsync, a power failure. */
  append(changes: readonly AtomicChange[]) {
    const texts = changes.map((change) => JSON.stringify(change))
    this.#write(texts, this.#fsync)
    this.#changes += texts.length
    this.#kept?.push(...texts)
  }

  #write(texts: readonly string[], syncs: boolean) {
    const fd = this.#fd
    if (fd === undefined) throw new Error('The journal is closed')
    if (this.#isTorn) {
      // A file that was cut would grow.
      this.#confirm()
      this.#disk.ftruncateSync(fd, this.#size)
    }
    this.#isTorn = true
    const bytes = Buffer.from(texts.map((text, i) => lineOf(text, this.#lines + 1 + i)).join(''))
    const before = this.#size
    try {
      this.#disk.writeFileSync(fd, bytes)
      if (syncs) this.#disk.fdatasyncSync(fd)
      this.#size += bytes.length
      this.#confirm()
    } catch (error) {
      const isWhole = this.#size > before
      this.#size = before
      // A rejected change must not reappear at the next start, also in a file that was cut before it.
      const end = isWhole ? this.#disk.fstatSync(fd).size - bytes.length : before
      this.#disk.ftruncateSync(fd, Math.min(before, end))
      throw error
    }
    this.#isTorn = false
    this.#lines += texts.length
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
