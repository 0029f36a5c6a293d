import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { PACKAGE_ROOT } from '../../src/config/package-root.ts'

// The script is plain JavaScript without types.
const { createReport } = await import(join(PACKAGE_ROOT, 'scripts/test-report.mjs'))

/** What tap itself prints for a test file. */
function tapOf(t: Test, code: string): string {
  const dir = t.testdir({ 'some.test.mjs': code })
  // It finds tap where this file does.
  const file = join(dir, 'some.test.mjs')
  const { stdout } = spawnSync('env', ['-u', 'NODE_OPTIONS', process.execPath, file], {
    encoding: 'utf8',
    env: { ...process.env, TAP: '1' },
  })
  return stdout
}

async function reportOf(tap: string) {
  let text = ''
  const { parser, counts } = createReport((part: string) => {
    text += part
  })
  const done = once(parser, 'complete')
  parser.end(tap)
  await done
  return { text, counts }
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
  t.match(text, / {2}skipped: runs > one check \(no disk here\)\n/)
  t.match(text, / {2}skipped: whole \(there is no nginx here\)\n/)
  t.match(text, / {2}skipped: plain \(no reason given\)\n/)
  t.match(text, new RegExp(`\\n\\n${counts.passed} passed, 0 failed, 3 skipped\\n$`))
  t.ok(counts.passed >= 1)
  t.notMatch(text, /not ok/)
})

t.test('a failed test is shown with its place, and counted', async (t) => {
  const { text, counts } = await reportOf(
    tapOf(t, `import t from 'tap'\nt.test('adds', async (t) => t.equal(1 + 1, 3, 'a sum'))\n`),
  )
  t.match(text, /not ok: adds > a sum at .*some\.test\.mjs:2\n {4}diff: /)
  t.ok(counts.failed >= 1)
  t.match(text, new RegExp(`\\n\\n0 passed, ${counts.failed} failed, 0 skipped\\n$`))
})
