import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { PACKAGE_ROOT } from '../../src/config/package.ts'
import { run } from './program.ts'

const shipped = join(PACKAGE_ROOT, 'scenarios')
const OWN = '# mine\ntitle: Mine\nextends: slow\n'

t.test('scenario print: a shipped scenario, as a start for one of your own', async (t) => {
  const cwd = t.testdir({ mine: { deep: { 'own.yaml': OWN, 'slow.yml': 'title: my slow\n' } } })
  for (const file of readdirSync(shipped).filter((name) => name.endsWith('.yaml'))) {
    const printed = await run(['scenario', 'print', file.replace('.yaml', '')], { cwd })
    const stdout = readFileSync(join(shipped, file), 'utf8')
    t.strictSame(printed, { code: 0, stdout, stderr: '' }, file)
  }
  const print = (...words: string[]) => run(['scenario', 'print', ...words], { cwd })
  t.match(await print('own', '--scenarios', 'mine'), { code: 0, stdout: OWN })
  t.match(await print('slow', '--scenarios', 'mine'), { code: 0, stdout: 'title: my slow\n' })
  t.match(await print('no-webhooks', '--scenarios', 'mine'), { code: 0, stdout: /^title: /m })
  const env = { PAYOUT_SANDBOX_SCENARIOS: 'mine', PAYOUT_SANDBOX_URL: 'no sandbox is called' }
  t.match(await run(['scenario', 'print', 'own'], { cwd, env }), { code: 0, stdout: OWN })
  for (const [words, stderr] of [
    [['slwo'], /there is no scenario "slwo"; did you mean "slow"\?/],
    [['slow', '--scenarios', 'none'], /--scenarios none cannot be read \(ENOENT\)\. Give a folder/],
    [['slow', '--url', 'http://127.0.0.1:1'], /scenario print does not take --url/],
    [[], /scenario print needs NAME/],
  ] as const)
    t.match(await print(...words), { code: 2, stdout: '', stderr })
  const use = await run(['scenario', 'use', 'slow', '--scenarios', 'mine'], { cwd })
  t.match(use, { code: 2, stderr: /scenario use does not take --scenarios/ })
})

t.test('client: the file to save in a project of another language', async (t) => {
  for (const [language, file] of [
    ['python', 'python/payout_sandbox.py'],
    ['java', 'java/PayoutSandbox.java'],
    ['junit', 'java/PayoutSandboxExtension.java'],
    ['go', 'go/payoutsandbox.go'],
    ['php', 'php/PayoutSandbox.php'],
  ] as const) {
    const stdout = readFileSync(join(PACKAGE_ROOT, 'clients', file), 'utf8')
    t.strictSame(await run(['client', language]), { code: 0, stdout, stderr: '' }, language)
  }
  t.match(await run(['client', 'ruby']), {
    code: 2,
    stderr: /client takes python, java, junit, go, php, not "ruby"/,
  })
  t.match(await run(['client']), { code: 2, stderr: /client needs LANGUAGE/ })
})
