import { maskText } from '../model/mask.ts'

/**
 * How many edits lie between two words, a swap of neighbours being one; `most` where it is that many or more.
 * Gives up early: a broken file asks thousands of times.
 */
function edits(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) >= most) return most
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    let least = i
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (same ? 0 : 1))
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (swapped) cost = Math.min(cost, before[j - 2]! + 1)
      next[j] = cost
      least = Math.min(least, cost)
    }
    if (least >= most) return most
    before = row
    row = next
  }
  return row[b.length]!
}

/** The known word that was probably meant, or `undefined` where none is near. */
function meantBy(word: string, known: readonly string[]): string | undefined {
  const lower = word.toLowerCase()
  let best: string | undefined
  // Two edits in a long word, one in a short one: `eqq` is eq, `item` is not `times`.
  let least = word.length <= 4 ? 2 : 3
  for (const candidate of known) {
    const count = edits(lower, candidate.toLowerCase(), least)
    if (count >= least) continue
    least = count
    best = candidate
  }
  return best
}

/** `; did you mean "x"?`, or nothing where no known word is near. */
export function orMeant(word: string, known: readonly string[]): string {
  const near = meantBy(word, known)
  return near === undefined ? '' : `; did you mean "${near}"?`
}

/** `a, b or c`. */
export const oneOf = (words: readonly unknown[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`

const LONGEST_SHOWN = 48

function masked(text: string): string {
  // Whatever could be an account, card, Aadhaar, PAN or IFSC keeps its last characters, as in an answer.
  return maskText(text)
    .replace(/\b[A-Z]{5}\d{4}[A-Z]\b/gi, (pan) => `XXXXXX${pan.slice(-4)}`)
    .replace(/\b([A-Z]{4})0[A-Z0-9]{3}([A-Z0-9]{3})\b/gi, '$1XXXX$2')
    .replace(/\d{8,}/g, (digits) => 'X'.repeat(digits.length - 4) + digits.slice(-4))
}

/** A value of a file as a message may show it: in quotes, masked, and cut where it is long. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'a mapping'
  if (typeof value !== 'string') return value === undefined ? 'nothing' : masked(String(value))
  const text = masked(value)
  return JSON.stringify(text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text)
}
