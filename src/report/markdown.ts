import { plainText } from './markup.ts'

/** A text on one line of Markdown, in which nothing is markup. */
export const inline = (text: string): string =>
  plainText(text)
    .replaceAll(/[\n\t]/g, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\`*_[\]#|~>@]/g, '\\$&')
    // GitHub makes a link of an address without any markup.
    .replaceAll('://', ':\\//')

/** A block of code; its fence is longer than any in the text. */
export function codeBlock(text: string, language: string): string {
  const plain = plainText(text).trimEnd()
  const longest = [...plain.matchAll(/`+/g)].reduce((max, [run]) => Math.max(max, run.length), 2)
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${plain}\n${fence}\n`
}

const row = (cells: readonly string[]) => `| ${cells.map(inline).join(' | ')} |\n`

/** A table whose cells have no markup. */
export const markdownTable = (
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string => `${row(head)}|${'---|'.repeat(head.length)}\n${rows.map(row).join('')}`
