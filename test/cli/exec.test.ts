import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { portOf } from '../listening.ts'
import { call, run, runAlone, saying, shared, spawned } from './program.ts'

/** A line of JavaScript as the program that exec runs. */
const node = (code: string) => ['--', process.execPath, '--input-type=module', '-e', code]
const sh = (script: string) => ['--', 'sh', '-c', script]
// Each variable that concerns the sandbox, on a line of its own.
const SHOWN = sh('env | grep -E "^(PAYOUT|PORT=)"')
const variablesIn = (stdout: string): Record<string, string> =>
  Object.fromEntries(
    stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/=(.*)/s).slice(0, 2)),
  )

type At = { url: string; admin: string }

/** Runs exec around a program; the test makes the calls of the program and says its exit code. */
async function during(
  args: readonly string[],
  work: (at: At) => Promise<number>,
  options: { cwd?: string } = {},
) {
  const script = 'echo "$PAYOUT_SANDBOX_URL $PAYOUT_SANDBOX_ADMIN_URL"; read code; exit "$code"'
  const running = shared(['exec', ...args, ...sh(script)], options)
  await saying(running, /\n/)
  const [url, admin] = running.printed.stdout.trimEnd().split(' ')
  const code = await work({ url: url!, admin: admin! })
  running.child.stdin!.write(`${code}\n`)
  const { stdout, ...ended } = await running.ended
  return ended
}

const list = ({ url }: At) => call(`${url}/users`)

t.test('the program finds a ready sandbox, and keeps its output and exit code', async (t) => {
  const code = `
    const { PAYOUT_SANDBOX_URL: url, PAYOUT_SANDBOX_ADMIN_URL: admin, PAYOUT_SANDBOX_TOKEN: token } = process.env
    const users = await fetch(url + '/users', { headers: { authorization: 'Bearer ' + token } })
    const clock = await fetch(admin + '/clock')
    process.stdout.write([users.status, (await clock.json()).mode, ...process.argv.slice(1)].join(' '))
    process.stderr.write('mine')
    process.exit(7)`
  const ended = await runAlone(['exec', '--clock', 'frozen', ...node(code), 'a b', '--json'])
  t.strictSame(ended, { code: 7, stdout: '200 frozen a b --json', stderr: 'mine' })
  t.equal((await run(['exec', '--', 'true'])).code, 0)
})

t.test('variables tell where the sandbox is, and its admin token if it has one', async (t) => {
  const cwd = t.testdir({})
  const env = {
    PORT: '1',
    PAYOUT_SANDBOX_ADMIN_TOKEN: 'none',
    PAYOUT_SANDBOX_URL: 'http://old/v1',
    PAYOUT_SANDBOX_BIN: '/bin/of/a/client',
  }
  const plain = await run(['exec', ...SHOWN], { env, cwd })
  const { PAYOUT_SANDBOX_URL: url = '', ...rest } = variablesIn(plain.stdout)
  t.match(url, /^http:\/\/127\.0\.0\.1:\d+\/v1$/)
  t.strictSame(rest, {
    PORT: '1',
    PAYOUT_SANDBOX_BIN: '/bin/of/a/client',
    PAYOUT_SANDBOX_ADMIN_URL: url.replace('/v1', '/__admin'),
    PAYOUT_SANDBOX_TOKEN: 'sbx_test_token',
  })
  const guarded = await run(['exec', '--admin-token', 's3cret', ...SHOWN], { cwd })
  t.equal(variablesIn(guarded.stdout)['PAYOUT_SANDBOX_ADMIN_TOKEN'], 's3cret')
  t.notOk(existsSync(join(cwd, '.payout-sandbox')), 'nothing is kept')
})

t.test('--data keeps the state, --port is taken, --log-level tells more', async (t) => {
  const cwd = t.testdir({})
  const make = async ({ url }: At) => {
    const user = { email: 'a@example.com', mobile: '9000000000' }
    t.equal((await call(`${url}/user`, user)).status, 201)
    return 0
  }
  const count = async (...args: string[]) => {
    let total = 0
    const work = async (at: At) => {
      total = (await list(at)).body.data.total_users
      return 0
    }
    await during(args, work, { cwd })
    return total
  }
  await during(['--data', 'a.json'], make, { cwd })
  t.ok(JSON.parse(readFileSync(join(cwd, 'a.json'), 'utf8')), 'one tidy document is left')
  t.equal(await count('--data', 'a.json'), 111)
  t.equal(await count(), 110)
  const port = await portOf(t, createServer())
  const busy = await run(['exec', '--port', String(port), '--', 'true'], { cwd })
  t.match(busy, { code: 6, stderr: `Port ${port} of 127.0.0.1 is in use` })
  const reset = async ({ admin }: At) => {
    await call(`${admin}/reset`, {})
    return 0
  }
  t.equal((await during([], reset)).stderr, '')
  t.match(await during(['--log-level', 'info'], reset), { stderr: /client \\?"default\\?" reset/ })
})

t.test('a program that makes no call is told how to', async (t) => {
  const ended = await run(['exec', '--', 'sh', '-c', 'exit 3'])
  t.match(ended, {
    code: 3,
    stderr:
      'payout-sandbox: the command made no call; let it use the address in the variable PAYOUT_SANDBOX_URL, as startSandbox of this version and the clients of other languages do\n',
  })
  const looks = ({ admin }: At) => call(`${admin}/clock`).then(() => 0)
  t.strictSame(await during([], looks), { code: 0, stderr: '' })
})

t.test('what the scenario expects is counted over all clients, deleted ones too', async (t) => {
  const scenarios = t.testdir({
    'mine.yaml': 'expect: { requests: { listUsers: 3 } }\n',
    'other.yaml': 'expect: { requests: { listUsers: { at_least: 1 } } }\n',
  })
  const usedBy = (name: string, { url }: At) => call(url.replace('/v1', `/@${name}/v1/users`))
  const remove = ({ admin }: At, name: string) =>
    call(`${admin}/clients/${name}`, undefined, {}, 'DELETE')
  const use = ({ admin }: At) => call(`${admin}/scenario`, { name: 'other' }, {}, 'PUT')
  const options = ['--scenarios', scenarios, '--scenario', 'mine']
  const ended = (names: readonly string[], end: (at: At) => Promise<unknown>, code = 0) =>
    during(options, async (at) => {
      for (const name of names) t.equal((await usedBy(name, at)).status, 200)
      await end(at)
      return code
    })
  const gone = (at: At) => remove(at, 'a')
  t.strictSame(await ended(['a', 'b', 'a'], gone), { code: 0, stderr: '' })
  t.strictSame(await ended(['a', 'b'], gone), {
    code: 1,
    stderr:
      'payout-sandbox: the requests of all clients do not match the expectations of scenario mine:\nexpected   requests  found  met\nlistUsers  3         2      no\n',
  })
  t.match(await ended(['a'], gone, 9), { code: 9, stderr: /listUsers/ })
  t.strictSame(await ended(['a', 'b', 'a'], use), {
    code: 1,
    stderr: `payout-sandbox: the requests of the default client do not match the expectations of scenario other:
expected   requests    found  met
listUsers  at least 1  0      no
The default client had no calls; @a had 2, @b had 1.
`,
  })
})

const SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
  ['SIGQUIT', 131],
  ['SIGUSR2', 140],
] as const

t.test('the end of the program by a signal is ours', async (t) => {
  for (const [signal, code] of SIGNALS) {
    const start = signal === 'SIGTERM' ? spawned : shared
    const running = start(['exec', ...sh('echo up; exec sleep 600')], {})
    t.teardown(() => running.stop('SIGKILL'))
    await saying(running, /up/)
    t.match(await running.stop(signal), { code, stderr: '' }, `${signal} ends it`)
  }
})

t.test('each signal reaches the program and may be caught; the sandbox stays up', async (t) => {
  // SIGUSR1 opens no debugger here.
  const names = [...SIGNALS.map(([name]) => name), 'SIGUSR1'] as const
  const code = `
    for (const name of ${JSON.stringify(names)})
      process.on(name, async () => {
        const { status } = await fetch(process.env.PAYOUT_SANDBOX_URL + '/users')
        console.log(name, status)
        if (name === 'SIGUSR1') process.exit(5)
      })
    setInterval(() => {}, 1000)
    console.log('up')`
  const running = spawned(['exec', ...node(code)], {})
  t.teardown(() => running.stop('SIGKILL'))
  await saying(running, /up/)
  for (const name of names) {
    running.child.kill(name)
    await saying(running, new RegExp(`${name} 200`))
  }
  t.match(await running.ended, { code: 5, stderr: '' })
})

t.test('without an admin API the program gets no address of one', async (t) => {
  const env = { PAYOUT_SANDBOX_ADMIN_URL: 'http://old/__admin' }
  const { stdout } = await run(['exec', '--no-admin', ...SHOWN], { env, cwd: t.testdir({}) })
  t.notMatch(stdout, /ADMIN_URL/)
})

t.test('a program that cannot be run is reported', async (t) => {
  const missing = await run(['exec', '--', 'no-such-program', '-x'])
  t.match(missing, { code: 127, stdout: '', stderr: /program "no-such-program" not found/ })
  const folder = t.testdir({ 'plain.txt': 'x' })
  t.match(await run(['exec', '--', join(folder, 'plain.txt')]), {
    code: 126,
    stderr: /cannot be run \(EACCES\)/,
  })
  t.match(await run(['exec']), { code: 2, stderr: /exec needs a program after --/ })
  const meant: [args: string[], words: string][] = [
    [['exec', 'npm', 'test'], 'exec -- npm test'],
    [['exec', 'npm', 'test', '--watch', '--no-such', 'x'], 'exec -- npm test --watch --no-such x'],
    [
      ['exec', '--clock', 'frozen', 'npx', 'a b', "it's"],
      `exec --clock frozen -- npx 'a b' 'it'\\''s'`,
    ],
    [['exec', 'npm', 'run', 't', '--', '-x'], 'exec -- npm run t -- -x'],
    [['--memory', 'exec', 'npm'], '--memory exec -- npm'],
    [['exec', '--admin-token', 's3cret', 'npm'], 'exec --admin-token T -- npm'],
    [['exec', '--admin-token=s3cret', 'npm'], 'exec --admin-token=T -- npm'],
  ]
  for (const [args, words] of meant)
    t.strictSame(await run(args), {
      code: 2,
      stdout: '',
      stderr: `payout-sandbox: exec needs -- in front of the program; use payout-sandbox ${words}\n`,
    })
  t.match(await run(['exec', '--scenario', 'slwo', '--', 'true']), { code: 2, stderr: /"slow"/ })
  const cwd = t.testdir({ data: 'x' })
  writeFileSync(join(cwd, 'data'), '{"broken')
  t.match(await run(['exec', '--data', 'data', '--', 'true'], { cwd }), {
    code: 4,
    stderr: /The data file cannot be read/,
  })
  t.match(await run(['start', '--', 'more']), {
    code: 2,
    stderr: /unexpected argument "more" for start/,
  })
})
