import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PACKAGE_ROOT } from '../../config/package.ts'
import { markup, plainText } from './markup.ts'

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
