import { crc32 } from 'node:zlib'

const LINE_FEED = 10
const SPACE = 32
// The digits of the checksum and the space after them.
const HEAD_BYTES = 9
// The maximum size of a UTF-16 code unit in UTF-8.
const MAX_BYTES = 3
// A larger buffer is not reused for the next lines.
const MAX_REUSED_BYTES = 1024 * 1024

const crcHex = (body: Buffer) => crc32(body).toString(16).padStart(8, '0')

const bytesOf = (changes: readonly string[]) =>
  changes.reduce((sum, json) => sum + HEAD_BYTES + Buffer.byteLength(json) + 1, 0)

let reusedBuffer = Buffer.allocUnsafe(64 * 1024)

/**
 * Returns the bytes of changes in the journal, one line each: checksum, space, JSON, line feed. The next call
 * overwrites the bytes.
 */
export function checkedLines(changes: readonly string[]): Buffer {
  let maxBytes = 0
  for (const json of changes) maxBytes += HEAD_BYTES + MAX_BYTES * json.length + 1
  let bytes = reusedBuffer
  if (maxBytes > MAX_REUSED_BYTES) bytes = Buffer.allocUnsafe(bytesOf(changes))
  else if (maxBytes > bytes.length) {
    bytes = Buffer.allocUnsafe(maxBytes)
    reusedBuffer = bytes
  }
  let end = 0
  for (const json of changes) {
    const start = end
    const from = start + HEAD_BYTES
    end = from + bytes.write(json, from)
    bytes.write(crcHex(bytes.subarray(from, end)), start, 'latin1')
    bytes[from - 1] = SPACE
    bytes[end++] = LINE_FEED
  }
  return bytes.subarray(0, end)
}

/** The position and the description of a damage in a file. */
export type Damage = { file: string; line: number; byte: number; what: string }

/** A data file is damaged. It is not changed. */
export class DamagedFile extends Error {
  readonly damage: Damage
  constructor(damage: Damage) {
    super(`${damage.file}: line ${damage.line}, byte ${damage.byte}: ${damage.what}`)
    this.name = 'DamagedFile'
    this.damage = damage
  }
}

/** The result of reading a journal: the valid bytes and lines, and the bytes of an incomplete write at its end. */
export type ReadResult = { goodBytes: number; lines: number; tornBytes: number }

/** Whether the checksum of a line matches its bytes. */
const isWhole = (line: Buffer): boolean =>
  line[HEAD_BYTES - 1] === SPACE &&
  line.toString('latin1', 0, HEAD_BYTES - 1) === crcHex(line.subarray(HEAD_BYTES))

/**
 * Reads lines with checksums and calls `onLine` with the value of each, in order.
 *
 * Bytes after the last line feed are an incomplete write that was never acknowledged; they count as torn. A complete
 * line with a wrong checksum is damage: it ends the reading and calls `onDamage`, which throws `DamagedFile` by
 * default.
 */
export function readCheckedLines(
  file: string,
  content: Buffer,
  onLine: (value: unknown) => void,
  onDamage: (damage: Damage) => void = (damage) => {
    throw new DamagedFile(damage)
  },
): ReadResult {
  let start = 0
  let lines = 0
  while (start < content.length) {
    const end = content.indexOf(LINE_FEED, start)
    if (end === -1) break
    if (!isWhole(content.subarray(start, end))) {
      onDamage({ file, line: lines + 1, byte: start, what: 'the checksum does not match the line' })
      return { goodBytes: start, lines, tornBytes: 0 }
    }
    onLine(JSON.parse(content.toString('utf8', start + HEAD_BYTES, end)))
    lines++
    start = end + 1
  }
  if (start < content.length) {
    // A complete line with only a changed line feed was acknowledged, so it is damage and not a torn write.
    if (isWhole(content.subarray(start, content.length - 1))) {
      onDamage({
        file,
        line: lines + 1,
        byte: content.length - 1,
        what: 'the line feed is missing',
      })
      return { goodBytes: start, lines, tornBytes: 0 }
    }
  }
  return { goodBytes: start, lines, tornBytes: content.length - start }
}
