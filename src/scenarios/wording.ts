import { beginningOf } from '../model/mask.ts'

/**
 * Returns the edit distance of two words, in which a swap of neighbours counts as one edit; `max` if it is `max` or more.
 * Stops early, because a broken file needs it thousands of times.
 */
function editDistance(a: string, b: string, max: number): number {
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

/** Returns the known word that is most similar; `undefined` if none is similar enough. */
function closestWord(word: string, known: readonly string[]): string | undefined {
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
  return best
}

/** Returns `; did you mean "x"?`, or an empty text if no known word is similar. */
export function didYouMean(word: string, known: readonly string[]): string {
  const near = closestWord(word, known)
  return near === undefined ? '' : `; did you mean "${near}"?`
}

const listOf = (words: readonly unknown[], last: string): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`

/** `a, b or c`. */
export const oneOf = (words: readonly unknown[]): string => listOf(words, 'or')

/** `a, b and c`. */
export const allOf = (words: readonly unknown[]): string => listOf(words, 'and')

const MAX_SHOWN = 48

/** Returns a value as messages quote it: text in quotes, masked, and truncated if it is long. */
export function quoteValue(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'a mapping'
  if (typeof value !== 'string') return value === undefined ? 'nothing' : String(value)
  const start = beginningOf(value, MAX_SHOWN)
  return JSON.stringify(value.length > MAX_SHOWN ? `${start}…` : start)
}
