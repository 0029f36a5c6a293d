import { once } from 'node:events'
import { join, relative } from 'node:path'
import t, { type Test } from 'tap'
import type { Parser } from 'tap-parser'
import { PACKAGE_ROOT } from '../../src/config/package-root.ts'

// The scripts are plain JavaScript without types.
const { bundleTests } = await import(join(PACKAGE_ROOT, 'scripts/test-bundle.mjs'))
const { createShared } = await import(join(PACKAGE_ROOT, 'scripts/test-processes.mjs'))
const { createReport } = await import(join(PACKAGE_ROOT, 'scripts/test-report.mjs'))

const FINE = "t.test('is fine', async (t) => t.ok(true))\n"
const EXITS = "t.test('exits', async () => process.exit(3))\n"

// One file waits for it; a start of a process must fit into it too.
const MAX_MS = 4_000

const SHARED = 'scripts/test-shared.mjs'

/** Runs files in one shared process, as `npm test` does, and says what is reported of each. */
async function reportsOf(t: Test, codes: string[], maxMs?: number) {
  const dir = t.testdir(
    Object.fromEntries(codes.map((code, i) => [`${i}.mjs`, `import t from 'tap'\n${code}`])),
  )
  const names = codes.map((_, i) => relative(PACKAGE_ROOT, join(dir, `${i}.mjs`)))
  const { fileOf, readPlaces } = await bundleTests([...names, SHARED])
  const options = { cwd: PACKAGE_ROOT, env: process.env, maxMs }
  const shared = createShared(fileOf(SHARED), options)
  const texts: string[] = []
  const report = createReport((text: string) => texts.push(text), readPlaces)
  for (const [i, name] of names.entries()) {
    const { parser, end }: { parser: Parser; end: (outcome: object) => void } = report.file(i)
    const outcome = await shared.run(fileOf(name), parser)
    if (!parser.results) await once(parser, 'complete')
    end({ ms: 1, ...outcome })
  }
  await shared.close()
  return { texts, counts: report.counts }
}

t.test('files that share a process have counts and failures of their own', async (t) => {
  const { texts, counts } = await reportsOf(t, [
    `t.jobs = 4\n${FINE}t.test('is wrong', async (t) => t.equal(1, 2))\n`,
    `t.test('has no jobs of others', async (t) => t.equal(t.parent.jobs, 1))\n${FINE}`,
    '',
    "throw new Error('not loaded')\n",
    FINE,
    `${FINE}t.test('leaves a promise', () => new Promise(() => { Promise.reject(new Error('no catch')) }))\n`,
    `t.test('leaves a timer', () => new Promise(() => { setTimeout(() => { throw new Error('no try') }) }))\n${FINE}`,
  ])
  t.match(texts[0], /^FAILED 0 .*\n {2}not ok: is wrong > should be equal at .*0\.mjs:4:\d+\n/)
  t.match(texts[1], /^ok {5}1 /)
  t.match(texts[2], /^FAILED 2 .*\n.*\n {4}It has no tests\.\n/)
  t.match(texts[3], /^FAILED 3 .*\n {2}not ok: not loaded at .*3\.mjs:2:\d+\n/)
  t.match(texts[4], /^ok {5}4 /)
  t.match(texts[5], /^FAILED 5 .*\n {2}not ok: leaves a promise > no catch at .*5\.mjs:3:\d+\n/)
  t.match(texts[6], /^FAILED 6 .*\n {2}not ok: leaves a timer > no try at .*6\.mjs:2:\d+\n/)
  t.ok(counts.passed >= 4)
})

t.test(
  'a file that ends its process or never ends fails; the next file has a new one',
  async (t) => {
    const codes = [
      EXITS,
      `t.test('does not end', () => new Promise(() => {}))\n${FINE}`,
      "t.test('throws late', async (t) => {\n  t.ok(true)\n  setTimeout(() => { throw new Error('late') })\n})\n",
      't.teardown(() => {})\n',
      `${FINE}setInterval(() => {}, 1000)\n`,
      FINE,
    ]
    const { texts } = await reportsOf(t, codes, MAX_MS)
    t.match(texts[0], /^FAILED 0 .*\n {2}not ok: exits/)
    t.match(texts[1], /^FAILED 1 .*\n {2}not ok: does not end/)
    t.match(texts[2], /^FAILED 2 (?:.*\n)*.*late/)
    t.match(texts[3], /^FAILED 3 (?:.*\n)*.*Give teardown to a test/)
    t.match(texts[4], /^FAILED 4 .*\n.*\n {4}It did not end within 4 s\.\n/)
    t.match(texts[5], /^ok {5}5 /)
  },
)
