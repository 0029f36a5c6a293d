import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import t from 'tap'
import { PACKAGE_ROOT } from '../src/config/package.ts'

const read = (page: string) => readFileSync(join(PACKAGE_ROOT, page), 'utf8')
const markdownIn = (folder: string) =>
  readdirSync(join(PACKAGE_ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
    .map((name) => join(folder, name))

const PAGES = [
  'README.md',
  ...markdownIn('docs').filter((page) => !page.startsWith(join('docs', 'decisions'))),
  ...['fixtures', 'scenarios', 'clients', 'examples'].flatMap(markdownIn),
]
const OTHERS = ['CONTRIBUTING.md', 'CHANGELOG.md', 'bench/README.md', 'scripts/torture.md']
const ALL = [...PAGES, ...OTHERS, ...markdownIn('docs').filter((page) => !PAGES.includes(page))]

/** The text of a page without the blocks and tables that the program writes: those are checked where they come from. */
const proseOf = (page: string) =>
  read(page)
    .replace(/<!-- (?!end of|test\/)([^\n]*?) -->\n[\s\S]*?<!-- end of \1 -->/g, '')
    .replace(/```[\s\S]*?\n```/g, '')

t.test('each page opens with what it lets you do', async (t) => {
  t.ok(PAGES.length > 15)
  for (const page of PAGES) {
    const [, opening = ''] = /^# .+\n\n((?:.+\n)+)/.exec(read(page)) ?? []
    t.match(opening, /^(?!You need this page)[A-Z`p][\s\S]+[.:]\n$/, page)
  }
})

t.test('the pages have at most 22,000 words together, code and tables included', async (t) => {
  const counts = [...PAGES, 'llms.txt'].map(
    (page) => [page, read(page).trim().split(/\s+/).length] as const,
  )
  const total = counts.reduce((sum, [, count]) => sum + count, 0)
  t.ok(total <= 22_000, `${total} words: ${counts.map((one) => one.join(' '))}`)
})

t.test('the pages avoid words that a second-language reader has to read twice', async (t) => {
  const idioms =
    /\b(told|whoever|is held against|what becomes of|unless told|so many|none the less|by itself)\b/i
  for (const page of ALL) t.notMatch(proseOf(page), idioms, page)
})

/** What people search for, and the page that has the answer. */
const SEARCHED: Readonly<Record<string, string>> = {
  'require` load': 'docs/install.md',
  CommonJS: 'docs/first-payout.md',
  jest: 'docs/first-payout.md',
  vitest: 'docs/install.md',
  Postman: 'docs/languages.md',
  Bruno: 'docs/languages.md',
  Insomnia: 'docs/languages.md',
  'wait-on': 'docs/container.md',
  'Health checks': 'docs/container.md',
  readiness: 'docs/container.md',
  'port in use': 'docs/cli.md',
  EADDRINUSE: 'docs/cli.md',
  'rate limit': 'docs/errors.md',
  'time zone': 'docs/scenarios.md',
  refund: 'docs/scenarios.md',
  Kubernetes: 'docs/container.md',
  Podman: 'docs/container.md',
  'host.docker.internal': 'docs/container.md',
  CORS: 'docs/errors.md',
  'wrong version number': 'docs/errors.md',
  'HTTP/2': 'docs/errors.md',
  'bad port': 'docs/errors.md',
  '100.92': 'docs/scenarios.md',
  'null for an optional field': 'docs/endpoints.md',
}

t.test('each fact is found by the word that people type', async (t) => {
  for (const [word, page] of Object.entries(SEARCHED)) t.match(read(page), word, `${page}: ${word}`)
})

t.test('the README is short, and has its sections in this order', async (t) => {
  const readme = read('README.md')
  t.ok(readme.trimEnd().split('\n').length <= 180, 'at most 180 lines')
  t.equal(
    [...readme.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading).join(', '),
    'Quick start, Your first payment, In a test, Find what breaks, Why not a plain mock?, Limits, Documentation, Contributing and licence',
  )
  const firstScreen = readme.slice(0, readme.indexOf('## Quick start'))
  t.match(firstScreen, /\]\(docs\/assumptions\.md\)/)
  const [, reasons] = readme.split('## Documentation')[0]!.split('## Why not a plain mock?')
  t.equal(reasons!.match(/^- /gm)?.length, 5 + 3, 'five reasons, three limits')
})

t.test('README and map lead to each page', async (t) => {
  const targets = (page: string) =>
    [...read(page).matchAll(/\]\(([^)#:\s]+)[^)\s]*\)/g)].map(([, path]) => join(page, '..', path!))
  const map = targets(join('docs', 'README.md'))
  const docs = PAGES.filter((page) => page.startsWith('docs'))
  for (const page of docs.filter((page) => page !== join('docs', 'README.md')))
    t.ok(map.includes(page), `docs/README.md: ${page}`)
  t.ok(targets('README.md').includes(join('docs', 'README.md')))
})

/** GitHub's anchor of a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

t.test('each link leads to a file, and to a heading of it', async (t) => {
  let links = 0
  for (const page of ALL) {
    for (const [link, path, anchor] of read(page).matchAll(/\]\(([^)#:\s]*)(?:#([\w-]+))?\)/g)) {
      const target = path === '' ? page : join(page, '..', path!)
      const exists = existsSync(join(PACKAGE_ROOT, target))
      t.ok(exists, `${page}: ${link}`)
      if (!exists || !anchor) continue
      const anchors = [...read(target).matchAll(/^#+ (.+)$/gm)].map(([, it]) => anchorOf(it!))
      t.ok(anchors.includes(anchor), `${page}: ${link}`)
      links++
    }
  }
  t.ok(links > 30)
})

t.test('the first file of a folder says in two lines what the folder is for', (t) => {
  const src = join(PACKAGE_ROOT, 'src')
  const sources = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && name.includes(sep))
    .sort()
  const firsts = new Map<string, string>()
  for (const name of sources) if (!firsts.has(dirname(name))) firsts.set(dirname(name), name)
  t.ok(firsts.size > 25)
  for (const [folder, name] of firsts)
    t.match(
      readFileSync(join(src, name), 'utf8'),
      new RegExp(`^// ${folder.replaceAll(sep, '/')}/: .+\n// .+\n\n`),
    )
  t.end()
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
    t.match(
      read(file!),
      new RegExp(`^(?:export )?(?:async )?(?:function|class|const) ${name}\\b`, 'm'),
    )
})
