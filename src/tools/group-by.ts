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
