/**
 * How many edits lie between two words, a swap of neighbours being one; `max` where it is that many or more.
 * Gives up early: a broken file asks thousands of times.
 */
export function editDistance(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) >= max) return max
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
    if (least >= max) return max
    before = row
    row = next
  }
  return row[b.length]!
}

/** A word without its case, dashes and underscores: `atLeast`, `at-least` and `at_least` are one. */
const plain = (word: string) => word.toLowerCase().replace(/[-_]/g, '')

/** The known word that was probably meant, or `undefined` where none is near. */
export function closestWord(word: string, known: readonly string[]): string | undefined {
  const other = known.find((candidate) => plain(candidate) === plain(word))
  if (other !== undefined) return other
  const lower = word.toLowerCase()
  let best: string | undefined
  // Two edits in a long word, one in a short one: `eqq` is eq, `item` is not `times`.
  let least = word.length <= 4 ? 2 : 3
  for (const candidate of known) {
    const count = editDistance(lower, candidate.toLowerCase(), least)
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
