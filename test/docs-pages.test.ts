import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PACKAGE_ROOT } from '../src/config/package.ts'

const read = (page: string) => readFileSync(join(PACKAGE_ROOT, page), 'utf8')
const markdownIn = (folder: string) =>
  readdirSync(join(PACKAGE_ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
    .map((name) => join(folder, name))

const PAGES = [
  ...markdownIn('docs').filter((page) => !page.startsWith(join('docs', 'decisions'))),
  ...markdownIn('examples'),
  ...markdownIn('clients'),
]
const ALL = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...markdownIn('docs'),
  ...markdownIn('examples'),
  ...markdownIn('clients'),
]

/** The text of a page without the blocks and tables that the program writes: those are checked where they come from. */
const proseOf = (page: string) =>
  read(page)
    .replace(/<!-- (?!end of|test\/)([^\n]*?) -->\n[\s\S]*?<!-- end of \1 -->/g, '')
    .replace(/```[\s\S]*?\n```/g, '')

t.test('each page says first who needs it', async (t) => {
  t.ok(PAGES.length > 15)
  for (const page of PAGES) t.match(read(page), /^# .+\n\nYou need this page if .+\.\n/, page)
})

t.test('the pages avoid words that a second-language reader has to read twice', async (t) => {
  const idioms =
    /\b(told|whoever|is held against|what becomes of|unless told|so many|none the less|by itself)\b/i
  for (const page of ALL) t.notMatch(proseOf(page), idioms, page)
})

t.test('the README is short, and has its sections in this order', async (t) => {
  const readme = read('README.md')
  t.ok(readme.trimEnd().split('\n').length <= 220, 'at most 220 lines')
  t.strictSame(
    [...readme.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading),
    [
      'Quick start',
      'In a test',
      'Why not a plain mock?',
      'Concepts',
      'Endpoints',
      'Common options',
      'Commands',
      'Documentation',
      'Contributing and licence',
    ],
  )
  const firstScreen = readme.slice(0, readme.indexOf('## Quick start'))
  t.match(firstScreen, /\]\(docs\/assumptions\.md\)/)
  const [, reasons] = readme.split('## Why not a plain mock?')
  t.equal(reasons!.split('\n## ')[0]!.match(/^- /gm)?.length, 5 + 3, 'five reasons, three limits')
})

/** GitHub's anchor of a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

t.test('each link to a heading of a page leads there', async (t) => {
  let links = 0
  for (const page of ALL) {
    for (const [link, path, anchor] of read(page).matchAll(/\]\(([^)#:\s]*)#([\w-]+)\)/g)) {
      const target = path === '' ? page : join(page, '..', path!)
      const anchors = [...read(target).matchAll(/^#+ (.+)$/gm)].map(([, it]) => anchorOf(it!))
      t.ok(anchors.includes(anchor!), `${page}: ${link}`)
      links++
    }
  }
  t.ok(links > 30)
})

t.test('CONTRIBUTING has each entry of src, and names functions where they are', async (t) => {
  const page = read('CONTRIBUTING.md')
  const [, map = ''] = page.split('```')
  const entries = readdirSync(join(PACKAGE_ROOT, 'src'), { withFileTypes: true })
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
  const missing = names.filter((name) => !map.includes(name))
  t.strictSame(missing, [], 'each entry of src is on the map')
  const listed = [...map.matchAll(/^([\w-]+\/) /gm)].map(([, name]) => name!)
  t.strictSame(
    listed.filter((name) => !names.includes(name)),
    [],
  )
  const functions = [...page.matchAll(/`(\w+)`\s+\(`(src\/[^`]+)`\)/g)]
  t.ok(functions.length >= 15, `${functions.length} functions`)
  for (const [, name, file] of functions)
    t.match(read(file!), new RegExp(`^export (?:async )?(?:function|class|const) ${name}\\b`, 'm'))
})
