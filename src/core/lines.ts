import { crc32 } from 'node:zlib'

const crcHex = (body: string | Buffer) => crc32(body).toString(16).padStart(8, '0')

/** One change as it stands in the journal: checksum, space, JSON, line feed. */
export const checkedLine = (json: string): string => `${crcHex(json)} ${json}\n`

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

const LINE_FEED = 10
const SPACE = 32

/** Whether the bytes of a line are those its checksum was made of. */
const isWhole = (line: Buffer): boolean =>
  line[8] === SPACE && line.toString('latin1', 0, 8) === crcHex(line.subarray(9))

/**
 * Reads checksummed lines and hands on each one's value, in order.
 *
 * Bytes after the last line feed are a write that never finished: they were acknowledged to nobody and count as torn.
 * A complete line whose checksum is wrong is damage: `DamagedFile`, unless `onDamage` takes it, which ends the reading.
 */
export function readCheckedLines(
  file: string,
  content: Buffer,
  take: (value: unknown) => void,
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
    take(JSON.parse(content.toString('utf8', start + 9, end)))
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
