import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { PACKAGE_ROOT } from '../../../src/config/package.ts'
import { call, PROGRAM } from '../../cli/program.ts'
import { PAYMENT } from '../../helper.ts'
import { read } from './files.ts'

type Step = {
  id?: string
  if: string
  run?: string
  uses?: string
  env?: Record<string, string>
  with?: Record<string, string>
}
type Action = {
  inputs: Record<string, { default: string }>
  outputs: Record<string, { value: string }>
  runs: { steps: Step[] }
}
const action: Action = parse(read('action.yml'), { strict: true })

/** Kills a sandbox that outlived its test. */
function killIfRunning(pid: number) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // finish has stopped it.
  }
}

type RunOptions = { folder?: string; env?: Record<string, string | undefined> }

/** A runner with the files that GitHub's runner gives to a step. */
function createRunner(t: Test) {
  const dir = t.testdir({ temp: {}, work: {}, env: '', output: '', summary: '' })
  const textOf = (name: string) => readFileSync(join(dir, name), 'utf8')
  const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env
  for (const name of Object.keys(inherited))
    if (name.startsWith('PAYOUT_SANDBOX_')) delete inherited[name]
  /** What the steps so far have exported. */
  const exported = (): Record<string, string> =>
    Object.fromEntries(
      textOf('env')
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split(/=(.*)/s).slice(0, 2)),
    )

  /** Runs the script of a step as the runner does, with these inputs. */
  function run(id: string, inputs: Record<string, string> = {}, options: RunOptions = {}) {
    const { run, env = {} } = action.runs.steps.find((step) => step.id === id)!
    const inputOf = (name: string) => inputs[name] ?? action.inputs[name]!.default
    const given = Object.entries(env).map(([name, value]) => [
      name,
      value.replace(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, input) => inputOf(input)),
    ])
    const script = `umask 022; ${run}`
    return spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
      cwd: join(dir, options.folder ?? 'work'),
      encoding: 'utf8',
      timeout: 60_000,
      env: {
        ...inherited,
        ...exported(),
        ...Object.fromEntries(given),
        GITHUB_ACTION_PATH: PACKAGE_ROOT,
        GITHUB_ENV: join(dir, 'env'),
        GITHUB_OUTPUT: join(dir, 'output'),
        GITHUB_STEP_SUMMARY: join(dir, 'summary'),
        RUNNER_TEMP: join(dir, 'temp'),
        ...options.env,
      },
    })
  }

  /** Starts a sandbox that ends with the test at the latest. */
  function start(inputs: Record<string, string>) {
    const { status, stdout, stderr } = run('start', inputs)
    t.equal(status, 0, stdout + stderr)
    const pid: number = JSON.parse(textOf('temp/payout-sandbox/ready.json')).pid
    t.teardown(() => killIfRunning(pid))
    return { pid, stdout }
  }
  return { dir, run, start, exported, textOf }
}

const command = PROGRAM.join(' ')
t.test('the action starts a sandbox for the next steps, and reports what they sent', async (t) => {
  const { dir, run, start, exported, textOf } = createRunner(t)
  // A token of characters that JSON, bash and a runner escape.
  const token = 's3"c\\r%25e$t`'
  const options = `--clock 2030-01-01T00:00:00Z\n--admin-token ${token}\n--scenario failed-payouts\n`
  const started = start({ command, options })
  t.match(started.stdout, `::add-mask::${token.replace('%', '%25')}\n`)
  const env = exported()
  t.strictSame(Object.keys(env), [
    'PAYOUT_SANDBOX_URL',
    'PAYOUT_SANDBOX_ADMIN_URL',
    'PAYOUT_SANDBOX_TOKEN',
    'PAYOUT_SANDBOX_ADMIN_TOKEN',
  ])
  const url = env['PAYOUT_SANDBOX_URL']
  const outputs = textOf('output')
  for (const [name, { value }] of Object.entries(action.outputs)) {
    t.equal(value, `\${{ steps.start.outputs.${name} }}`)
    t.match(outputs, new RegExp(`^${name}=.`, 'm'))
  }
  t.match(outputs, `url=${url}\n`)
  t.equal((await call(`${url}/transaction`, PAYMENT)).status, 200)
  const admin = { 'x-admin-token': token }
  const clock = await call(`${env['PAYOUT_SANDBOX_ADMIN_URL']}/clock`, undefined, admin)
  t.match(clock.body, { now: '2030-01-01T00:00:00.000Z', mode: 'frozen' })
  t.match(run('start', { command }), { status: 1, stdout: /has a sandbox already; run do: finish/ })

  const finished = run('finish')
  t.equal(finished.status, 0, finished.stdout + finished.stderr)
  t.match(textOf('summary'), /## payout-sandbox\n.*failed-payouts.*POST +\/v1\/transaction/s)
  await t.rejects(fetch(`${url}/users`), 'it has stopped')

  const upload = action.runs.steps.at(-1)!
  t.match(upload.uses, /^actions\/upload-artifact@[0-9a-f]{40}$/)
  t.equal(upload.if, "always() && inputs.do == 'finish' && inputs.job-status != 'success'")
  // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of GitHub.
  const report = upload.with!['path']!.replace('${{ runner.temp }}', join(dir, 'temp'))
  const { log } = JSON.parse(readFileSync(join(report, 'requests.har'), 'utf8'))
  t.match(log.entries, [{ request: { method: 'POST' }, response: { status: 200 } }])
})

t.test('nobody else on the machine can read what the action writes', async (t) => {
  const { dir, run, start } = createRunner(t)
  const token = 'for-this-run-only'
  start({ command, options: `--admin-token ${token}` })
  const temp = join(dir, 'temp')
  const modes = () =>
    Object.fromEntries(
      readdirSync(temp, { recursive: true, encoding: 'utf8' }).map((name) => {
        const stat = statSync(join(temp, name))
        return [name.replace('payout-sandbox', '.'), stat.mode & 0o777]
      }),
    )
  const [folder, file] = [0o700, 0o600]
  const report = { './report': folder, './report/log.txt': file }
  t.strictSame(modes(), { '.': folder, ...report, './ready.json': file, './started': file })
  run('finish')
  t.match(modes(), { ...report, './report/requests.har': file, './finished': file })
})

t.test('a job can start, finish and start again, with other options', async (t) => {
  const { dir, run, start, exported, textOf } = createRunner(t)
  const report = join(dir, 'temp/payout-sandbox/report')
  const clock = async () =>
    (await call(`${exported()['PAYOUT_SANDBOX_ADMIN_URL']}/clock`)).body as { mode: string }
  start({ command, options: '--scenario slow' })
  t.match(await clock(), { mode: 'frozen' }, 'options are added to the defaults')
  t.equal(run('finish').status, 0)
  t.match(textOf('summary'), 'slow')
  const names = ['URL', 'ADMIN_URL', 'TOKEN', 'ADMIN_TOKEN'].map((one) => `PAYOUT_SANDBOX_${one}`)
  t.strictSame(exported(), Object.fromEntries(names.map((name) => [name, ''])))

  const { pid } = start({ command, options: '--clock real --port 0' })
  t.match(await clock(), { mode: 'real' }, 'an option takes precedence over its default')
  t.equal(run('finish').status, 0)
  t.ok(hasEnded(pid))
  t.ok(existsSync(join(report, 'log.txt')))
  t.match(run('finish'), { status: 0, stdout: /::warning .*no sandbox to finish/ })
  t.notOk(existsSync(report), 'one report is not uploaded twice')
})

t.test('finish shows what all clients did, deleted ones too', async (t) => {
  const { dir, run, start, exported, textOf } = createRunner(t)
  start({ command, options: '--scenario failed-payouts' })
  const root = new URL('/', exported()['PAYOUT_SANDBOX_URL']).href
  for (const name of ['worker-1', 'gone']) {
    const headers = { authorization: `Bearer sbx_${name}` }
    t.equal((await call(`${root}@${name}/v1/transaction`, PAYMENT, headers)).status, 200)
  }
  await fetch(`${root}__admin/clients/gone`, { method: 'DELETE' })
  run('finish')
  t.match(textOf('summary'), /\b2$.* gone .*POST.* worker-1 .*POST/ms)
  const text = readFileSync(join(dir, 'temp/payout-sandbox/report/requests.har'), 'utf8')
  t.match(JSON.parse(text).log.entries, [{ _client: 'worker-1' }, { _client: 'gone' }])
})

t.test(
  'the action finds the program that a project has installed, and says what it lacks',
  async (t) => {
    const { dir, run, textOf } = createRunner(t)
    const bin = join(dir, 'work/node_modules/.bin')
    mkdirSync(bin, { recursive: true })
    const words = PROGRAM.map((word) => `'${word}'`).join(' ')
    writeFileSync(join(bin, 'payout-sandbox'), `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 })
    const refused = run('start', { options: '--clock soon' })
    t.match(refused, { status: 1, stdout: /--clock takes real.*::error .*did not start/s })
    t.equal(textOf('env'), '', 'nothing is exported')
    t.match(run('finish'), { status: 0, stdout: /::warning .*no sandbox to finish/ })
    t.match(run('start', { do: 'stop' }), {
      status: 1,
      stdout: /do takes start or finish, not stop/,
    })
    t.ok(existsSync(join(dir, 'temp/payout-sandbox/report/log.txt')))
  },
)

const hasEnded = (pid: number) => {
  try {
    return !process.kill(pid, 0)
  } catch {
    return true
  }
}

t.test('finish does not depend on what the tests have done to its environment', async (t) => {
  const { dir, run, start, textOf } = createRunner(t)
  mkdirSync(join(dir, 'work/elsewhere'))
  const words = PROGRAM.map((word) => `'${word}'`).join(' ')
  writeFileSync(join(dir, 'work/psb'), `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 })
  const refused = run('start', { command: './psb', options: '--clock soon' })
  t.equal(refused.status, 1)
  // A start that failed does not prevent the next one.
  const { pid } = start({ command: './psb' })
  const env = { PAYOUT_SANDBOX_URL: undefined, PAYOUT_SANDBOX_COLOUR_OF_TESTS: 'blue' }
  const finished = run('finish', {}, { folder: 'work/elsewhere', env })
  t.match(finished, { status: 0, stdout: '', stderr: '' })
  t.match(textOf('summary'), /The scenario, over all clients.*The last calls of all clients/s)
  t.notMatch(textOf('summary'), 'could not be read')
  t.ok(hasEnded(pid))
})

t.test('finish stops a sandbox that it cannot read, and says so', async (t) => {
  const { dir, run, start, exported, textOf } = createRunner(t)
  const { pid } = start({ command, options: '--no-admin' })
  t.strictSame(Object.keys(exported()), ['PAYOUT_SANDBOX_URL', 'PAYOUT_SANDBOX_TOKEN'])
  const finished = run('finish')
  t.match(finished, { status: 0, stdout: /^::warning .*could not read: scenario requests/ })
  t.match(textOf('summary'), /This could not be read: payout-sandbox scenario show --all failed/)
  t.notOk(existsSync(join(dir, 'temp/payout-sandbox/report/requests.har')))
  t.ok(hasEnded(pid))
})

t.test('finish shows the log of a sandbox that has ended before', async (t) => {
  const { run, start, textOf } = createRunner(t)
  const { pid } = start({ command })
  process.kill(pid, 'SIGKILL')
  for (let i = 0; i < 200 && !hasEnded(pid); i++) await setTimeout(10)
  t.match(run('finish'), { status: 0, stdout: /^::warning .*ended before the tests did/ })
  t.match(textOf('summary'), 'The sandbox has ended before the tests did. Its log:')
})
