// tools/report/: the parts of reports that several tools write: escaped HTML and XML, Markdown tables, JUnit. What a
// report says is in the folder of its tool.

import { stripVTControlCharacters } from 'node:util'
import { printable } from '../../model/words.ts'

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** A string as HTML and XML accept it: without control characters, colours, marks that reverse the direction, and halves of pairs. */
export const plainText = (text: string): string =>
  printable(stripVTControlCharacters(text))
    .toWellFormed()
    .replaceAll(/[\ufffe\uffff]/g, '\ufffd')

/** Makes HTML or XML of a template: its own text stays, and each value is escaped, but for the items of a list, which are markup. */
export const markup = (
  texts: TemplateStringsArray,
  ...parts: readonly (string | number | readonly string[])[]
): string =>
  texts.reduce((before, text, i) => {
    const part = parts[i - 1]!
    if (typeof part === 'object') return before + part.join('') + text
    return (
      before + plainText(String(part)).replaceAll(/[&<>"']/g, (found) => ENTITIES[found]!) + text
    )
  })

/** A string on one line of Markdown, in which nothing is markup. */
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

export const markdownTable = (
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string => `${row(head)}|${'---|'.repeat(head.length)}\n${rows.map(row).join('')}`
