import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { PACKAGE_ROOT } from '../../src/config/package-root.ts'

const torture = (...words: string[]) =>
  spawnSync(process.execPath, [join(PACKAGE_ROOT, 'scripts/torture.mjs'), ...words], {
    encoding: 'utf8',
  })

t.test('a wrong option of a command is an error in a sentence, with the usage', async (t) => {
  for (const [words, message] of [
    [['--bogus'], "Unknown option '--bogus'"],
    [['--only', 'kill,rest'], '--only takes clock, edits, '],
    [['--seed', 'x'], '--seed takes a whole number of up to 9 digits, not x'],
    [['--short', '--write'], '--write excludes --short: '],
  ] as const) {
    const { status, stdout, stderr } = torture(...words)
    t.equal(status, 2, message)
    t.equal(stdout, '')
    t.ok(stderr.startsWith(message), stderr)
    t.match(stderr, /\nUsage: npm run torture \[-- --only clock,/)
    t.notMatch(stderr, /\n {4}at /)
  }
})

t.test('--help prints the usage', async (t) => {
  const { status, stdout, stderr } = torture('--help')
  t.strictSame({ status, stderr }, { status: 0, stderr: '' })
  t.match(stdout, /^Usage: npm run torture /)
})
