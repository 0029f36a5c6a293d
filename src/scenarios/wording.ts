import { excerptOf } from '../model/mask.ts'

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
function closestWord(word: string, known: readonly string[]): string | undefined {
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

/** A value of a file as a message shows it to who wrote it: in quotes, without secrets, and cut where it is long. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'a mapping'
  if (typeof value !== 'string') return value === undefined ? 'nothing' : String(value)
  const start = excerptOf(value, MAX_SHOWN)
  return JSON.stringify(value.length > MAX_SHOWN ? `${start}…` : start)
}
