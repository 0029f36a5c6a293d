// Numbers in words, for reports.

const ENDINGS = ['th', 'st', 'nd', 'rd']

/** `1st`, `2nd`, `11th`. */
export function ordinal(n: number): string {
  const tens = n % 100
  return `${n}${(tens > 10 && tens < 14 ? undefined : ENDINGS[n % 10]) ?? 'th'}`
}

export const times = (n: number) => (n === 1 ? 'once' : n === 2 ? 'twice' : `${n} times`)
export const seconds = (ms: number) => `${Math.round(ms / 100) / 10} s`
