import type { RequestInShort } from '../../model/logged-request.ts'

/** A heading with one line for each entry, and how many are left out. */
export function listText(
  heading: string,
  lines: readonly string[],
  total: number = lines.length,
): string {
  if (total === 0) return `${heading}: none`
  const left = total - lines.length
  return [
    `${heading} (${total}):`,
    ...lines.map((line) => `- ${line}`),
    ...(left > 0 ? [`- and ${left} more`] : []),
  ].join('\n')
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
  [
    `${request_id} ${method} ${path}: ${status ?? 'no response'}`,
    ...(rule === null ? [] : [`rule ${JSON.stringify(rule)}`]),
    ...(fault === null ? [] : [`fault ${fault}`]),
  ].join(', ')
