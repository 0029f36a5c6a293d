// What reports and pages count: groups, and numbers in words.

const ENDINGS = ['th', 'st', 'nd', 'rd']

/** `1st`, `2nd`, `11th`. */
export function ordinal(n: number): string {
  const tens = n % 100
  return `${n}${(tens > 10 && tens < 14 ? undefined : ENDINGS[n % 10]) ?? 'th'}`
}

export const times = (n: number) => (n === 1 ? 'once' : n === 2 ? 'twice' : `${n} times`)
export const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`

/** Items by a key, both in the order of appearance. */
export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string) {
  const groups = new Map<string, [T, ...T[]]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}

/** How many items have each key. */
export const countBy = <T>(items: readonly T[], keyOf: (item: T) => string) =>
  Object.fromEntries([...groupBy(items, keyOf)].map(([key, group]) => [key, group.length]))
