// Tables of results, and their position between two markers of a page.
import { readFileSync, writeFileSync } from 'node:fs'

export const tableOf = (head, lines) =>
  [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

/** Replaces the text between `<!-- mark -->` and `<!-- end of mark -->` of a page. */
export function writeBetween(file, mark, text) {
  const page = readFileSync(file, 'utf8')
  const [from, to] = [`<!-- ${mark} -->\n`, `<!-- end of ${mark} -->`]
  const [start, end] = [page.indexOf(from) + from.length, page.indexOf(to)]
  if (!page.includes(from) || end < start)
    throw new Error(`${file} has no <!-- ${mark} --> markers`)
  writeFileSync(file, `${page.slice(0, start)}\n${text}\n\n${page.slice(end)}`)
}
