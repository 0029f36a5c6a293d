import { excerptOf, maskSecrets } from '../model/mask.ts'

const listOf = (words: readonly unknown[], last: string): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`

/** `a, b or c`. */
export const oneOf = (words: readonly unknown[]): string => listOf(words, 'or')

/** `a, b and c`. */
export const allOf = (words: readonly unknown[]): string => listOf(words, 'and')

const MAX_SHOWN = 48

/**
 * Returns a value as messages quote it: text in quotes, without secrets, and truncated if it is long. Numbers stay whole,
 * since a message may say how to write one.
 */
export function quoteValue(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'a mapping'
  if (typeof value !== 'string') return value === undefined ? 'nothing' : String(value)
  const start = excerptOf(value, MAX_SHOWN, maskSecrets)
  return JSON.stringify(value.length > MAX_SHOWN ? `${start}…` : start)
}
