import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { PACKAGE_ROOT } from '../../src/config/package-root.ts'

const FOLDER = join(PACKAGE_ROOT, 'examples/first-payout')
const scripts: Record<string, string> = JSON.parse(
  readFileSync(join(FOLDER, 'package.json'), 'utf8'),
).scripts

/** The example as a user has it: in a folder of its own, with the package installed. */
function installed(t: Test): string {
  const dir = t.testdir()
  cpSync(FOLDER, dir, {
    recursive: true,
    filter: (path) => !path.includes('node_modules', FOLDER.length),
  })
  mkdirSync(join(dir, 'node_modules'))
  symlinkSync(PACKAGE_ROOT, join(dir, 'node_modules/payout-sandbox'))
  return dir
}

/** Runs a script of the example's package.json; a run that leaves a handle open does not end, and is killed. */
async function run(dir: string, script: string) {
  const { NODE_EXTRA_CA_CERTS: _, NODE_OPTIONS: __, NODE_TEST_CONTEXT: ___, ...env } = process.env
  // tap puts NODE_OPTIONS back into the environment of what is spawned.
  const child = spawn('env', ['-u', 'NODE_OPTIONS', 'sh', '-c', scripts[script]!], {
    cwd: dir,
    env: { ...env, PATH: `${join(PACKAGE_ROOT, 'node_modules/.bin')}:${env['PATH']}` },
    timeout: 100_000,
    killSignal: 'SIGKILL',
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  }
  const [code] = await once(child, 'close')
  // Colours are no part of what is said.
  return { code, text: text.replaceAll(/\u001b\[\d+m/g, '') }
}

const TALLY: Readonly<Record<string, [passed: RegExp, failed: RegExp]>> = {
  'test:node': [/# pass 3\n# fail 0/, /# pass 2\n# fail 1/],
  'test:vitest': [/Tests +3 passed \(3\)/, /Tests +1 failed \| 2 passed \(3\)/],
  'test:jest': [/Tests: +3 passed, 3 total/, /Tests: +1 failed, 2 passed, 3 total/],
}

t.strictSame(Object.keys(scripts).sort(), Object.keys(TALLY).sort(), 'every script is run here')

for (const [script, [passed, failed]] of Object.entries(TALLY)) {
  t.test(`the first payout is tested by ${script}, and a bug is found`, async (t) => {
    const dir = installed(t)
    const good = await run(dir, script)
    t.equal(good.code, 0, good.text)
    t.match(good.text, passed)
    // Without its Idempotency-Key the code pays twice.
    const code = readFileSync(join(dir, 'payouts.mjs'), 'utf8')
    writeFileSync(join(dir, 'payouts.mjs'), code.replace('key: reference', 'key: undefined'))
    const bad = await run(dir, script)
    t.equal(bad.code, 1)
    t.match(bad.text, failed)
  })
}
