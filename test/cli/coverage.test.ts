import { copyFileSync, cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startSandbox } from '../../src/index.ts'
import { Coverage } from '../../src/model/coverage.ts'
import { hold, pathOf } from '../held-page.ts'
import { run, serve } from './program.ts'

const program = (path: string) => [
  '--',
  process.execPath,
  '--input-type=module',
  '-e',
  `await fetch(process.env.PAYOUT_SANDBOX_URL + '${path}')`,
]

t.test('exec prints and writes what the program has met, and its gates fail it', async (t) => {
  const cwd = t.testdir({})
  const users = program('/users?page=2')
  const args = ['exec', '--coverage', 'out/cov', '--min-coverage', 'lists=12,calls=0']
  const enough = await run([...args, ...users], { cwd })
  t.match(enough, { code: 0, stdout: '', stderr: /\nlists +1 of 8 +12 %\n/ })
  t.match(enough.stderr, /calls +rate_limited +- +createUser \+ 15 +the scenario rate-limited\n/)
  const { groups } = Coverage.parse(
    JSON.parse(readFileSync(join(cwd, 'out/cov/coverage.json'), 'utf8')),
  )
  t.match(groups[5], { group: 'lists', met: 1, total: 8, percent: 12 })
  const few = await run(['exec', '--min-coverage', 'money=80,lists=13', ...users], { cwd })
  t.match(few, {
    code: 1,
    stderr:
      /\nthe coverage of money is 0 % \(0 of 11\), and --min-coverage asks for 80 %\n\nthe coverage of lists is 12 % \(1 of 8\), and/,
  })
  const failed = await run(['exec', '--min-coverage', 'money=80', '--', 'sh', '-c', 'exit 7'])
  t.equal(failed.code, 7, 'the exit code of the program is kept')
  t.notMatch((await run(['exec', ...users], { cwd })).stderr, 'group')
})

t.test('wrong gates and folders are said before the program runs', async (t) => {
  const cwd = t.testdir({ file: '' })
  for (const gate of ['money', 'cash=1', 'money=101', 'money=80,money=3'])
    t.match(await run(['exec', '--min-coverage', gate, '--', 'touch', 'ran'], { cwd }), {
      code: 2,
      stderr:
        'payout-sandbox: --min-coverage takes percentages of groups, each once, such as money=80,webhooks=60, not',
    })
  const folder = await run(['exec', '--coverage', 'file', '--', 'touch', 'ran'], { cwd })
  t.match(folder, { code: 2, stderr: '--coverage file cannot be written' })
  t.notOk(existsSync(join(cwd, 'ran')))
})

t.test('coverage is collected only if somebody asks for it', async (t) => {
  const off = 'Coverage is off. Restart the sandbox with --coverage'
  const entries: Record<string, (isOn: boolean) => Promise<string>> = {
    async start(isOn) {
      const env = isOn ? { PAYOUT_SANDBOX_COVERAGE: 'true' } : {}
      const { url } = await serve(t, ['--memory'], { env })
      await fetch(`${url}/users?page=2`)
      const { code, stdout, stderr } = await run(['coverage', '--url', url])
      t.equal(code, isOn ? 0 : 1)
      const gated = await run(['coverage', '--url', url, '--min-coverage', 'lists=13', '--json'])
      t.equal(gated.code, 1)
      if (isOn) t.equal(Coverage.parse(JSON.parse(gated.stdout)).groups.length, 7)
      return stdout + stderr
    },
    async exec(isOn) {
      const asks = `await fetch(process.env.PAYOUT_SANDBOX_URL + '/users?page=2')
        const { groups, message } = await (await fetch(process.env.PAYOUT_SANDBOX_ADMIN_URL + '/coverage')).json()
        console.log(message ?? groups.map(({ group, met }) => group + ' ' + met).join())`
      const program = ['--', process.execPath, '--input-type=module', '-e', asks]
      return (await run(['exec', ...(isOn ? ['--min-coverage', 'calls=0'] : []), ...program]))
        .stdout
    },
    async library(isOn) {
      const { url, admin, close } = await startSandbox(isOn ? { coverage: true } : {})
      await fetch(`${url}/users?page=2`)
      const found = await admin.coverage().catch((error: Error) => error.message)
      await close()
      return typeof found === 'string' ? found : JSON.stringify(found.groups)
    },
  }
  for (const [name, answer] of Object.entries(entries)) {
    t.match(await answer(false), off, name)
    t.match(await answer(true), /lists.*1/, `${name}, asked for it`)
  }
})

t.test('docs/coverage.md shows the tables of the example', async (t) => {
  const cwd = join(t.testdir(), 'sweep')
  cpSync(pathOf('examples/sweep'), cwd, { recursive: true })
  copyFileSync(join(cwd, 'mended.mjs'), join(cwd, 'payouts.mjs'))
  const node = [process.execPath, 'payouts.test.mjs']
  const { stderr } = await run(
    ['exec', '--clock-speed', '1000', '--coverage', 'c', '--', ...node],
    { cwd },
  )
  const shown = stderr
    .split('\n')
    .filter((line) => /^group|^money +P[A-Z]+ {3}|of \d|^$/.test(line))
  hold(t, 'docs/coverage.md', 'table', `\`\`\`text\n${shown.join('\n').trim()}\n\`\`\`\n`)
})
