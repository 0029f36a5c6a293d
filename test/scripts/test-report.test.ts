import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { PACKAGE_ROOT } from '../../src/config/package-root.ts'

// The script is plain JavaScript without types.
const { createReport } = await import(join(PACKAGE_ROOT, 'scripts/test-report.mjs'))

/** What tap itself prints for a test file. */
function tapOf(t: Test, code: string): string {
  // The file lies where it finds tap.
  const file = join(t.testdir({ 'some.test.mjs': code }), 'some.test.mjs')
  return spawnSync(process.execPath, [file], { encoding: 'utf8' }).stdout
}

type Ended = { problem?: string; stderr?: string }

async function reportOf(tap: string, ended: Ended = {}, readPlaces?: (text: string) => string) {
  let text = ''
  const report = createReport((part: string) => {
    text += part
  }, readPlaces)
  const file = report.file('test/some.test.ts')
  const done = once(file.parser, 'complete')
  file.parser.end(tap)
  await done
  file.end({ ms: 12, ...ended })
  report.end()
  return { text, counts: report.counts }
}

t.test('each skipped test is named with its reason, and counted', async (t) => {
  const { text, counts } = await reportOf(
    tapOf(
      t,
      `import t from 'tap'
t.test('runs', async (t) => {
  t.ok(true, 'held')
  t.ok(true, 'one check', { skip: 'no disk here' })
})
t.test('whole', { skip: 'there is no nginx here' }, async (t) => t.fail())
t.test('plain', { skip: true }, async (t) => t.fail())
`,
    ),
  )
  t.match(text, /^ok {5}test\/some\.test\.ts \(12 ms\)\n/)
  t.match(text, / {2}skipped: runs > one check \(no disk here\)\n/)
  t.match(text, / {2}skipped: whole \(there is no nginx here\)\n/)
  t.match(text, / {2}skipped: plain \(no reason given\)\n/)
  t.match(text, new RegExp(`\\n\\n${counts.passed} passed, 0 failed, 3 skipped\\n$`))
  t.ok(counts.passed >= 1)
  t.notMatch(text, /not ok/)
})

t.test('a failed test is shown with its place in the source, and counted', async (t) => {
  const tap = tapOf(
    t,
    `import t from 'tap'\nt.test('adds', async (t) => t.equal(1 + 1, 3, 'a sum'))\n`,
  )
  const { text, counts } = await reportOf(tap, {}, (text) =>
    text.replaceAll(/\S+some\.test\.mjs:2:/g, 'test/some.test.ts:7:'),
  )
  t.match(text, /^FAILED test\/some\.test\.ts/)
  t.match(text, /not ok: adds > a sum at test\/some\.test\.ts:7:\d+\n {4}diff: /)
  t.equal(counts.failed, 1, 'the check, and not its test once more')
  t.match(text, /\n\n0 passed, 1 failed, 0 skipped\n$/)
})

t.test('a todo is named, and counts as skipped', async (t) => {
  const { text, counts } = await reportOf(
    tapOf(
      t,
      `import t from 'tap'\nt.test('later', async (t) => t.ok(false, 'sums', { todo: 'soon' }))\n`,
    ),
  )
  t.match(text, / {2}skipped: later > sums \(todo: soon\)\n/)
  t.match(counts, { failed: 0, skipped: 1 })
})

t.test('a file fails that ends badly, or tests nothing', async (t) => {
  const one = tapOf(t, `import t from 'tap'\nt.ok(true)\n`)
  const ended = await reportOf(one, {
    problem: 'It ended with SIGKILL.',
    stderr: 'out of memory\n',
  })
  t.match(
    ended.text,
    /not ok: test\/some\.test\.ts\n {4}It ended with SIGKILL\.\n {4}It printed:\n {4}out of memory\n/,
  )
  t.match(ended.counts, { passed: 1, failed: 1 })
  t.match((await reportOf('TAP version 14\n1..0\n')).counts, { passed: 0, failed: 1 })
  t.match((await reportOf('')).counts, { passed: 0, failed: 1 })
  const cut = await reportOf('TAP version 14\nok 1 - one\n', { problem: 'It ended with 1.' })
  t.ok(cut.counts.failed >= 1, 'a plan that never came')
  const skipped = await reportOf('TAP version 14\n1..0 # SKIP no browser here\n')
  t.match(skipped.text, / {2}skipped: test\/some\.test\.ts \(no browser here\)\n/)
  t.match(skipped.counts, { failed: 0, skipped: 1 })
  const loud = await reportOf(one, { stderr: 'Error: loud\n    at here\n' })
  t.notMatch(loud.text, 'Error', 'a file that passes says nothing more')
})
