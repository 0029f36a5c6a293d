import { crc32 } from 'node:zlib'

const LINE_FEED = 10
const SPACE = 32
// The checksum's digits and the space behind them.
const HEAD_BYTES = 9
// What a UTF-16 code unit takes in UTF-8, at most.
const MAX_BYTES = 3
// More than this is not kept for the next lines.
const MAX_REUSED_BYTES = 1024 * 1024

const crcHex = (body: Buffer) => crc32(body).toString(16).padStart(8, '0')

const bytesOf = (changes: readonly string[]) =>
  changes.reduce((sum, json) => sum + HEAD_BYTES + Buffer.byteLength(json) + 1, 0)

let reusedBuffer = Buffer.allocUnsafe(64 * 1024)

/**
 * Changes as they stand in the journal, a line each: checksum, space, JSON, line feed. The bytes are good until the
 * next call, which writes over them.
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

/** A place in a file that can't be trusted, in words and numbers that its owner can use. */
export type Damage = { file: string; line: number; byte: number; what: string }

/** A data file that is not as it was written. It is left as it is. */
export class DamagedFile extends Error {
  readonly damage: Damage
  constructor(damage: Damage) {
    super(`${damage.file}: line ${damage.line}, byte ${damage.byte}: ${damage.what}`)
    this.name = 'DamagedFile'
    this.damage = damage
  }
}

/** What reading a journal found: how much of it is good, and whether a write had been cut short at its end. */
export type ReadResult = { goodBytes: number; lines: number; tornBytes: number }

/** Whether the bytes of a line are those its checksum was made of. */
const isWhole = (line: Buffer): boolean =>
  line[HEAD_BYTES - 1] === SPACE &&
  line.toString('latin1', 0, HEAD_BYTES - 1) === crcHex(line.subarray(HEAD_BYTES))

/**
 * Reads checksummed lines and hands on each one's value, in order.
 *
 * Bytes after the last line feed are a write that never finished: they were acknowledged to nobody and count as torn.
 * A complete line whose checksum is wrong is damage: `DamagedFile`, unless `onDamage` takes it, which ends the reading.
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
    // A whole line whose line feed alone was changed was acknowledged: that is damage, not a torn write.
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
