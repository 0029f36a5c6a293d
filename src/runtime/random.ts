/** A bijective 32-bit mixer (murmur3's finalizer): equal inputs never collide within one lane. */
function mix(value: number): number {
  let h = value | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

/** The multiplicative inverse of an odd number in 32 bits. */
function inverseOf(factor: number): number {
  let inverse = factor
  // Each round doubles the number of bits that are right.
  for (let i = 0; i < 5; i++) inverse = Math.imul(inverse, 2 - Math.imul(factor, inverse))
  return inverse
}

/** The inverse of `mix`. */
function unmix(mixed: number): number {
  let h = mixed ^ (mixed >>> 16)
  h = Math.imul(h, UNDO_SECOND)
  h = Math.imul(h ^ (h >>> 13) ^ (h >>> 26), UNDO_FIRST)
  return (h ^ (h >>> 16)) >>> 0
}
const [UNDO_FIRST, UNDO_SECOND] = [inverseOf(0x85ebca6b), inverseOf(0xc2b2ae35)]

function hashText(text: string): number {
  let h = 0x811c9dc5
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  return mix(h)
}

const GOLDEN = 0x9e3779b9
const UNDO_GOLDEN = inverseOf(GOLDEN)
// Ids are written digit by digit into bytes: concatenated strings would take three times as long, mostly at their first
// lookup or write.
const DIGITS = Buffer.from('0123456789abcdef')
const uuidBytes = Buffer.from('00000000-0000-4000-8000-000000000000')

/** Writes the last `count` hex digits of a 32-bit number. */
function writeHex(bytes: Buffer, at: number, value: number, count: number) {
  for (let i = at + count - 1, rest = value; i >= at; i--, rest >>>= 4)
    bytes[i] = DIGITS[rest & 15]!
}

/**
 * A seeded random generator whose whole state is one counter, which a journal line can store: number n of seed s
 * depends only on (s, n), and a restarted world repeats none.
 */
export function createRandom(seed: number, state: { counter: number } = { counter: 0 }) {
  const lanes = [1, 2, 3, 4].map((lane) => mix(mix(seed) ^ mix(lane + Math.floor(seed / 2 ** 32))))

  const word = (n: number, lane: number) =>
    mix(mix(Math.imul(n, GOLDEN) + lanes[lane]!) ^ mix(Math.floor(n / 2 ** 32) + lane))

  function uuidAt(n: number): string {
    const variant = 0x8000 | ((word(n, 2) >>> 16) & 0x3fff)
    writeHex(uuidBytes, 0, word(n, 0), 8)
    writeHex(uuidBytes, 9, word(n, 1) >>> 16, 4)
    // Behind the version, which stands there already.
    writeHex(uuidBytes, 15, word(n, 1), 3)
    writeHex(uuidBytes, 19, variant, 4)
    writeHex(uuidBytes, 24, word(n, 2), 4)
    writeHex(uuidBytes, 28, word(n, 3), 8)
    return uuidBytes.toString('latin1')
  }

  return {
    /** The next whole number of a series; unique in its world. */
    next: () => ++state.counter,
    /** A UUID in version 4 form. */
    uuid: (): string => uuidAt(++state.counter),
    /** The counter (of the first 2^32) that generates a UUID; `undefined` if none does. */
    drawOf(uuid: string): number | undefined {
      // The first word of an id is made of its draw by steps that can be undone; the other words then prove it.
      const first = Number.parseInt(uuid.slice(0, 8), 16)
      const n = Math.imul(unmix(unmix(first)) - lanes[0]!, UNDO_GOLDEN) >>> 0
      return uuidAt(n) === uuid ? n : undefined
    },
    /** A fraction in [0, 1). */
    fraction: () => word(++state.counter, 0) / 2 ** 32,
    /** `length` decimal digits. */
    digits(length: number): string {
      const bytes = Buffer.allocUnsafe(length)
      for (let start = 0; start < length; start += 9) {
        // Nine of each word, and of the last one the first that are needed.
        let rest = word(++state.counter, 0) % 1e9
        for (let i = start + 8; i >= start; i--) {
          if (i < length) bytes[i] = DIGITS[rest % 10]!
          rest = Math.floor(rest / 10)
        }
      }
      return bytes.toString('latin1')
    },
    /** A fraction in [0, 1) that depends only on seed, label and n; it does not change the counter. */
    at: (label: string, n: number) =>
      mix(word(n, 0) ^ Math.imul(hashText(label), GOLDEN)) / 2 ** 32,
  }
}

/** The random generator of a world. */
export type Random = ReturnType<typeof createRandom>

/** A UUID in version 4 form that depends only on the text: the id of a client, derived from its name. */
export function uuidOf(text: string): string {
  // With a field more than a world's: a counter beyond 31 bits in an object of that shape would make V8 take every
  // counter, and every number drawn from one, for a fraction, which is an object of its own where it is kept.
  const state = { counter: hashText(`${text}#`), text }
  return createRandom(hashText(text), state).uuid()
}
