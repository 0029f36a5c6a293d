// tools/report/: the parts of reports that several tools write: escaped HTML and XML, Markdown tables, JUnit. What a
// report says is in the folder of its tool.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { PACKAGE_ROOT } from '../../config/package.ts'
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

const readBuilt = (name: string) => readFileSync(join(PACKAGE_ROOT, 'dist/console', name), 'utf8')
const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** A page of the console's parts about one document, as one file that loads nothing and needs no network. */
export function pageOf(kind: 'sweep' | 'session', title: string, document: object): string {
  const style = readBuilt('report.css')
  const script = readBuilt('report.js')
  // Only the page's own style and script are permitted, and its data is no script.
  const policy = `default-src 'none'; style-src ${hashOf(style)}; script-src ${hashOf(script)}; base-uri 'none'; form-action 'none'`
  const plain = (_: string, value: unknown) =>
    typeof value === 'string' ? plainText(value) : value
  const data = JSON.stringify(document, plain).replaceAll('<', '\\u003c')
  return `${markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>`}
<style>${style}</style>
</head>
<body>
<noscript>This page needs JavaScript. summary.md beside it has the results, too.</noscript>
<main id="report"></main>
<script type="application/json" id="${kind}">${data}</script>
<script>${script}</script>
</body>
</html>
`
}
