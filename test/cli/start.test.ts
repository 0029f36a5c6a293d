import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { portOf } from '../listening.ts'
import { call, PROGRAM, run, saying, serve, shared } from './program.ts'

t.test('one JSON line tells a program where to call', async (t) => {
  const { ready, port, stop, child } = await serve(t, ['--memory'], { alone: true })
  t.match(ready, {
    url: `http://127.0.0.1:${port}/v1`,
    admin_url: `http://127.0.0.1:${port}/__admin`,
    docs_url: `http://127.0.0.1:${port}/docs`,
    console_url: `http://127.0.0.1:${port}/__admin/`,
    token: 'sbx_test_token',
    data: null,
    pid: child.pid,
  })
  t.equal((await stop()).code, 0)
})

t.test('with --stop-with-stdin it ends with standard input, and keeps its data', async (t) => {
  const data = join(t.testdir({}), 'db.json')
  const { url, child, stop } = await serve(t, ['--data', data, '--stop-with-stdin'], {
    alone: true,
  })
  child.stdin!.write('nobody reads this\n')
  await call(`${url}/user`, { email: 'kept@example.com', mobile: '9876543210' })
  child.stdin!.end()
  const [code] = await once(child, 'close')
  t.equal(code, 0)
  t.match(readFileSync(data, 'utf8'), 'kept@example.com', 'one tidy document is left')

  const signalled = await serve(t, ['--memory', '--stop-with-stdin'], { alone: true })
  t.equal((await signalled.stop('SIGTERM')).code, 0, 'a signal stops it too, and it ends')
  await stop()
})

t.test(
  'with --stop-with-stdin it stops at once if standard input is a file or /dev/null',
  async (t) => {
    const file = join(t.testdir({ input: 'x' }), 'input')
    for (const name of [file, '/dev/null']) {
      const input = openSync(name, 'r')
      const [command, ...first] = PROGRAM
      const words = ['start', '--memory', '--port', '0', '--json', '--stop-with-stdin']
      const { status } = spawnSync(command, [...first, ...words], {
        stdio: [input, 'ignore', 'inherit'],
        timeout: 20_000,
      })
      closeSync(input)
      t.equal(status, 0, name)
    }
  },
)

t.test('with --stop-with-stdin it does not outlive a killed program that started it', async (t) => {
  const starter = `require('node:child_process').spawn(process.argv[1], process.argv.slice(2), {
    stdio: ['pipe', 'inherit', 'inherit'],
  })`
  const words = ['start', '--memory', '--port', '0', '--json', '--stop-with-stdin']
  const parent = spawn(process.execPath, ['-e', starter, ...PROGRAM, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(parent.stdout, 'data')
  const { pid } = JSON.parse(String(line))
  t.teardown(() => {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended.
    }
  })
  parent.kill('SIGKILL')
  // Its output closes when it ends, because it has the last copy.
  const isClosed = once(parent, 'close').then(() => true)
  const timer = new Promise<boolean>((resolve) => setTimeout(resolve, 10_000, false).unref())
  t.ok(await Promise.race([isClosed, timer]))
})

t.test('it serves its console and its API page', async (t) => {
  const { ready, stop } = await serve(t)
  for (const [page, name] of [
    ['console_url', ''],
    ['console_url', 'app.js'],
    ['docs_url', ''],
    ['docs_url', '/swagger-ui-bundle.js'],
  ]) {
    const { status } = await fetch(`${ready[page!]}${name}`)
    t.equal(status, 200, `${page} ${name}`)
  }
  await stop()
})

t.test('each signal that asks for an end is a graceful stop', async (t) => {
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) {
    const data = join(t.testdir({}), 'db.json')
    const alone = signal === 'SIGTERM'
    const { url, stop } = await serve(t, ['--data', data], { alone })
    await call(`${url}/user`, { email: 'kept@example.com', mobile: '9876543210' })
    t.equal((await stop(signal)).code, 0, signal)
    t.match(readFileSync(data, 'utf8'), 'kept@example.com', 'one tidy document is left')
  }
})

/** What a start prints for a person. */
async function bannerOf(args: readonly string[]): Promise<string> {
  const program = shared(['start', '--port', '0', ...args], {})
  await saying(program, / {2}Data/)
  return (await program.stop()).stdout
}

t.test('the banner tells a person where to call, and what time it is there', async (t) => {
  const FROM_NOW = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z`
  const clocks: [args: string[], clock: string][] = [
    [['--memory'], 'real time'],
    [['--memory', '--clock', 'frozen'], 'frozen at 2026-01-01T00:00:00Z'],
    [['--memory', '--clock', '2030-05-06T07:08:09.5Z'], 'frozen at 2030-05-06T07:08:09.500Z'],
    [
      ['--memory', '--clock', 'frozen', '--clock-speed', '60'],
      'frozen at 2026-01-01T00:00:00Z; 60 times real time after resume',
    ],
    [['--memory', '--clock-speed', '60'], `60 times real time, from ${FROM_NOW}`],
  ]
  for (const [args, clock] of clocks)
    t.match(
      await bannerOf(args),
      new RegExp(
        String.raw`^payout-sandbox is ready.+\n\n {2}Service {6}http://127\.0\.0\.1:\d+/v1\n.* {2}Scenario {5}default\n {2}Clock {8}${clock}\n {2}Data {9}in memory only\n$`,
        's',
      ),
    )
  t.notMatch(await bannerOf(['--memory', '--admin-token', 'g1ven']), /g1ven|Admin token/)
  const data = join(t.testdir(), 'db.json')
  const first = await serve(t, ['--data', data])
  await call(`${first.adminUrl}/clock/advance`, { by: '2d' })
  await first.stop()
  t.match(await bannerOf(['--data', data]), / {2}Clock {8}real speed, from \d{4}-/)
})

t.test('a port in use, the version and the documents', async (t) => {
  const dir = t.testdir()
  const port = await portOf(t, createServer())
  t.match(await run(['--port', String(port)], { cwd: dir }), {
    code: 6,
    stderr: new RegExp(`Port ${port} of 127.0.0.1 is in use`),
  })
  t.match((await run(['--version'])).stdout, /^\d+\.\d+\.\d+\n$/)
  t.match(JSON.parse((await run(['openapi'])).stdout), { paths: { '/users': {} } })
  const strict = JSON.parse((await run(['openapi', '--strict'])).stdout)
  t.match(strict.components.schemas, { User: { additionalProperties: false } })
  t.match(JSON.parse((await run(['openapi', '--admin'])).stdout), { paths: { '/clock': {} } })
})

t.test('a bad option ends with 2 and says what it takes', async (t) => {
  const cwd = t.testdir({ 'plain.txt': 'x' })
  const cases: [string[], RegExp][] = [
    [['--prot', '1'], /unknown option --prot \(did you mean --port\?\)/],
    [['--frozen'], /unknown option --frozen$/m],
    [['-p', '1'], /unknown option -p$/m],
    [['start', 'foo'], /unexpected argument "foo" for start; usage: payout-sandbox start$/m],
    [['--port', 'x'], /--port takes a whole number from 0 to 65535, not "x"/],
    [['--port'], /--port takes N, but the value is missing/],
    [['exec', '--port', '--', 'true'], /--port takes N, but the value is missing/],
    [['--port', '1', '--port', '2'], /--port must not be given twice/],
    [['--port', ''], /--port takes N, not an empty value/],
    [['--port', '5e3'], /--port takes a whole number from 0 to 65535, not "5e3"/],
    [['--memory='], /--memory takes true or false, not an empty value/],
    [['--json=false'], /--json takes no value, not "false"/],
    [['reset', '--all=false'], /--all takes no value/],
    [['openapi', '--strict', '--admin'], /openapi prints one document; choose --strict or --admin/],
    [['conform', '--against', 'http://127.0.0.1:1', '--write=false'], /--write takes no value/],
    [
      ['start', '--memory', '--scenarios', 'plain.txt'],
      /--scenarios: there is no folder plain\.txt/,
    ],
    [['--clock-speed', '1e3'], /--clock-speed takes a number above 0, up to 1000000/],
    [['--clock', '1900-01-01T00:00:00Z'], /--clock takes real, frozen, .* from 1970 to 9999/],
    [['--allow-host', 'a b'], /--allow-host takes a host name or an IP address/],
    [['--webhook-allow', 'a.example:80'], /--webhook-allow takes a host name or an IP address/],
    [['--clock', 'soon'], /--clock takes real, frozen, or an ISO 8601 instant/],
    [['--clock-speed', '0'], /--clock-speed takes/],
    [['--auth', 'maybe'], /--auth takes spec, strict or off, not "maybe"/],
    [['--random-seed', '-1'], /--random-seed takes/],
    [['--cors', 'localhost'], /--cors takes an origin/],
    [['--max-clients', '0'], /--max-clients takes/],
    [['--log-level', 'loud'], /--log-level takes/],
    [['--log-format', 'xml'], /--log-format takes pretty or json/],
    [['--memory=perhaps'], /--memory takes true or false/],
    [['--host', '203.0.113.1'], /--host 203\.0\.113\.1 is not an address of this machine/],
    [['--fixtures', 'nowhere'], /--fixtures takes a JSON file or a folder of JSON files/],
    [['dance'], /unknown command "dance"; see payout-sandbox --help/],
    [['start', '--webhook-allw', 'example.com'], /unknown option --webhook-allw/],
    [['--data', '--colck', 'frozen'], /unknown option --colck \(did you mean --clock\?\)/],
    [['--memory', '--data', 'db.json'], /--memory and --data exclude each other/],
    [['health', 'x'], /unexpected argument "x" for health/],
  ]
  for (const [args, message] of cases) {
    const { code, stdout, stderr } = await run(args, { cwd })
    t.equal(code, 2, args.join(' '))
    t.match(stderr, message)
    t.notMatch(stderr, /\n\s+at /, 'no stack')
    t.equal(stdout, '')
  }
  t.match(await run(['--admin-token', 'a b', '--memory']), {
    code: 2,
    stderr: /--admin-token takes 1 to 256/,
  })
  t.notMatch((await run(['--admin-token', 'sec ret', '--memory'])).stderr, /sec ret/)
})

t.test('flag beats variable beats file', async (t) => {
  const cwd = t.testdir()
  const write = (text: string) => writeFileSync(join(cwd, 'payout-sandbox.config.json'), text)
  const started = async (args: string[], env: Record<string, string> = {}) => {
    const { adminUrl, ready, stop } = await serve(t, args, { cwd, env })
    const { body } = await call(`${adminUrl}/clock`)
    await stop()
    return { now: body.now, speed: body.speed, data: ready['data'] }
  }
  write('{"memory": true, "clock": "2030-01-01T00:00:00Z", "clock_speed": 0.5, "auth": "strict"}')
  t.match(await started([]), { now: '2030-01-01T00:00:00.000Z', speed: 0.5 })
  const env = { PAYOUT_SANDBOX_CLOCK: '2031-01-01T00:00:00Z' }
  t.match(await started([], env), { now: '2031-01-01T00:00:00.000Z' })
  const flag = ['--clock', '2032-01-01T00:00:00+05:30']
  t.match(await started(flag, env), { now: '2031-12-31T18:30:00.000Z' })
  const unset = { PAYOUT_SANDBOX_CLOCK: '', PAYOUT_SANDBOX_MEMORY: '', PAYOUT_SANDBOX_PORT: '' }
  const now = '2030-01-01T00:00:00.000Z'
  t.match(await started([], unset), { now }, 'an empty variable is not set')
  write('{"data": "of-file.json"}')
  const memory = { PAYOUT_SANDBOX_MEMORY: 'true' }
  t.match(await started(['--memory'], { PAYOUT_SANDBOX_DATA: 'of-env.json' }), { data: null })
  t.match(await started([], memory), { data: null })
  t.match(await started(['--data', 'of-flag.json'], memory), { data: 'of-flag.json' })
})

t.test('a variable or a config file that is wrong is named', async (t) => {
  const dir = t.testdir()
  const CONFIG = 'payout-sandbox.config.json'
  const unknown = (name: string, meant: string) => `unknown option ${name} (did you mean ${meant}?)`
  const variables: [env: Record<string, string>, message: string][] = [
    [{ PAYOUT_SANDBOX_COLCK: 'x' }, unknown('PAYOUT_SANDBOX_COLCK', 'PAYOUT_SANDBOX_CLOCK')],
    [
      { PAYOUT_SANDBOX_PROT: '1', PORT: '2' },
      unknown('PAYOUT_SANDBOX_PROT', 'PAYOUT_SANDBOX_PORT'),
    ],
    [{ PORT: 'x' }, ': PORT takes a whole number'],
    [{ PAYOUT_SANDBOX_PORT: '', PORT: 'x' }, ': PORT takes a whole number'],
  ]
  for (const [env, message] of variables)
    t.match(await run([], { cwd: dir, env }), { code: 2, stderr: message })
  const files: [text: string, message: string][] = [
    ['{"json": true}', `unknown option json of ${CONFIG}`],
    ['{"prot": 1}', unknown(`prot of ${CONFIG}`, 'port')],
    ['{"clockSpeed": 60}', unknown(`clockSpeed of ${CONFIG}`, 'clock_speed')],
    ['{"port": ', `${CONFIG} is not JSON at line 1, column 10: the text ends too early`],
  ]
  for (const [text, message] of files) {
    writeFileSync(join(dir, CONFIG), text)
    t.match(await run([], { cwd: dir }), { code: 2, stderr: message })
  }
})

t.test('what Kubernetes and Docker set for a service of this name is ignored', async (t) => {
  const links: Record<string, string> = {
    PAYOUT_SANDBOX_SERVICE_HOST: '10.96.0.12',
    PAYOUT_SANDBOX_SERVICE_PORT: '4310',
    PAYOUT_SANDBOX_SERVICE_PORT_HTTP: '4310',
    PAYOUT_SANDBOX_PORT: 'tcp://10.96.0.12:4310',
    PAYOUT_SANDBOX_PORT_4310_TCP: 'tcp://10.96.0.12:4310',
    PAYOUT_SANDBOX_PORT_4310_TCP_PROTO: 'tcp',
    PAYOUT_SANDBOX_PORT_4310_TCP_PORT: '4310',
    PAYOUT_SANDBOX_PORT_4310_TCP_ADDR: '10.96.0.12',
    PAYOUT_SANDBOX_NAME: '/app/payout-sandbox',
    PAYOUT_SANDBOX_ENV_NODE_VERSION: '22',
    PORT: 'tcp://10.96.0.12:80',
    PAYOUT_SANDBOX_ADMIN_SERVICE_HOST: '10.96.0.13',
    PAYOUT_SANDBOX_ADMIN_PORT: 'udp://10.96.0.13:53',
    PAYOUT_SANDBOX_ADMIN_PORT_53_UDP_ADDR: '10.96.0.13',
  }
  const { port } = await serve(t, ['--memory'], { env: links })
  for (const args of [
    ['health'],
    ['clock', 'show'],
    ['scenario', 'list'],
    ['requests'],
    ['openapi'],
  ])
    t.match(await run(args, { env: { ...links, PORT: String(port) } }), { code: 0, stderr: '' })
  for (const [name, value] of [
    ['PAYOUT_SANDBOX_PORT', 'tcp:4310'],
    ['PAYOUT_SANDBOX_SERVICE', '10.96.0.12'],
    ['PAYOUT_SANDBOX_NAME', 'app'],
    ['PORT', 'tcp:4310'],
    ['PAYOUT_SANDBOX_PORT_TCP', 'tcp://10.96.0.12:4310'],
  ] as const)
    t.match(await run(['health'], { env: { [name]: value } }), { code: 2, stderr: name })
})

t.test('each option does what it says', async (t) => {
  const seeded = async (seed: string) => {
    const { url, stop } = await serve(t, ['--memory', '--clock', 'frozen', '--random-seed', seed])
    const { body } = await call(`${url}/user`, { email: 'a@example.com', mobile: '9876543210' })
    await stop()
    return body.data
  }
  const [one, again, two] = [await seeded('1'), await seeded('1'), await seeded('2')]
  t.same(one, again)
  t.not(one.user_id, two.user_id)

  const options =
    '--auth strict --admin-token s3cret --clock frozen --clock-speed 60 --max-clients 5 --explain'
  const hosts = ['--cors', 'http://localhost:3000', '--allow-host', 'pay.example.com']
  const args = ['--memory', ...options.split(' '), ...hosts, '--cors', 'http://localhost:5173']
  const { url, adminUrl, port, stop } = await serve(t, args)
  t.equal((await call(`${url}/users`)).status, 401)
  const bearer = { authorization: 'Bearer sbx_test_token' }
  const users = await call(`${url}/users`, undefined, {
    ...bearer,
    origin: 'http://localhost:3000',
  })
  t.equal(users.headers.get('access-control-allow-origin'), 'http://localhost:3000')
  t.equal(users.headers.get('x-sandbox-client'), 'default')
  t.match((await call(`${adminUrl}/clock`)).body, { error: 'admin_token_required' })
  const secret = { 'x-admin-token': 's3cret' }
  const clock = await call(`${adminUrl}/clock`, undefined, secret)
  t.match(clock.body, { speed: 60, mode: 'frozen' })
  t.equal((await call(`${adminUrl}/health`)).status, 200)
  const byHost = async (host: string) => {
    const headers = { ...bearer, host }
    const asked = request({ host: '127.0.0.1', port, path: '/v1/users', headers, agent: false })
    const [answer] = (await once(asked.end(), 'response')) as [IncomingMessage]
    return answer.resume().statusCode
  }
  t.equal(await byHost('pay.example.com'), 200)
  t.equal(await byHost('evil.example.com'), 403)
  const clockOf = (client: string) =>
    call(`http://127.0.0.1:${port}/@${client}/__admin/clock`, undefined, secret)
  t.equal((await clockOf('w1')).status, 200)
  t.match((await clockOf('w2')).body, { error: 'client_limit_reached' })
  await stop()

  const bare = await serve(t, ['--memory', '--no-admin', '--no-auto-clients', '--auth', 'off'])
  t.match(bare.ready, { admin_url: null, console_url: null })
  const admin = `http://127.0.0.1:${bare.port}/__admin`
  t.equal((await call(`${admin}/health`)).status, 200, 'a container must be able to ask')
  t.equal((await call(`${admin}/clock`)).status, 404)
  t.equal((await run(['health', '--port', String(bare.port)])).code, 0)
  t.equal((await call(`http://127.0.0.1:${bare.port}/@new/v1/users`)).status, 404)
  t.equal((await call(`${bare.url}/transaction/history`)).status, 200)
  await bare.stop()

  const open = await serve(t, ['--memory', '--host', '0.0.0.0', '--log-level', 'silent'])
  t.match(
    open.ready['admin_token'],
    /^sbx_admin_[0-9a-f]{32}$/,
    'another address than loopback wants a token',
  )
  t.equal((await call(`${open.adminUrl}/clock`)).status, 401)
  await open.stop()
  const trusting = await serve(t, ['--memory', '--host', '0.0.0.0', '--admin-token', 'none'])
  t.equal((await call(`${trusting.adminUrl}/clock`)).status, 200)
  await trusting.stop()
})

t.test('log lines have the asked level and form', async (t) => {
  const logged = async (args: string[]) => {
    const { port, stop } = await serve(t, ['--memory', ...args])
    await call(`http://127.0.0.1:${port}/@w1/v1/users`)
    return (await stop()).stderr
  }
  t.match(JSON.parse(await logged([])), { level: 'info', message: /client "w1" created/ })
  t.match(await logged(['--log-format', 'pretty']), /^\d\d:\d\d:\d\d info {2}client "w1" created/)
  t.equal(await logged(['--log-level', 'error']), '')
})

t.test('a data file that cannot be written ends with 5', async (t) => {
  const dir = t.testdir({ file: 'not a folder' })
  t.match(await run(['--port', '0', '--data', join(dir, 'file/db.json')]), {
    code: 5,
    stderr: /cannot be written \(E/,
  })
  mkdirSync(join(dir, 'folder.json'))
  t.match(await run(['--port', '0', '--data', join(dir, 'folder.json')]), { code: 5 })
})

t.test('a stop finishes what is in flight and waits for no silent socket', async (t) => {
  const { port, stop } = await serve(t, ['--memory'], { alone: true })
  const silent = connect(port, '127.0.0.1')
  const halfHeaders = connect(port, '127.0.0.1', () =>
    halfHeaders.write('GET /v1/users HTTP/1.1\r\nHost: 127'),
  )
  const body = JSON.stringify({ email: 'slow@example.com', mobile: '9876511111' })
  let answer = ''
  const slow = connect(port, '127.0.0.1', () =>
    slow.write(
      `POST /v1/user HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
    ),
  )
  slow.on('data', (chunk) => {
    answer += chunk
  })
  for (const socket of [silent, halfHeaders, slow]) socket.on('error', () => {})
  // A call that is answered shows that the sockets before it were taken.
  await call(`http://127.0.0.1:${port}/v1/users`)
  const from = performance.now()
  const ended = stop()
  await new Promise((resolve) => setImmediate(resolve))
  slow.write(body.slice(10))
  t.equal((await ended).code, 0)
  t.ok(performance.now() - from < 5_000)
  t.match(answer, /^HTTP\/1\.1 201 /)
})

t.test('a stop carries out and answers what a scenario holds back', async (t) => {
  const { url, adminUrl, stop } = await serve(t, ['--memory', '--clock', 'frozen'])
  const rule = { when: { operation: 'createUser' }, then: { delay: '1h' } }
  t.equal((await call(`${adminUrl}/rules`, rule)).status, 200)
  const held = call(`${url}/user`, { email: 'held@example.com', mobile: '9876511111' })
  while ((await call(`${adminUrl}/rules`)).body.rules[0].hits === 0);
  t.equal((await stop()).code, 0)
  t.match(await held, { status: 201, body: { data: { email: 'held@example.com' } } })
})
