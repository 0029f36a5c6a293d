import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { PACKAGE_ROOT } from '../../../src/config/package.ts'

const FOLDER = join(PACKAGE_ROOT, 'examples/first-payout')
const scripts: Record<string, string> = JSON.parse(
  readFileSync(join(FOLDER, 'package.json'), 'utf8'),
).scripts

/** The example as it lies in a clone that was built, in a copy of that clone. */
function clone(t: Test): string {
  const root = t.testdir()
  const dir = join(root, 'examples/first-payout')
  cpSync(FOLDER, dir, {
    recursive: true,
    filter: (path) => !path.includes('node_modules', FOLDER.length),
  })
  for (const name of ['package.json', 'dist', 'fixtures', 'scenarios', 'scripts'])
    symlinkSync(join(PACKAGE_ROOT, name), join(root, name))
  // The runners that a user installs.
  symlinkSync(join(PACKAGE_ROOT, 'test/slow/node_modules'), join(root, 'node_modules'))
  return dir
}

const npm = (dir: string, ...words: string[]) => run(dir, ['npm', ...words])

/** Runs a script as npm does, without the start of npm. */
function script(dir: string, name: string) {
  const folders = [join(dir, 'node_modules/.bin'), join(dir, '../../node_modules/.bin')]
  const path = [...folders, process.env['PATH']].join(delimiter)
  return run(dir, [`PATH=${path}`, 'sh', '-c', scripts[name]!])
}

/** Runs a command in the example; one that leaves a handle open does not end, and is killed. */
async function run(dir: string, words: string[]) {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_|TAP)/i.test(name)),
  )
  // tap puts NODE_OPTIONS back into the environment of what is spawned.
  const child = spawn('env', ['-u', 'NODE_OPTIONS', ...words], {
    cwd: dir,
    env,
    timeout: 100_000,
    killSignal: 'SIGKILL',
  })
  const said = [text(child.stdout), text(child.stderr)]
  const [code] = await once(child, 'close')
  // Colours are no part of what is said.
  return { code, text: (await Promise.all(said)).join('').replaceAll(/\u001b\[\d+m/g, '') }
}

const TALLY: Readonly<Record<string, [passed: RegExp, failed: RegExp]>> = {
  test: [/# pass 3\n# fail 0/, /# pass 2\n# fail 1/],
  'test:vitest': [/Tests +3 passed \(3\)/, /Tests +1 failed \| 2 passed \(3\)/],
  'test:jest': [/Tests: +3 passed, 3 total/, /Tests: +1 failed, 2 passed, 3 total/],
}

t.strictSame(Object.keys(scripts).sort(), Object.keys(TALLY).sort(), 'every script is run here')

const LOOK = '    if (await find(service, payout)) return\n'
const OFFLINE = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']

t.test('the first payout is tested by each script, and a bug is found', async (t) => {
  const dir = clone(t)
  const installed = await npm(dir, 'install', ...OFFLINE)
  t.equal(installed.code, 0, installed.text)
  t.notOk(existsSync(join(dir, 'package-lock.json')), 'nothing is left to commit')
  const payouts = join(dir, 'payouts.cjs')
  const code = readFileSync(payouts, 'utf8')
  for (const [name, [passed, failed]] of Object.entries(TALLY))
    await t.test(`npm run ${name}`, async (t) => {
      writeFileSync(payouts, code)
      const good = await npm(dir, 'run', name)
      t.equal(good.code, 0, good.text)
      t.match(good.text, passed)
      // Without a look in the history the code pays again.
      t.ok(code.includes(LOOK))
      writeFileSync(payouts, code.replace(LOOK, ''))
      const bad = await script(dir, name)
      t.equal(bad.code, 1)
      t.match(bad.text, failed)
    })
  await t.test('it passes a sweep of what concerns money', async (t) => {
    writeFileSync(payouts, code)
    const program = join(dir, '../../dist/bin.cjs')
    const options = ['--only', 'money', '--points', 'first', '--max-time', '40s']
    const sweep = [
      process.execPath,
      program,
      'sweep',
      ...options,
      '--',
      'node',
      '--test',
      'node.test.mjs',
    ]
    const { code: exit, text } = await run(dir, sweep)
    t.equal(exit, 0, text)
    t.match(text, /^\d\d runs: \d+ passed/m)
    t.notMatch(text, / error /)
  })
})
