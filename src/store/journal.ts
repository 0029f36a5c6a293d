import { nodeZlib } from '../runtime/node-modules.ts'
import {
  appendWhole,
  createPrivate,
  type Disk,
  ignoreErrors,
  isSameFile,
  readIfExists,
  syncFolderOf,
} from './disk.ts'
import { FORMAT } from './errors.ts'
import type { AtomicChange } from './unit-of-work.ts'

/**
 * The first line of a journal. `document` is the digest of the document that its changes belong to, or null if there was
 * none. The document is renamed to its place just after the journal; until then `previous` is there.
 */
type Head = { format: number; document: string | null; previous: string | null }

// A line is `["1a2b3c4d",JSON]`. The CRC-32 of the JSON begins with the number of the line, so a missing line is noticed.
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

/** The lines of a file without their ends, and what follows the last one. */
function linesOf(bytes: Buffer): { lines: Buffer[]; rest: Buffer } {
  const lines: Buffer[] = []
  let at = 0
  for (let end = bytes.indexOf('\n'); end !== -1; end = bytes.indexOf('\n', at)) {
    lines.push(bytes.subarray(at, end))
    at = end + 1
  }
  return { lines, rest: bytes.subarray(at) }
}

export type ReadJournal = {
  /** `undefined`: it cannot be read. */
  head: Head | undefined
  changes: { line: number; change: AtomicChange }[]
  /** The numbers of the lines that cannot be read. */
  bad: number[]
  /** The size of an incomplete write at the end, which was never acknowledged. */
  torn: number
}

/** Reads a journal; `undefined` if there is none. */
export function readJournal(disk: Disk, path: string): ReadJournal | undefined {
  const bytes = readIfExists(disk, path)
  if (!bytes) return undefined
  const { lines, rest } = linesOf(bytes)
  let torn = 0
  if (rest.length > 0) {
    const number = lines.length + 1
    // Only the line feed of a complete line may be wrong: that line was acknowledged.
    const isWhole = [rest, rest.subarray(0, -1)].some((one) => textIn(one, number) !== undefined)
    if (isWhole) lines.push(rest)
    else torn = rest.length
  }
  const read: ReadJournal = { head: undefined, changes: [], bad: [], torn }
  for (const [i, line] of lines.entries()) {
    const text = textIn(line, i + 1)
    if (text === undefined) read.bad.push(i + 1)
    else if (i === 0) read.head = JSON.parse(text) as Head
    else read.changes.push({ line: i + 1, change: JSON.parse(text) as AtomicChange })
  }
  if (lines.length === 0) read.bad.push(1)
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
  #lines = 0
  #size = 0
  #headSize = 0
  /** Whether a failed write may have left bytes after the last complete line. */
  #hasPartialWrite = false
  /** The changes since a document is written, which the next journal begins with. */
  #kept: string[] | undefined

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
    return this.#size === this.#headSize
  }

  /** Why the file is no longer ours; `undefined` while it is. */
  whyLost(): string | undefined {
    if (this.#fd === undefined) return undefined
    const there = this.#disk.statSync(this.path, { throwIfNoEntry: false })
    if (isSameFile(there, this.#disk.fstatSync(this.#fd))) return undefined
    return `its journal ${this.path} was removed or replaced`
  }

  /** Keeps the changes from now on for the next journal. */
  keep() {
    this.#kept = []
  }

  /**
   * Begins the journal of a document in a new file, with the changes that were kept, and puts it in the place of the
   * present one. A previous owner that is still alive has the old file open; its writes there do no harm.
   */
  begin(document: string | null, previous: string | null = null) {
    const head: Head = { format: FORMAT, document, previous }
    const texts = [JSON.stringify(head), ...(this.#kept ?? [])]
    const lines = texts.map((text, i) => lineOf(text, i + 1))
    const bytes = Buffer.from(lines.join(''))
    const draft = `${this.path}.tmp`
    const fd = createPrivate(this.#disk, draft)
    try {
      appendWhole(this.#disk, fd, 0, bytes)
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
    this.#lines = lines.length
    this.#size = bytes.length
    this.#headSize = Buffer.byteLength(lines[0]!)
    this.#hasPartialWrite = false
    this.#kept = undefined
    if (before !== undefined) ignoreErrors(() => this.#disk.closeSync(before))
    syncFolderOf(this.#disk, this.path)
  }

  /**
   * Writes all changes, one line each, or none. After it returns, a kill does not lose them; with fsync, a power
   * failure does not either.
   */
  append(changes: readonly AtomicChange[]) {
    const fd = this.#fd
    if (fd === undefined) throw new Error('The journal is closed')
    if (this.#hasPartialWrite) this.#disk.ftruncateSync(fd, this.#size)
    this.#hasPartialWrite = true
    const texts = changes.map((change) => JSON.stringify(change))
    const bytes = Buffer.from(texts.map((text, i) => lineOf(text, this.#lines + 1 + i)).join(''))
    appendWhole(this.#disk, fd, this.#size, bytes)
    try {
      if (this.#fsync) this.#disk.fdatasyncSync(fd)
      this.#confirm()
    } catch (error) {
      // A rejected change must not reappear at the next start.
      this.#disk.ftruncateSync(fd, this.#size)
      throw error
    }
    this.#hasPartialWrite = false
    this.#size += bytes.length
    this.#lines += texts.length
    this.#kept?.push(...texts)
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
