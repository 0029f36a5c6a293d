/** A count with its noun: `1 call`, `2 calls`, `3 entries` with `many` given. */
export const countOf = (count: number | bigint, one: string, many = `${one}s`): string =>
  `${count} ${Number(count) === 1 ? one : many}`
