import type { RequestInShort } from '../../../model/logged-request.ts'

/** Joins lines; leaves out those that do not apply. */
export const linesOf = (...lines: readonly (string | false | null | undefined)[]): string =>
  lines.filter(Boolean).join('\n')

/** A heading with one line for each of the first items, and how many are left out. */
export function listText<T>(
  heading: string,
  items: readonly T[],
  lineOf: (item: T) => string,
  { total = items.length, shown = items.length } = {},
): string {
  if (total === 0) return `${heading}: none`
  const lines = items.slice(0, shown).map((item) => `- ${lineOf(item)}`)
  const left = total - lines.length
  return linesOf(`${heading} (${total}):`, ...lines, left > 0 && `- and ${left} more`)
}

/** The start of a text, and how much of it is left out. */
export const shortText = (text: string, most: number): string =>
  text.length > most
    ? `${text.slice(0, most)}… (${text.length - most} of ${text.length} characters left out)`
    : text

/** The start of a value as JSON. */
export const shortJson = (value: unknown, most = 400): string =>
  shortText(JSON.stringify(value) ?? 'null', most)

/** A call of the request log in one line. */
export const requestLine = ({ request_id, method, path, status, rule, fault }: RequestInShort) =>
  `${request_id} ${method} ${path}: ${status ?? 'no response'}` +
  (rule === null ? '' : `, rule ${JSON.stringify(rule)}`) +
  (fault === null ? '' : `, fault ${fault}`)
