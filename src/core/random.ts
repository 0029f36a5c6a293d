/** A bijective 32-bit mixer (murmur3's finalizer): equal inputs never collide within one lane. */
function mix(value: number): number {
  let h = value | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

function hashText(text: string): number {
  let h = 0x811c9dc5
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  return mix(h)
}

const GOLDEN = 0x9e3779b9
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const hex32 = (n: number) =>
  HEX[n >>> 24]! + HEX[(n >>> 16) & 255]! + HEX[(n >>> 8) & 255]! + HEX[n & 255]!

/**
 * A seeded source of chance whose whole state is one counter, so that a journal line can carry it:
 * draw n of seed s is a function of (s, n) alone, and a restarted world repeats no draw.
 */
export function createRandom(seed: number, state: { counter: number } = { counter: 0 }) {
  const lanes = [1, 2, 3, 4].map((lane) => mix(mix(seed) ^ mix(lane + Math.floor(seed / 2 ** 32))))

  const word = (n: number, lane: number) =>
    mix(mix(Math.imul(n, GOLDEN) + lanes[lane]!) ^ mix(Math.floor(n / 2 ** 32) + lane))

  return {
    /** The next whole number of a series; unique in its world. */
    next: () => ++state.counter,
    /** A UUID in version 4 form. */
    uuid(): string {
      const n = ++state.counter
      const b = hex32(word(n, 1))
      const c = hex32(word(n, 2))
      const variant = HEX[0x80 | (Number.parseInt(c.slice(0, 2), 16) & 0x3f)]!
      return `${hex32(word(n, 0))}-${b.slice(0, 4)}-4${b.slice(5)}-${variant}${c.slice(2, 4)}-${c.slice(4)}${hex32(word(n, 3))}`
    },
    /** A fraction in [0, 1). */
    fraction: () => word(++state.counter, 0) / 2 ** 32,
    /** `length` decimal digits. */
    digits(length: number): string {
      let text = ''
      while (text.length < length) text += String(word(++state.counter, 0) % 1e9).padStart(9, '0')
      return text.slice(0, length)
    },
    /** A fraction in [0, 1) that depends on seed, label and n alone; it moves no other draw. */
    at: (label: string, n: number) =>
      mix(word(n, 0) ^ Math.imul(hashText(label), GOLDEN)) / 2 ** 32,
  }
}

/** A world's source of chance. */
export type Random = ReturnType<typeof createRandom>

/** A UUID in version 4 form that depends on the text alone: the id of a client made by its name. */
export function uuidOf(text: string): string {
  return createRandom(hashText(text), { counter: hashText(`${text}#`) }).uuid()
}
