import { closestWord } from '../model/closest-word.ts'

/** A similar option, with a value if the unknown word is a value of that option. */
export type Suggestion = { name: string; value?: string }

/** The value name of each known option: `N`, `real|frozen|ISO`, or `''` for a switch. */
export type ValueNames = Readonly<Record<string, string>>

// Name parts that are too common to identify an option.
const COMMON_PARTS = new Set(['no', 'at', 'max'])
const MAX_SUGGESTIONS = 3

/** The switch with exactly this name, or the option that accepts this word as a value: `frozen` gives `clock`. */
export function suggestByValue(word: string, known: ValueNames): Suggestion | undefined {
  if (Object.hasOwn(known, word)) return known[word] === '' ? { name: word } : undefined
  if (!/^[a-z]+$/.test(word)) return undefined
  const name = Object.keys(known).find((one) => known[one]!.split('|').includes(word))
  return name === undefined ? undefined : { name, value: word }
}

/**
 * The known options that are similar to an unknown one, at most three: `frozen` is a value of `clock`, `prot` is a
 * misspelled `port`, `mem` is a prefix of `memory`, and `speed` is a part of `clock-speed`.
 */
export function suggestOptions(name: string, known: ValueNames): Suggestion[] {
  const byValue = suggestByValue(name, known)
  if (byValue) return [byValue]
  const names = Object.keys(known)
  const closest = name.length > 2 ? closestWord(name, names) : undefined
  if (closest !== undefined) return [{ name: closest }]
  const parts = name
    .toLowerCase()
    .split('-')
    .filter((part) => !COMMON_PARTS.has(part))
  return names
    .filter(
      (one) =>
        one.startsWith(name.toLowerCase()) || one.split('-').some((part) => parts.includes(part)),
    )
    .slice(0, MAX_SUGGESTIONS)
    .map((one) => ({ name: one }))
}
