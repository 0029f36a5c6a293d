import { excerptOf, maskSecrets } from './mask.ts'

/** The edit distance of two words; a swap of neighbours is one edit. Stops at `max`, as a broken file needs it thousands of times. */
export function editDistance(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) >= max) return max
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    let min = i
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (same ? 0 : 1))
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (swapped) cost = Math.min(cost, before[j - 2]! + 1)
      next[j] = cost
      min = Math.min(min, cost)
    }
    if (min >= max) return max
    before = row
    row = next
  }
  return row[b.length]!
}

/** A word without its case, dashes and underscores: `atLeast`, `at-least` and `at_least` are one. */
const plain = (word: string) => word.toLowerCase().replace(/[-_]/g, '')

/** Returns the known word that is most similar, or the only one that starts like this; `undefined` if there is none. */
export function closestWord(word: string, known: readonly string[]): string | undefined {
  const other = known.find((candidate) => plain(candidate) === plain(word))
  if (other !== undefined) return other
  const lower = word.toLowerCase()
  let best: string | undefined
  // Allows two edits in a long word, and one in a short word: `eqq` suggests `eq`, `item` does not suggest `times`.
  let min = word.length <= 4 ? 2 : 3
  for (const candidate of known) {
    const count = editDistance(lower, candidate.toLowerCase(), min)
    if (count >= min) continue
    min = count
    best = candidate
  }
  if (best !== undefined || word.length < 3) return best
  const [longer, ...others] = known.filter((candidate) => plain(candidate).startsWith(plain(word)))
  return others.length === 0 ? longer : undefined
}

/** Returns `; did you mean "x"?`, or an empty text if no known word is similar. */
export function didYouMean(word: string, known: readonly string[]): string {
  const near = closestWord(word, known)
  return near === undefined ? '' : `; did you mean "${near}"?`
}

// Characters that a terminal interprets: control characters, and marks that reverse the text direction, so that a line
// reads differently. Line feeds and tabs are allowed in texts of several lines.
const CONTROL =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Makes a string safe for a terminal; it may have several lines. */
export const printable = (text: string): string => text.replaceAll(CONTROL, ' ')

/** The same, on one line. */
export const printableLine = (text: string): string => printable(text).replaceAll(/[\n\t]/g, ' ')

/** Formats a value as one line of JSON; characters that a terminal interprets are escaped, so the value is the same. */
export const jsonLine = (value: unknown): string =>
  `${JSON.stringify(value).replaceAll(
    CONTROL,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )}\n`

/** A count with its noun: `1 call`, `2 calls`, `3 entries` with `many` given. */
export const countOf = (count: number | bigint, one: string, many = `${one}s`): string =>
  `${count} ${Number(count) === 1 ? one : many}`

const listOf = (words: readonly unknown[], last: string): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`

/** `a, b or c`. */
export const oneOf = (words: readonly unknown[]): string => listOf(words, 'or')

/** `a, b and c`. */
export const allOf = (words: readonly unknown[]): string => listOf(words, 'and')

const MAX_SHOWN = 48

/** A value as messages quote it: text in quotes, without secrets, truncated if it is long; numbers are whole. */
export function quoteValue(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'a mapping'
  if (typeof value !== 'string') return value === undefined ? 'nothing' : String(value)
  const start = excerptOf(value, MAX_SHOWN, maskSecrets)
  return JSON.stringify(value.length > MAX_SHOWN ? `${start}…` : start)
}
