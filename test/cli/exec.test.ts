import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { run, spawned } from './program.ts'

/** A line of JavaScript as the program that exec runs. */
const node = (code: string) => ['--', process.execPath, '--input-type=module', '-e', code]
const SHOWN = `console.log(JSON.stringify(Object.entries(process.env).filter(([name]) => /^PAYOUT|^PORT$/.test(name))))`

t.test(
  'the program finds a ready sandbox, its output is untouched, its exit code kept',
  async (t) => {
    const code = `
    const { PAYOUT_SANDBOX_URL: url, PAYOUT_SANDBOX_ADMIN_URL: admin, PAYOUT_SANDBOX_TOKEN: token } = process.env
    const users = await fetch(url + '/users', { headers: { authorization: 'Bearer ' + token } })
    const clock = await fetch(admin + '/clock')
    process.stdout.write([users.status, (await clock.json()).mode, ...process.argv.slice(1)].join(' '))
    process.stderr.write('mine')
    process.exit(7)`
    const ended = await run(['exec', '--clock', 'frozen', ...node(code), 'a b', '--json'])
    t.strictSame(ended, { code: 7, stdout: '200 frozen a b --json', stderr: 'mine' })
    t.equal((await run(['exec', ...node('process.exit(0)')])).code, 0)
  },
)

t.test('variables tell where the sandbox is, and its admin token if it has one', async (t) => {
  const cwd = t.testdir({})
  const env = { PORT: '1', PAYOUT_SANDBOX_ADMIN_TOKEN: 'none', PAYOUT_SANDBOX_URL: 'http://old/v1' }
  const plain = await run(['exec', ...node(SHOWN)], { env, cwd })
  const { PAYOUT_SANDBOX_URL: url = '', ...rest } = Object.fromEntries(JSON.parse(plain.stdout))
  t.match(url, /^http:\/\/127\.0\.0\.1:\d+\/v1$/)
  t.strictSame(rest, {
    PORT: '1',
    PAYOUT_SANDBOX_ADMIN_URL: url.replace('/v1', '/__admin'),
    PAYOUT_SANDBOX_TOKEN: 'sbx_test_token',
  })
  const guarded = await run(['exec', '--admin-token', 's3cret', ...node(SHOWN)], { cwd })
  t.equal(Object.fromEntries(JSON.parse(guarded.stdout)).PAYOUT_SANDBOX_ADMIN_TOKEN, 's3cret')
  t.notOk(existsSync(join(cwd, '.payout-sandbox')), 'nothing is kept')
})

t.test('--data keeps the state, --port is taken, --log-level tells more', async (t) => {
  const cwd = t.testdir({})
  const make = `await fetch(process.env.PAYOUT_SANDBOX_URL + '/user', { method: 'POST',
    headers: { 'content-type': 'application/json' }, body: '{"email":"a@example.com","mobile":"9000000000"}' })`
  const count = `const { data } = await (await fetch(process.env.PAYOUT_SANDBOX_URL + '/users')).json()
    console.log(data.total_users)`
  await run(['exec', '--data', 'a.json', ...node(make)], { cwd })
  t.ok(JSON.parse(readFileSync(join(cwd, 'a.json'), 'utf8')), 'one tidy document is left')
  t.equal((await run(['exec', '--data', 'a.json', ...node(count)], { cwd })).stdout, '111\n')
  t.equal((await run(['exec', ...node(count)], { cwd })).stdout, '110\n')
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const busy = await run(['exec', '--port', String(port), ...node('')], { cwd })
  t.match(busy, { code: 6, stderr: `Port ${port} of 127.0.0.1 is in use` })
  other.close()
  const reset = `await fetch(process.env.PAYOUT_SANDBOX_ADMIN_URL + '/reset', { method: 'POST' })`
  t.equal((await run(['exec', ...node(reset)], { cwd })).stderr, '')
  t.match(await run(['exec', '--log-level', 'info', ...node(reset)], { cwd }), {
    stderr: /client default reset/,
  })
})

t.test('what the scenario expects is checked at the end', async (t) => {
  const scenarios = t.testdir({ 'mine.yaml': 'expect: { requests: { listUsers: 2 } }\n' })
  const options = ['exec', '--scenarios', scenarios, '--scenario', 'mine']
  const list = (times: number, code = 0) =>
    node(
      `for (let i = 0; i < ${times}; i++) await fetch(process.env.PAYOUT_SANDBOX_URL + '/users'); process.exit(${code})`,
    )
  t.match(await run([...options, ...list(2)]), { code: 0, stderr: '' })
  t.strictSame(await run([...options, ...list(1)]), {
    code: 1,
    stdout: '',
    stderr:
      'payout-sandbox: the requests do not match the expectations of scenario mine:\nexpected   requests  found  met\nlistUsers  2         1      no\n',
  })
  t.match(await run([...options, ...list(3, 9)]), { code: 9, stderr: /listUsers/ })
})

t.test('a scenario that makes way for another is held against what it expected', async (t) => {
  const scenarios = t.testdir({
    'mine.yaml':
      'timeline: [{ after: 2m, do: { use: failed-payouts } }]\nexpect: { requests: { listUsers: { at_least: 1 } } }\n',
  })
  const options = ['exec', '--clock', 'frozen', '--scenarios', scenarios, '--scenario', 'mine']
  const list = `await fetch(process.env.PAYOUT_SANDBOX_URL + '/users')\n`
  const admin = (method: string, path: string, body: object) =>
    `await fetch(process.env.PAYOUT_SANDBOX_ADMIN_URL + '${path}', { method: '${method}',
      headers: { 'content-type': 'application/json' }, body: '${JSON.stringify(body)}' })\n`
  const advance = admin('POST', '/clock/advance', { by: '3m' })
  const again = admin('PUT', '/scenario', { name: 'mine' })
  const ended = (code: string) => run([...options, ...node(`${code}process.exit(0)`)])
  t.strictSame(await ended(advance), {
    code: 1,
    stdout: '',
    stderr:
      'payout-sandbox: the requests do not match the expectations of scenario mine:\nexpected   requests    found  met\nlistUsers  at least 1  0      no\n',
  })
  t.match(await ended(list + advance), { code: 0, stderr: '' })
  t.match(await ended(advance + list), { code: 1 }, 'what comes later is not for it')
  t.match(await ended(advance + again + list), { code: 0 }, 'activated again it counts anew')
  t.match(await ended(list + advance + again), { code: 1 })
  t.match(await ended(advance + admin('POST', '/reset', {}) + list), { code: 0 })
})

t.test('signals reach the program, and its end is ours', async (t) => {
  const waiting = (more: string) => node(`${more}; setInterval(() => {}, 1000); console.log('up')`)
  const signalled = async (signal: NodeJS.Signals, more: string) => {
    const { child, told, ended } = spawned(['exec', ...waiting(more)], {})
    t.teardown(() => child.kill('SIGKILL'))
    await new Promise<void>((resolve) => {
      child.stdout.on('data', () => told.stdout.includes('up') && resolve())
    })
    child.kill(signal)
    return ended
  }
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
    ['SIGQUIT', 131],
    ['SIGUSR2', 140],
  ] as const) {
    t.match(await signalled(signal, ''), { code, stderr: '' }, `${signal} ends it`)
    const caught = await signalled(
      signal,
      `process.on('${signal}', async () => {
        console.log((await fetch(process.env.PAYOUT_SANDBOX_URL + '/users')).status)
        process.exit(5)
      })`,
    )
    t.match(
      caught,
      { code: 5, stdout: 'up\n200\n' },
      `${signal} may be caught, the sandbox stays up`,
    )
  }
})

t.test('SIGUSR1 is the program’s too, and opens no debugger here', async (t) => {
  const script = "trap 'echo got; exit 6' USR1; echo up; while :; do sleep 0.05; done"
  const { child, told, ended } = spawned(['exec', '--', 'sh', '-c', script], {})
  t.teardown(() => child.kill('SIGKILL'))
  await new Promise<void>((resolve) => {
    child.stdout.on('data', () => told.stdout.includes('up') && resolve())
  })
  child.kill('SIGUSR1')
  t.match(await ended, { code: 6, stdout: 'up\ngot\n', stderr: '' })
})

t.test('without an admin API no address of one is told', async (t) => {
  const env = { PAYOUT_SANDBOX_ADMIN_URL: 'http://old/__admin' }
  const { stdout } = await run(['exec', '--no-admin', ...node(SHOWN)], { env, cwd: t.testdir({}) })
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
  t.match(await run(['exec', '--clock', 'soon', ...node('')]), { code: 2, stderr: /--clock takes/ })
  t.match(await run(['exec', '--scenario', 'slwo', ...node('')]), { code: 2, stderr: /"slow"/ })
  const cwd = t.testdir({ data: 'x' })
  writeFileSync(join(cwd, 'data'), '{"broken')
  t.match(await run(['exec', '--data', 'data', ...node('')], { cwd }), {
    code: 4,
    stderr: /The data file is damaged/,
  })
  t.match(await run(['start', '--', 'more']), {
    code: 2,
    stderr: /unexpected argument "more" for start/,
  })
})
