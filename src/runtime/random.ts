// runtime/: the one door to what is different in each run: real time, chance, the network. A test replaces what is behind
// it (runtime.ts).

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
const hex = (word: number) => word.toString(16).padStart(8, '0')

/** A seeded random generator: number n depends only on the seed and n, and its state is one counter, which the journal stores. */
export function createRandom(seed: number, state: { counter: number } = { counter: 0 }) {
  const lanes = [1, 2, 3, 4].map((lane) => mix(mix(seed) ^ mix(lane + Math.floor(seed / 2 ** 32))))

  const word = (n: number, lane: number) =>
    mix(mix(Math.imul(n, GOLDEN) + lanes[lane]!) ^ mix(Math.floor(n / 2 ** 32) + lane))

  return {
    /** The next whole number of a series; unique in its world. */
    next: () => ++state.counter,
    uuid(): string {
      const n = ++state.counter
      const [a, b, c, d] = [word(n, 0), word(n, 1), word(n, 2), word(n, 3)]
      const variant = (0x8000 | ((c >>> 16) & 0x3fff)).toString(16)
      const middle = `${hex(b).slice(0, 4)}-4${hex(b).slice(5)}-${variant}`
      return `${hex(a)}-${middle}-${hex(c).slice(4)}${hex(d)}`
    },
    /** A fraction in [0, 1). */
    fraction: () => word(++state.counter, 0) / 2 ** 32,
    /** `length` decimal digits: the last nine of each drawn word. */
    digits(length: number): string {
      let digits = ''
      while (digits.length < length)
        digits += String(word(++state.counter, 0) % 1e9).padStart(9, '0')
      return digits.slice(0, length)
    },
    /** A fraction in [0, 1) that depends only on seed, label and n; it does not change the counter. */
    at: (label: string, n: number) =>
      mix(word(n, 0) ^ Math.imul(hashText(label), GOLDEN)) / 2 ** 32,
  }
}

export type Random = ReturnType<typeof createRandom>

/** A UUID in version 4 form that depends only on the text: the id of a client, derived from its name. */
export const uuidOf = (text: string): string =>
  createRandom(hashText(text), { counter: hashText(`${text}#`) }).uuid()

/** Hexadecimal digits, a multiple of four, that no other process is likely to have. They are no secret. */
export const uniqueText = (digits: number): string =>
  Array.from({ length: digits / 4 }, () =>
    Math.floor(Math.random() * 0x1_0000)
      .toString(16)
      .padStart(4, '0'),
  ).join('')
