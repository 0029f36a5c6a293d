import { nodeZlib } from '../runtime/node-modules.ts'
import { MAX_UNIT_BYTES } from '../runtime/utf8.ts'
import { DamagedFile } from './damaged-file.ts'
import type { Disk } from './disk.ts'

// An entry of the document or of a journal is a line: its JSON text, a comma, a checksum, a comma. The checksum covers
// all entries of the file up to and including this one, so that a missing line is found too.

const LINE_FEED = 10
const COMMA = 44
const ZERO = 48
const NINE = 57
const OPENING_BRACKET = 91
const CLOSING_BRACKET = 93

/** The checksum of a text that follows text with the checksum `before`. */
export const checksumOf = (text: string, before = 0): number =>
  // Twice as fast as the checksum of a string.
  nodeZlib().crc32(Buffer.from(text), before)

const endOf = (checksum: number) => `,${checksum},\n`
const LONGEST_END = endOf(2 ** 32 - 1).length

/** The line of one entry, and the checksum of the file after it; `before` is the checksum of the file until now. */
export function checkedLine(json: string, before: number) {
  const checksum = checksumOf(json, before)
  return { text: json + endOf(checksum), checksum }
}

// The lines of most calls fit into it, so these calls need no memory of their own.
const lineBytes = Buffer.allocUnsafeSlow(64 * 1024)

/** A buffer for the lines of entries. */
function bufferFor(entries: readonly string[]): Buffer {
  let most = 0
  for (const json of entries) most += MAX_UNIT_BYTES * json.length + LONGEST_END
  if (most <= lineBytes.length) return lineBytes
  let size = 0
  for (const json of entries) size += Buffer.byteLength(json) + LONGEST_END
  return Buffer.allocUnsafe(size)
}

/**
 * The lines of entries as bytes: each entry is encoded only once, in half the time of a text. The bytes are valid until
 * the next call.
 */
export function checkedLines(entries: readonly string[], before: number) {
  const bytes = bufferFor(entries)
  let checksum = before
  let end = 0
  for (const json of entries) {
    const start = end
    end += bytes.write(json, start)
    checksum = nodeZlib().crc32(bytes.subarray(start, end), checksum)
    end += bytes.write(endOf(checksum), end, 'latin1')
  }
  return { bytes: bytes.subarray(0, end), checksum }
}

// A file may be larger than the memory that its content needs, so it is never in memory as a whole.
const PIECE_BYTES = 256 * 1024
// Entries are parsed together, because a call of `JSON.parse` costs as much as a short entry. V8 stores a longer text
// where the memory that it leaves is slow to use again.
const BATCH_BYTES = 64 * 1024

/** The number that bytes state in decimal digits, without a leading zero; -1 if they are anything else. */
function numberIn(bytes: Buffer, start: number, end: number): number {
  if (start === end || (bytes[start] === ZERO && end - start > 1)) return -1
  let number = 0
  for (let i = start; i < end; i++) {
    const digit = bytes[i]!
    if (digit < ZERO || digit > NINE) return -1
    number = 10 * number + digit - ZERO
  }
  return number
}

/** Reads into a buffer from `from` on, as much as fits; returns the number of bytes, 0 at the end of the file. */
function readPiece(disk: Disk, file: string, position: number, buffer: Buffer, from = 0): number {
  const fd = disk.openSync(file, 'r')
  try {
    return disk.readSync(fd, buffer, from, buffer.length - from, position)
  } finally {
    disk.closeSync(fd)
  }
}

/** Reads the lines of a file from its start, piece by piece, and checks its entries. */
export class LineReader {
  readonly file: string
  /** The checksum of the entries so far. */
  checksum = 0
  /** The end of the last line, bytes. */
  end = 0
  readonly #disk: Disk
  /** What was read and is not used yet starts at `#at`, which is the byte `end` of the file. A byte before it is free. */
  #piece = Buffer.allocUnsafe(PIECE_BYTES)
  #size = 1
  #at = 1
  #line = 0
  #start = 0

  constructor(disk: Disk, file: string) {
    this.#disk = disk
    this.file = file
  }

  /** The bytes of the complete lines that were read, in pieces that are valid until the next one. */
  *wholeLines(): Generator<Buffer> {
    for (let position = 0; position < this.end; ) {
      const bytes = readPiece(this.#disk, this.file, position, this.#piece)
      if (bytes === 0) throw this.damaged('it became shorter while it was read')
      yield this.#piece.subarray(0, Math.min(bytes, this.end - position))
      position += bytes
    }
  }

  get isAtEnd(): boolean {
    return this.#at === this.#size && !this.#readOn()
  }

  /** The text of the next complete line; `undefined` if none is left. */
  nextLine(): string | undefined {
    const end = this.#nextEnd()
    if (end === -1) return undefined
    const text = this.#piece.toString('utf8', this.#at, end)
    this.#pass(end)
    return text
  }

  /**
   * The values of the next entries: of those that were read and are complete, until they have `most` bytes, and at least
   * one; `undefined` if no complete line is left. Throws `DamagedFile` if the next line is damaged.
   */
  nextEntries(most: number = BATCH_BYTES): unknown[] | undefined {
    let end = this.#nextEnd()
    if (end === -1) return undefined
    const start = this.#at
    let textEnd = this.#check(end)
    if (textEnd === -1) throw this.damaged('the checksum does not match the line')
    this.#pass(end)
    // A line without a comma at its end is the last of a list.
    while (this.#piece[textEnd] === COMMA && this.#at - start < most) {
      end = this.#lineFeed()
      const next = end === -1 ? -1 : this.#check(end)
      if (next === -1) break
      textEnd = next
      this.#start = this.end
      this.#line++
      this.#pass(end)
    }
    // The lines are the items of a JSON list: an entry, its checksum, an entry, its checksum. Only the entries are kept.
    // The brackets replace bytes that were read: to add them to the text would copy it.
    this.#piece[start - 1] = OPENING_BRACKET
    this.#piece[textEnd] = CLOSING_BRACKET
    const items: unknown[] = JSON.parse(this.#piece.toString('utf8', start - 1, textEnd + 1))
    const count = items.length / 2
    for (let i = 0; i < count; i++) items[i] = items[2 * i]
    items.length = count
    return items
  }

  /**
   * The bytes after the last line feed: an incomplete write that was never acknowledged. Throws `DamagedFile` if only
   * the line feed of a complete line was changed: that line was acknowledged.
   */
  tornBytes(): number {
    const rest = this.#size - this.#at
    const last = this.#size - 1
    if (this.#piece[last - 1] === COMMA && rest > 1 && this.#check(last) !== -1)
      throw this.damaged('the line feed is missing', this.end + rest - 1)
    return rest
  }

  /** A damage in the last line, or after it if no complete line was left. */
  damaged(what: string, byte: number = this.#start): DamagedFile {
    return new DamagedFile({ file: this.file, line: this.#line, byte, what })
  }

  /** Starts the next line; returns its end in the piece, or -1 if no complete line is left. */
  #nextEnd(): number {
    this.#start = this.end
    this.#line++
    let end = this.#lineFeed()
    while (end === -1 && this.#readOn()) end = this.#lineFeed()
    return end
  }

  #lineFeed(): number {
    const end = this.#piece.indexOf(LINE_FEED, this.#at)
    return end < this.#size ? end : -1
  }

  /** Ends the line that ends at a place of the piece. */
  #pass(end: number) {
    this.end += end + 1 - this.#at
    this.#at = end + 1
  }

  /** Reads the next piece, behind what is left of this one; returns whether there was more. */
  #readOn(): boolean {
    const rest = this.#size - this.#at
    const piece = this.#piece
    if (2 * rest > piece.length) this.#piece = Buffer.allocUnsafe(2 * piece.length)
    piece.copy(this.#piece, 1, this.#at, this.#size)
    const bytes = readPiece(this.#disk, this.file, this.end + rest, this.#piece, 1 + rest)
    this.#at = 1
    this.#size = 1 + rest + bytes
    return bytes > 0
  }

  /** Checks the line until a place of the piece; returns the end of its checksum, or -1 if that is wrong. */
  #check(end: number): number {
    const piece = this.#piece
    const sumEnd = piece[end - 1] === COMMA ? end - 1 : end
    let jsonEnd = sumEnd - 1
    while (jsonEnd > this.#at && piece[jsonEnd] !== COMMA) jsonEnd--
    if (jsonEnd <= this.#at) return -1
    const checksum = nodeZlib().crc32(piece.subarray(this.#at, jsonEnd), this.checksum)
    if (numberIn(piece, jsonEnd + 1, sumEnd) !== checksum) return -1
    this.checksum = checksum
    return sumEnd
  }
}
