import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { PACKAGE_ROOT } from '../src/config/package.ts'

/** `UPDATE_DOCS=1` writes what the product says into the pages, to be read over before it is committed. */
export const updating = process.env['UPDATE_DOCS'] === '1'
export const pathOf = (name: string) => join(PACKAGE_ROOT, name)
export const read = (name: string) => readFileSync(pathOf(name), 'utf8')

/** Holds the text between two markers of a page equal to what it should be. */
export function hold(t: Test, page: string, marker: string, wanted: string) {
  const text = read(page)
  const [from, to] = [`<!-- ${marker} -->\n`, `<!-- end of ${marker} -->`]
  const [start, end] = [text.indexOf(from) + from.length, text.indexOf(to)]
  if (!text.includes(from) || end < start) throw new Error(`${page} has no <!-- ${marker} -->`)
  if (updating) writeFileSync(pathOf(page), text.slice(0, start) + wanted + text.slice(end))
  else
    t.equal(
      text.slice(start, end),
      wanted,
      `${page}: ${marker}; UPDATE_DOCS=1 npm test -- FILE writes it`,
    )
}
