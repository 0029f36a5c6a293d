import { crc32 } from 'node:zlib'

const crcHex = (body: string) => crc32(body).toString(16).padStart(8, '0')

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
    const text = content.toString('utf8', start, end)
    const json = text.slice(9)
    if (text[8] !== ' ' || text.slice(0, 8) !== crcHex(json)) {
      onDamage({ file, line: lines + 1, byte: start, what: 'the checksum does not match the line' })
      return { goodBytes: start, lines, tornBytes: 0 }
    }
    take(JSON.parse(json))
    lines++
    start = end + 1
  }
  if (start < content.length) {
    // A whole line whose line feed alone was changed was acknowledged: that is damage, not a torn write.
    const tail = content.toString('utf8', start, content.length - 1)
    if (tail[8] === ' ' && tail.slice(0, 8) === crcHex(tail.slice(9))) {
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
