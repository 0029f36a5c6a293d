import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { PACKAGE_ROOT } from '../../src/config/package-root.ts'
import { call, PROGRAM } from '../cli/program.ts'
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
  function run(id: string, inputs: Record<string, string> = {}) {
    const { run, env = {} } = action.runs.steps.find((step) => step.id === id)!
    const inputOf = (name: string) => inputs[name] ?? action.inputs[name]!.default
    const given = Object.entries(env).map(([name, value]) => [
      name,
      value.replace(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, input) => inputOf(input)),
    ])
    return spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', run!], {
      cwd: join(dir, 'work'),
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
      },
    })
  }
  return { dir, run, exported, textOf }
}

const command = PROGRAM.join(' ')
const payment = {
  from_user_id: '00000000-0000-4000-8000-000000000001',
  to_user_id: '00000000-0000-4000-8000-000000000003',
  benif_bank_id: 'b0000000-0000-4000-8000-000000000003',
  amount: 250,
}

t.test('the action starts a sandbox for the next steps, and reports what they sent', async (t) => {
  const { dir, run, exported, textOf } = createRunner(t)
  const options = '--clock 2030-01-01T00:00:00Z --admin-token s3cret --scenario failed-payouts'
  const started = run('start', { command, options })
  t.equal(started.status, 0, started.stdout + started.stderr)
  t.match(started.stdout, '::add-mask::s3cret\n')
  const pid = Number(readFileSync(join(dir, 'temp/payout-sandbox/pid'), 'utf8'))
  t.teardown(() => {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // finish has stopped it.
    }
  })
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
  t.equal((await call(`${url}/transaction`, payment)).status, 200)
  const admin = { 'x-admin-token': 's3cret' }
  const clock = await call(`${env['PAYOUT_SANDBOX_ADMIN_URL']}/clock`, undefined, admin)
  t.match(clock.body, { now: '2030-01-01T00:00:00.000Z', mode: 'frozen' })
  t.match(run('start', { command }), { status: 1, stdout: /started a sandbox already/ })

  const finished = run('finish')
  t.equal(finished.status, 0, finished.stdout + finished.stderr)
  t.match(textOf('summary'), /## payout-sandbox\n.*failed-payouts.*POST +\/v1\/transaction/s)
  await t.rejects(fetch(`${url}/users`), 'it has stopped')

  const upload = action.runs.steps.at(-1)!
  t.match(upload.uses, /^actions\/upload-artifact@[0-9a-f]{40}$/)
  t.equal(upload.if, "inputs.do == 'finish' && inputs.job-status != 'success'")
  // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of GitHub.
  const report = upload.with!['path']!.replace('${{ runner.temp }}', join(dir, 'temp'))
  const requests = JSON.parse(readFileSync(join(report, 'requests.json'), 'utf8'))
  t.match(requests, { requests: [{ operation: 'createTransaction', status: 200 }] })
  const replayed = spawnSync(PROGRAM[0], [...PROGRAM.slice(1), 'replay', 'run.ndjson'], {
    cwd: report,
    encoding: 'utf8',
  })
  t.match(replayed, { status: 0, stdout: /no differences/ }, 'the recording is complete')
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
