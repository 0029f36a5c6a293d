// npm test [-- FILE or FOLDER ...]: bundles the test files at once, runs two more at a time than there are processors, and
// reports what a person wants to know. Most files share a process with others; see `needsOf`.
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findChromium, startBrowser } from './test-browser.mjs'
import { bundleTests } from './test-bundle.mjs'
import { createShared, killAll, runAlone } from './test-processes.mjs'
import { createReport } from './test-report.mjs'
import { installTools } from './tools.mjs'

const ENDING = '.test.ts'
// Validates the shipped scenarios and fixtures once for all test files.
const SHIPPED = 'test/shipped-files.ts'
const SHARED = 'scripts/test-shared.mjs'
const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const began = performance.now()

// It slows every start of Node 20, and the tests start many.
delete process.env.NODE_EXTRA_CA_CERTS

// ---- which files

/** The test files that a path means, named from the root of the package. */
function filesOf(path) {
  const full = resolve(path)
  if (!existsSync(full)) throw new Error(`${path} is not there: name test files or their folders.`)
  if (!statSync(full).isDirectory()) return [relative(root, full)]
  return readdirSync(full, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules' && !name.startsWith('.'))
    .filter((entry) => entry.isDirectory() || entry.name.endsWith(ENDING))
    .flatMap(({ name }) => filesOf(join(full, name)))
}

// ---- in which order

const timesFile = join(root, '.tap/times.json')
const times = existsSync(timesFile) ? JSON.parse(readFileSync(timesFile, 'utf8')) : {}
// Where no run is remembered: these folders have the long files.
const LONG = ['torture', 'console', 'cli', 'examples', 'replay', 'library', 'storage', 'http']
const folderOf = (name) => name.split('/')[1]
const expected = (name) =>
  times[name] ??
  1000 * (LONG.includes(folderOf(name)) ? LONG.length - LONG.indexOf(folderOf(name)) : 0)

/** Long ones first, so that none of them is left alone at the end. */
const longestFirst = (names) => [...names].sort((a, b) => expected(b) - expected(a))

// ---- what they need

const textOf = (name) => readFileSync(join(root, name), 'utf8')

/** What a test file asks for beyond a process, as its sources under `test` tell. */
function needsOf(sources) {
  const own = [...sources].filter((name) => name.startsWith('test/'))
  const build = own.some((name) => /\bdist\b/.test(textOf(name)))
  const browser = own.includes('test/console/browser.ts')
  return {
    build,
    browser,
    tools: own.includes('test/tools.ts'),
    // These are measured without what other files leave.
    alone: own.some((name) => /\b(?:memoryUsage|getActiveResourcesInfo)\b/.test(textOf(name))),
  }
}

// ---- running

async function main() {
  const words = process.argv.slice(2)
  const names = [...new Set((words.length > 0 ? words : ['test']).flatMap(filesOf))]
  const bundled = await bundleTests(names.length > 1 ? [...names, SHIPPED, SHARED] : names)
  const needs = new Map(names.map((name) => [name, needsOf(bundled.sourcesOf(name))]))
  const anyNeeds = (what) => names.some((name) => needs.get(name)[what])

  let tools = anyNeeds('tools') ? installTools('test/tools') : undefined
  if (anyNeeds('build')) await import('./ensure-build.mjs')
  const env = { ...process.env }
  const browser = anyNeeds('browser') && findChromium() ? await startBrowser() : undefined
  if (browser !== undefined) env.TEST_BROWSER = browser.wsEndpoint()

  if (names.length > 1) {
    // Reading YAML and fixtures takes each file a third of a second.
    spawnSync(process.execPath, [bundled.fileOf(SHIPPED), bundled.folder], { stdio: 'inherit' })
    env.TEST_SHIPPED = bundled.folder
  }

  const report = createReport((text) => process.stdout.write(text), bundled.readPlaces)
  const queue = longestFirst(names)
  const waiting = queue.filter((name) => needs.get(name).tools)
  tools = tools?.then((failure) => {
    if (failure !== undefined) console.error(failure)
    tools = undefined
  })
  /** The next file that has what it needs; those that wait for tools do so while others run. */
  function next() {
    const at = queue.findIndex((name) => tools === undefined || !waiting.includes(name))
    return at < 0 ? undefined : queue.splice(at, 1)[0]
  }
  const options = { cwd: root, env }
  async function work() {
    const shared = createShared(bundled.fileOf(SHARED), options)
    const isShared = (name) => names.length > 1 && !needs.get(name).alone
    while (queue.length > 0) {
      const name = next()
      if (name === undefined) await tools
      else {
        const { parser, end } = report.file(name)
        const start = performance.now()
        const run = isShared(name) ? shared.run : runAlone
        const outcome = await run(bundled.fileOf(name), parser, options)
        const ms = performance.now() - start
        times[name] = Math.round(ms)
        if (!parser.results) await once(parser, 'complete')
        end({ ms, ...outcome })
      }
    }
    await shared.close()
  }
  // Two more than there are processors, because many files wait for processes, browsers and timers.
  await Promise.all(Array.from({ length: availableParallelism() + 2 }, work))
  await browser?.close()

  mkdirSync(dirname(timesFile), { recursive: true })
  writeFileSync(timesFile, JSON.stringify(times))
  const files = names.length === 1 ? '1 file' : `${names.length} files`
  console.log(`\n${files} in ${Math.round((performance.now() - began) / 1000)} s`)
  report.end()
  // Green only if something was run.
  const { failed, passed } = report.counts
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0
}

for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    killAll()
    process.exit(1)
  })
try {
  await main()
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}
