import { closestWord } from '../model/closest-word.ts'

/** An option that was probably meant, and the value of it that was named in its place. */
export type Meant = { name: string; value?: string }

/** What each known option takes, by its name: `N`, `real|frozen|ISO`, or nothing for a switch. */
export type TakenValues = Readonly<Record<string, string>>

// Words that many options have in their names.
const COMMON_PARTS = new Set(['no', 'at', 'max'])
const MAX_MEANT = 3

/** The option that has this name, or the one that has this word as a value: `frozen` is one of `clock`. */
export function meantByWord(word: string, known: TakenValues): Meant | undefined {
  if (Object.hasOwn(known, word)) return known[word] === '' ? { name: word } : undefined
  if (!/^[a-z]+$/.test(word)) return undefined
  const name = Object.keys(known).find((one) => known[one]!.split('|').includes(word))
  return name === undefined ? undefined : { name, value: word }
}

/**
 * The options that an unknown one probably means, at most three: `frozen` is a value of `clock`, `prot` is nearly
 * `port`, `mem` is the start of `memory`, and `speed` is a part of `clock-speed`.
 */
export function meantOptions(name: string, known: TakenValues): Meant[] {
  const valued = meantByWord(name, known)
  if (valued) return [valued]
  const names = Object.keys(known)
  const near = name.length > 2 ? closestWord(name, names) : undefined
  if (near !== undefined) return [{ name: near }]
  const parts = name
    .toLowerCase()
    .split('-')
    .filter((part) => !COMMON_PARTS.has(part))
  return names
    .filter(
      (one) =>
        one.startsWith(name.toLowerCase()) || one.split('-').some((part) => parts.includes(part)),
    )
    .slice(0, MAX_MEANT)
    .map((one) => ({ name: one }))
}
