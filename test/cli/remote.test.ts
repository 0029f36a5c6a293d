import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { COMMANDS } from '../../src/cli/main.ts'
import { call, run, serve } from './program.ts'

t.test('scenario lists, activates and shows', async (t) => {
  const { url, stop } = await serve(t, ['--memory', '--clock', 'frozen'])
  const at = (...words: string[]) => run([...words, '--url', url])
  const list = await at('scenario', 'list')
  t.equal(list.code, 0, list.stderr)
  t.match(list.stdout, /^ {3}name +title\n/)
  t.match(list.stdout, /\n\* {2}default +\S/)
  t.match(list.stdout, /\n {3}slow +\S/)
  const { scenarios } = JSON.parse((await at('scenario', 'list', '--json')).stdout)
  t.equal(scenarios.length, 21)
  t.match(await at('scenario', 'use', 'provider-outage'), {
    code: 0,
    stdout: /^provider-outage: .+ \(active\)\n$/,
  })
  t.equal((await call(`${url}/users`)).status, 503)
  t.match((await at('scenario', 'show')).stdout, /^provider-outage: .+\n\nrule +hits\n.+ 1\n$/)
  t.match(JSON.parse((await at('scenario', 'show', '--json')).stdout), {
    name: 'provider-outage',
    rules: [{ hits: 1 }],
  })
  t.match(await at('scenario', 'use', 'slwo'), {
    code: 1,
    stdout: '',
    stderr: /^payout-sandbox: There is no scenario "slwo"; did you mean "slow"\?/,
  })
  await stop()
})

t.test(
  'scenario show tells what is expected, and list what a watched folder is refused for',
  async (t) => {
    const folder = t.testdir({
      'mine.yaml':
        'expect: { requests: { listUsers: { at_least: 1 }, createUser: 2, getUser: { at_most: 3 }, getKyc: { at_least: 1, at_most: 2 } } }\n',
    })
    const { url, stop } = await serve(t, [
      '--memory',
      '--scenarios',
      folder,
      '--scenario',
      'mine',
      '--watch',
    ])
    await call(`${url}/users`)
    const { stdout } = await run(['scenario', 'show', '--url', url])
    t.equal(
      stdout,
      [
        'mine\n',
        'expected    requests    found  met',
        'listUsers   at least 1  1      yes',
        'createUser  2           0      no',
        'getUser     at most 3   0      yes',
        'getKyc      1 to 2      0      no\n',
      ].join('\n'),
    )
    await run(['scenario', 'use', 'slow', '--url', url])
    t.match(
      (await run(['scenario', 'show', '--url', url])).stdout,
      /^slow: .+\n\nunmet when scenario mine was replaced:\nexpected +requests +found +met\ncreateUser +2 +0 +no\ngetKyc /s,
    )
    await run(['scenario', 'use', 'mine', '--url', url])
    writeFileSync(join(folder, 'mine.yaml'), 'titel: x\n')
    const end = performance.now() + 20_000
    let output = ''
    while (!output.includes('titel') && performance.now() < end)
      output = (await run(['scenario', 'list', '--url', url])).stdout
    t.match(
      output,
      /\nThe changed scenario files have errors.+\n.+mine\.yaml:1:1: unknown key "titel"/,
    )
    await stop()
  },
)

t.test('clock reads and moves the time', async (t) => {
  const { url, stop } = await serve(t, ['--memory', '--clock', 'frozen'])
  const env = { PAYOUT_SANDBOX_URL: url }
  const clock = async (...words: string[]) => {
    const { code, stdout, stderr } = await run(['clock', ...words], { env })
    t.equal(code, 0, stderr)
    return stdout
  }
  t.equal(await clock('show'), '2026-01-01T00:00:00.000Z, frozen\nno pending timers\n')
  t.equal(await clock('next'), 'no pending timers\n\nnow 2026-01-01T00:00:00.000Z\n')
  t.equal(await clock('advance', '2d'), 'no timer was due\n\nnow 2026-01-03T00:00:00.000Z\n')
  const [payer, receiver, account] = [
    '00000000-0000-4000-8000-000000000001',
    '00000000-0000-4000-8000-000000000003',
    'b0000000-0000-4000-8000-000000000003',
  ]
  const pay = async () =>
    (
      await call(`${url}/transaction`, {
        from_user_id: payer,
        to_user_id: receiver,
        benif_bank_id: account,
        amount: 5,
      })
    ).body.data[0].transaction_id
  const id = await pay()
  t.match(
    await clock('show'),
    /^2026-01-03T.+, frozen\n\d+ pending timers?, the next one at 2026-01-03T00:00:0\d\.000Z\n$/,
  )
  const next = await clock('next')
  t.match(next, /^at +timer +resource +details\n2026-01-03T00:00:0/)
  t.match(next, id)
  t.match(JSON.parse(await clock('advance', '2026-01-04T00:00:00Z', '--json')), {
    now: '2026-01-04T00:00:00.000Z',
  })
  for (let i = 0; i < 30; i++) await pay()
  t.match(
    await clock('advance', '1h'),
    /\n… and \d+ more; --json shows all\n\nnow 2026-01-04T01:00:00\.000Z\n$/,
  )
  t.match(await clock('speed', '60'), /^2026-01-04T01:.+, real, speed 60\n/)
  t.match(await clock('freeze'), /, frozen, speed 60/)
  t.match(await clock('resume'), /^2026-01-04T01:.+, real, speed 60\n/)
  t.match(await clock('freeze', '2027-01-01T00:00:00Z'), /^2027-01-01T00:00:00\.000Z, frozen/)
  t.match(await run(['clock', 'advance', 'soon'], { env }), {
    code: 2,
    stderr: /by must be a duration/,
  })
  await stop()
})

t.test('reset puts one client, some parts, or every client back', async (t) => {
  const { url, port, stop } = await serve(t, ['--memory', '--clock', 'frozen'])
  const worker = `http://127.0.0.1:${port}/@worker-1`
  const at = async (...words: string[]) => {
    const { code, stdout, stderr } = await run(words)
    t.equal(code, 0, stderr)
    return stdout
  }
  const down = async () => {
    for (const base of [`${worker}/v1/`, url])
      await at('scenario', 'use', 'provider-outage', '--url', base)
  }
  const statuses = async () => [
    (await call(`${worker}/v1/users`)).status,
    (await call(`${url}/users`)).status,
  ]
  await down()
  t.strictSame(await statuses(), [503, 503])
  t.match(await at('reset', '--url', worker), /^reset data, clock, scenario[a-z, ]* of worker-1\n$/)
  t.strictSame(await statuses(), [200, 503])
  t.equal(
    await at('reset', 'clock', '--url', `http://127.0.0.1:${port}/__admin`),
    'reset clock of default\n',
  )
  t.strictSame(await statuses(), [200, 503])
  await down()
  const { reset } = JSON.parse(await at('reset', '--all', '--json', '--url', url))
  t.ok(reset.includes('default') && reset.includes('worker-1'))
  t.strictSame(await statuses(), [200, 200])
  t.match(await run(['reset', 'everything', '--url', url]), { code: 2, stderr: /parts/ })
  await stop()
})

t.test('a port of the variables or the config file is found without --url', async (t) => {
  const { port, stop } = await serve(t, ['--memory'])
  const cwd = t.testdir({ 'payout-sandbox.config.json': JSON.stringify({ port, host: '0.0.0.0' }) })
  t.equal((await run(['clock', 'show'], { cwd })).code, 0)
  t.equal((await run(['clock', 'show'], { env: { PORT: String(port) } })).code, 0)
  t.match(await run(['clock', 'show'], { cwd, env: { PAYOUT_SANDBOX_PORT: '1' } }), {
    code: 1,
    stderr: /No sandbox responds at http:\/\/127\.0\.0\.1:1 /,
  })
  await stop()
})

t.test(
  'an admin token of the config file is taken, and one that is nearer before it',
  async (t) => {
    const config = { port: 0, admin_token: 's3cret' }
    const cwd = t.testdir({ 'payout-sandbox.config.json': JSON.stringify(config) })
    const { port, url, stop } = await serve(t, ['--memory'], { cwd })
    const show = ['clock', 'show']
    const env = { PAYOUT_SANDBOX_PORT: String(port), PAYOUT_SANDBOX_CLOCK: 'x' }
    t.match(await run(show, { cwd, env }), { code: 0, stderr: '' }, 'no other option is looked at')
    t.equal((await run([...show, '--url', url], { cwd })).code, 0)
    const wrong = { ...env, PAYOUT_SANDBOX_ADMIN_TOKEN: 'other' }
    t.equal((await run(show, { cwd, env: wrong })).code, 1)
    t.equal((await run([...show, '--admin-token', 's3cret'], { cwd, env: wrong })).code, 0)
    t.equal((await run([...show, '--admin-token', 'none'], { cwd, env })).code, 1)
    await stop()
  },
)

t.test('every command that asks a sandbox finds it by --port and --client too', async (t) => {
  const { port, stop } = await serve(t, ['--memory', '--clock', 'frozen'])
  const at = ['--port', String(port)]
  const now = async (more: string[], env = {}) => {
    const { code, stdout, stderr } = await run(['clock', 'show', '--json', ...more], { env })
    t.equal(code, 0, stderr)
    return JSON.parse(stdout).now
  }
  t.equal((await run(['clock', 'advance', '2d', '--client', 'w1', ...at])).code, 0)
  const [moved, start] = ['2026-01-03T00:00:00.000Z', '2026-01-01T00:00:00.000Z']
  t.equal(await now(at), start)
  t.equal(await now([...at, '--host', '127.0.0.1', '--client', 'w1']), moved)
  const url = `http://127.0.0.1:${port}`
  t.equal(await now(['--url', url, '--client', 'w1']), moved)
  t.equal(await now(['--url', `${url}/@w1/v1`, '--client', 'w1']), moved)
  t.equal(await now(['--client', 'w1'], { PAYOUT_SANDBOX_URL: `${url}/@w2/v1` }), moved)
  t.equal(await now(at, { PAYOUT_SANDBOX_URL: 'http://127.0.0.1:1' }), start, 'a flag is nearer')
  const help = (await run(['help'])).stdout
  const remote = [
    'scenario',
    'assumptions',
    'clock',
    'reset',
    'requests',
    'snapshot',
    'trigger',
    'deliveries',
  ]
  for (const name of [...remote, 'health']) {
    t.match(help, `  ${name} `)
    const { stdout } = await run(['help', name])
    for (const flag of ['url URL', 'port N', 'client NAME', 'admin-token T|none', 'json'])
      t.ok(stdout.includes(`\n  --${flag} `), `${name} --${flag}`)
  }
  await stop()
})

t.test('health says how a running sandbox is', async (t) => {
  const { url, stop } = await serve(t, ['--memory', '--admin-token', 's3cret'])
  const ask = ['health', '--url', url]
  t.strictSame(await run(ask), { code: 0, stdout: 'healthy\n', stderr: '' })
  const output = await run([...ask, '--json'])
  t.match(JSON.parse(output.stdout), { status: 'healthy', uptime_in_seconds: Number })
  await stop()
  t.match(await run(ask), { code: 1, stdout: /^not healthy: .+ECONNREFUSED/, stderr: '' })
  const none = await run([...ask, '--json'])
  t.match([none.code, JSON.parse(none.stdout)], [1, { status: 'unreachable' }])
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  t.match(await run(['health', '--port', String(port)]), { code: 1, stdout: /not healthy: / })
  silent.close()
  silent.closeAllConnections()
})

t.test('a refusal or a missing response is an error with exit code 1', async (t) => {
  const { url, stop } = await serve(t, ['--memory', '--admin-token', 's3cret'])
  const show = ['clock', 'show', '--url', url]
  t.match(await run(show), {
    code: 1,
    stdout: '',
    stderr: /The admin API needs its token.+On the command line: --admin-token T/s,
  })
  t.equal((await run([...show, '--admin-token', 'wrong'])).code, 1)
  t.equal((await run([...show, '--admin-token', 's3cret'])).code, 0)
  t.equal((await run(show, { env: { PAYOUT_SANDBOX_ADMIN_TOKEN: 's3cret' } })).code, 0)
  await stop()
  t.match(await run(show), {
    code: 1,
    stderr:
      /^payout-sandbox: No sandbox responds at http:\/\/127\.0\.0\.1:\d+ \(ECONNREFUSED\)\. Start one/,
  })
  const other = createServer((_request, answer) => answer.end('<html>')).listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  t.match(await run(['clock', 'show', '--url', `http://127.0.0.1:${port}`]), {
    code: 1,
    stderr:
      /__admin\/clock responds with 200 and a body that is not JSON\. Check that it is a payout-sandbox\./,
  })
  other.close()
})

t.test('a wrong command line ends with 2 and says how to call it', async (t) => {
  const cases: [string[], RegExp][] = [
    [
      ['scenario'],
      /scenario takes one of list, show, use, print; see payout-sandbox scenario --help/,
    ],
    [['scenario', 'lst'], /takes one of list, show, use, print, not "lst"/],
    [['scenario', 'use'], /scenario use needs NAME; usage: payout-sandbox scenario use NAME/],
    [['scenario', 'use', 'a', 'b'], /unexpected argument "b" for scenario use/],
    [
      ['scenario', 'list', '--memory'],
      /scenario does not take --memory; it takes (--[a-z-]+, ){5,}--[a-z-]+\n$/,
    ],
    [['clock', 'show', '--port', 'x'], /--port takes a whole number/],
    [['clock', 'show', '--url', 'http://127.0.0.1:1', '--port', '2'], /--url excludes --port/],
    [['clock', 'show', '--client', 'A'], /--client takes the name of a client, .+ not "A"/],
    [
      ['clock', 'show', '--url', 'http://127.0.0.1:1/@a/v1', '--client', 'b'],
      /--client b and the \/@a of --url are two different clients/,
    ],
    [['clock', 'advance', '-3m'], /unknown option -3/],
    [['clock', 'speed', '0'], /clock speed takes a number above 0, .+, not "0"/],
    [['clock', 'advance'], /clock advance needs BY\|TO/],
    [
      ['clock', 'speed', 'fast'],
      /clock speed takes a number above 0, .+ such as 60 or 0\.5, not "fast"/,
    ],
    [['clock', 'speed', ''], /clock speed takes a number above 0, .+, not ""/],
    [['clock', 'speed', '0'], /clock speed takes a number above 0, .+, not "0"/],
    [['clock', 'show', '--url', 'localhost:4310'], /--url takes the URL of a sandbox/],
    [['clock', 'show', '--url'], /--url takes URL, but the value is missing/],
    [['--url', 'http://127.0.0.1:1'], /start does not take --url/],
    [['scenaro', 'list'], /unknown command "scenaro"; did you mean scenario\?/],
  ]
  for (const [args, message] of cases) {
    const { code, stdout, stderr } = await run(args)
    t.equal(code, 2, args.join(' '))
    t.match(stderr, message)
    t.equal(stdout, '')
  }
  t.match(await run(['clock', 'show'], { env: { PAYOUT_SANDBOX_URL: 'x' } }), {
    code: 2,
    stderr: /PAYOUT_SANDBOX_URL takes the URL of a sandbox/,
  })
})

t.test('a value that the sandbox refuses ends with 2, all other refusals with 1', async (t) => {
  const { url, stop } = await serve(t, ['--memory'])
  const bad = [
    ['deliveries', '--status', 'nope'],
    ['deliveries', '--limit', '0'],
    ['requests', '--status', 'nope'],
    ['requests', 'find', '{"statuss":200}'],
    ['trigger', 'foo'],
    ['reset', 'foo'],
    ['clock', 'advance', '1x'],
    ['clock', 'freeze', 'foo'],
    ['snapshot', 'save', 'A'],
  ]
  for (const words of bad) {
    const { code, stdout, stderr } = await run([...words, '--json', '--url', url])
    t.equal(code, 2, words.join(' '))
    t.equal(JSON.parse(stdout).error, 'validation_failed')
    t.match(stderr, JSON.parse(stdout).message)
  }
  for (const words of [
    ['scenario', 'use', 'nope'],
    ['snapshot', 'restore', 'nope'],
    ['deliveries', '--redeliver', 'dlv_nope'],
    ['requests', 'verify', '{"operation":"getKyc"}'],
  ])
    t.equal((await run([...words, '--url', url])).code, 1, words.join(' '))
  await stop()
})

t.test('each command has a help text with its calls, flags and examples', async (t) => {
  const overview = (await run(['-h'])).stdout
  const names = [...overview.matchAll(/^ {2}([a-z]+) {3,}\S/gm)].map(([, name]) => name!)
  t.ok(names.includes('scenario') && names.includes('start'))
  for (const name of names) {
    const { code, stdout } = await run([name, '--help'])
    t.equal(code, 0)
    t.match(stdout, new RegExp(`^payout-sandbox ${name}: `))
    t.match(stdout, /\n\nExamples:\n {2}payout-sandbox /)
  }
  t.equal((await run(['help'])).stdout, overview)
  t.equal((await run(['help', 'exec'])).stdout, (await run(['exec', '--help'])).stdout)
  t.match(await run(['help', 'exce']), { code: 2, stderr: /"exce"; did you mean exec\?/ })
  t.equal((await run(['-v'])).stdout, (await run(['--version'])).stdout)
  t.match(
    (await run(['scenario', '--help'])).stdout,
    /scenario use NAME +activate.+--url URL .+--json /s,
  )
})

t.test('the help texts state the defaults and the values of each command', async (t) => {
  const helpOf = async (name: string) => (await run([name, '--help'])).stdout
  const start = await helpOf('start')
  t.match(start, /--webhook-allow HOST +public host to which webhooks may be sent /)
  t.match(start, /--auth .+: spec = as in the contract, strict = all, off = none /)
  t.match(start, /--data FILE .+\(default: .payout-sandbox\/db.json\)/)
  const exec = await helpOf('exec')
  t.match(exec, 'run CMD with its own sandbox, by default in memory on a free port')
  t.match(exec, /--data FILE +file that stores the state \(env: PAYOUT_SANDBOX_DATA\)/)
  t.match(await helpOf('health'), /\n.+ +print healthy or the reason; exit 1 if not healthy\n/)
})

t.test('every error of an invalid request is printed on its own line', async (t) => {
  const { url, stop } = await serve(t, ['--memory'])
  const args = ['deliveries', '--status', 'lost', '--limit', '0', '--url', url]
  const { code, stdout, stderr } = await run(args)
  t.strictSame([code, stdout], [2, ''])
  t.match(
    stderr,
    /^payout-sandbox: The request is invalid:\n {2}limit: must .+ found "0"\n {2}status: must .+ found "lost"\n$/,
  )
  await stop()
})

/** Arguments with which each command that calls a running sandbox succeeds, in this order. */
const REMOTE_CALLS: readonly (readonly [string, ...string[]])[] = [
  ['state', 'export'],
  ['scenario', 'show'],
  ['assumptions', 'set', 'list_order=oldest_first'],
  ['clock', 'advance', '2d'],
  ['requests'],
  ['coverage'],
  ['snapshot', 'save', 'one'],
  ['deliveries'],
  ['trigger', 'webhook.test'],
  ['health'],
  ['reset'],
]
/** Commands that call no running sandbox. */
const LOCAL_COMMANDS = [
  'start',
  'exec',
  'validate',
  'generate',
  'conform',
  'openapi',
  'schema',
  'client',
  'sweep',
  'help',
  'mcp',
]

t.test('--url, --client, --admin-token and --json work on every remote command', async (t) => {
  const token = 's3cret'
  const cwd = t.testdir()
  const sandbox = await serve(t, [
    '--memory',
    '--coverage',
    '--clock',
    'frozen',
    '--admin-token',
    token,
  ])
  const seen: { path: string; token: unknown }[] = []
  // Forwards each call to the sandbox, and stores its path and token.
  const proxy = createServer(async (request, response) => {
    seen.push({ path: request.url!, token: request.headers['x-admin-token'] })
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { 'x-admin-token': sent } = request.headers
    const answer = await fetch(`http://127.0.0.1:${sandbox.port}${request.url}`, {
      method: request.method!,
      headers: { 'content-type': 'application/json', 'x-admin-token': String(sent) },
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    })
    response.writeHead(answer.status).end(await answer.text())
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const { port } = proxy.address() as AddressInfo
  const common = [
    '--url',
    `http://127.0.0.1:${port}`,
    '--client',
    'w1',
    '--admin-token',
    token,
    '--json',
  ]
  const webhook = { url: `${sandbox.adminUrl}/webhooks/inbox`, webhook_secret: 'whsec_dGVzdA==' }
  await call(`http://127.0.0.1:${sandbox.port}/@w1/v1/clientWebhook`, webhook)
  for (const args of REMOTE_CALLS) {
    seen.length = 0
    const { code, stdout, stderr } = await run([...args, ...common], { cwd })
    t.equal(code, 0, `${args.join(' ')}: ${stderr}`)
    t.equal(stderr, '')
    t.equal(stdout.indexOf('\n'), stdout.length - 1, 'one line')
    t.equal(typeof JSON.parse(stdout), 'object')
    t.ok(seen.length > 0)
    for (const one of seen) {
      t.match(one.path, /^\/@w1\/__admin\//, args[0])
      t.equal(one.token, token, args[0])
    }
  }
  t.strictSame(
    COMMANDS.map(({ name }) => name).sort(),
    [...REMOTE_CALLS.map(([name]) => name), ...LOCAL_COMMANDS].sort(),
    'every command is in REMOTE_CALLS or LOCAL_COMMANDS',
  )
  proxy.close()
  proxy.closeAllConnections()
  await sandbox.stop()
})
