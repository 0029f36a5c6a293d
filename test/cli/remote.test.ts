import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { COMMANDS } from '../../src/cli/main.ts'
import { ASHA, PAYMENT, pluck } from '../helper.ts'
import { portOf } from '../listening.ts'
import { call, type Program, run, serve } from './program.ts'

/** Forwards calls to a sandbox, and keeps each with its admin token. */
async function recorder(t: Test, { port }: Program) {
  const seen: { call: string; token: unknown }[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const { 'x-admin-token': token } = request.headers
    seen.push({ call: `${request.method} ${request.url}${body && ` ${body}`}`, token })
    const answer = await fetch(`http://127.0.0.1:${port}${request.url}`, {
      method: request.method!,
      headers: {
        ...(token !== undefined && { 'x-admin-token': String(token) }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body }),
    })
    response.writeHead(answer.status).end(await answer.text())
  })
  return { url: `http://127.0.0.1:${await portOf(t, server)}`, seen }
}

const CLOCK = 'POST /clock/'
const LIST = '{"operation":"listUsers"}'
const VERIFY = `POST /requests/verify {"match":${LIST}`
const TRIGGER = 'POST /webhooks/trigger {"event":"user.created"}'
const REDELIVER = 'POST /webhooks/deliveries/DELIVERY/redeliver'
const LATER = '2027-01-01T00:00:00Z'
const START = String.raw`^2026-01-01T00:00:00\.000Z, frozen\n`
/** A row of `clock advance` and `clock next`. */
const STEP = String.raw`\n2026-01-\d\dT00:00:0\d\.000Z  transaction\.step +[\da-f-]{36}  \{"status":`

/** What is typed, what is sent below `/@w1/__admin`, what is printed, and the exit code. A line with `>` does something else. */
const ROWS: readonly (readonly [
  typed: string,
  sent?: string | undefined,
  printed?: RegExp,
  code?: number,
])[] = [
  [
    'scenario list',
    'GET /scenarios',
    /^ {3}name +title\n[\s\S]+\n\* {2}default +\S[\s\S]+\n {3}slow +\S/,
  ],
  ['scenario use rate-limited', 'PUT /scenario {"name":"rate-limited"}', / \(active\)\n$/],
  ['scenario show', 'GET /scenario', /^rate-limited: .+\n\nrule +hits\n.+ 0\n$/],
  ['scenario show --all', 'GET /scenario?client=*', /^default: /],
  ['scenario use slwo', 'PUT /scenario {"name":"slwo"}', /"slwo"; did you mean "slow"\?/, 1],
  ['scenario use default', 'PUT /scenario {"name":"default"}'],
  ['clock show', 'GET /clock', new RegExp(`${START}no pending timers\n$`)],
  ['clock next', `${CLOCK}next`, /^no pending timers\n\nnow 2026-01-01T00:00:00\.000Z\n$/],
  ['clock advance 2d', `${CLOCK}advance {"by":"2d"}`, /^no timer was due\n\nnow 2026-01-03T/],
  ['>pay'],
  ['clock show', 'GET /clock', /\n2 pending timers, the next one at 2026-01-03T00:00:01\.000Z\n$/],
  ['clock next', `${CLOCK}next`, new RegExp(`^at +timer +resource +details${STEP}"PROCESSING"`)],
  [
    'clock advance 2026-01-04T00:00:00Z',
    `${CLOCK}advance {"to":"2026-01-04T00:00:00Z"}`,
    new RegExp(`${STEP}"SUCCESS"[^;]+now 2026-01-04`),
  ],
  ['>pay 30 times'],
  ['clock advance 1h', `${CLOCK}advance {"by":"1h"}`, /\n… and \d+ more; --json shows all\n/],
  ['clock speed 60', `${CLOCK}speed {"factor":60}`, /^2026-01-04T01:.+, real, speed 60\n/],
  ['clock freeze', `${CLOCK}freeze {}`, /, frozen, speed 60/],
  ['clock resume', `${CLOCK}resume`, /, real, speed 60/],
  [`clock freeze ${LATER}`, `${CLOCK}freeze {"at":"${LATER}"}`, /^2027-01-01T/],
  ['clock advance soon', `${CLOCK}advance {"by":"soon"}`, /by must be a duration/, 2],
  [
    'requests --operation createTransaction --method POST --path /v1/transaction --status 200 --limit 1',
    'GET /requests?operation=createTransaction&method=POST&path=%2Fv1%2Ftransaction&status=200&limit=1',
    /^at +method +path +operation +status +ms +rule\n2026-\S+ +POST +\/v1\/transaction +createTransaction +200 +[\d.]+ +-\n… and 30 more; --limit shows more\n$/,
  ],
  [
    'wait transaction {"amount":"640.00"} --advance 1d',
    'POST /wait {"for":"transaction","match":{"amount":"640.00"},"timeout_ms":10000,"advance":"1d"}',
    /\nthe clock moved from \S+Z to \S+Z, and 0 timers ran\n$/,
  ],
  ['>list'],
  [
    'wait request {"operation":"listUsers"} --timeout 5',
    'POST /wait {"for":"request","match":{"operation":"listUsers"},"timeout_ms":5000}',
    /^\{\n {2}"request_id"/,
  ],
  [
    `requests find ${LIST}`,
    `POST /requests/find {"match":${LIST}}`,
    /\/v1\/users +listUsers +200 /,
  ],
  ['requests find {} --limit 2', 'POST /requests/find {"match":{},"limit":2}', /… and 30 more/],
  ['requests count {}', 'POST /requests/count {"match":{}}', /^32\n$/],
  [`requests verify ${LIST}`, `${VERIFY}}`, /^ok, 1 found\n$/],
  [`requests verify ${LIST} --exactly 1`, `${VERIFY},"exactly":1}`],
  [`requests verify ${LIST} --at-least 2`, `${VERIFY},"at_least":2}`, /at least 2 .*, found 1 /, 1],
  [`requests verify ${LIST} --at-most 0`, `${VERIFY},"at_most":0}`, /at most 0 /, 1],
  [
    `requests verify ${LIST} {"operation":"getKyc"}`,
    `POST /requests/verify {"sequence":[${LIST},{"operation":"getKyc"}]}`,
    /Step 2 of 2/,
    1,
  ],
  ['requests find {"statuss":200}', 'POST /requests/find {"match":{"statuss":200}}', /statuss/, 2],
  ['requests clear', 'DELETE /requests', /^32 deleted\n$/],
  ['requests', 'GET /requests', /^no matching requests\n$/],
  ['snapshot list', 'GET /snapshots', /^no snapshots\n$/],
  ['snapshot save before', 'POST /snapshots {"name":"before"}', /^before saved, taken at 2027-/],
  ['snapshot diff before', 'GET /snapshots/before/diff', /^no differences\n$/],
  ['>make a user'],
  ['clock advance 1h', `${CLOCK}advance {"by":"1h"}`],
  [
    'snapshot diff before',
    'GET /snapshots/before/diff',
    /^table +change +id +fields\n(?=[\s\S]*users +added +[\da-f-]{36}\n)[\s\S]*settings +changed +clock +.+ → /,
  ],
  ['snapshot save before', 'POST /snapshots {"name":"before"}', /replaces the previous snapshot/],
  ['snapshot list', 'GET /snapshots', /^name +taken at\nbefore +2027-/],
  ['snapshot restore before', 'POST /snapshots/before/restore', /^before restored, now 2027-.+01:/],
  ['snapshot delete before', 'DELETE /snapshots/before', /^before deleted\n$/],
  ['snapshot restore ../clock', 'POST /snapshots/..%2Fclock/restore', /name/, 2],
  [
    'assumptions list',
    'GET /assumptions',
    /^assumption +reading +from +other readings\nidempotency_key +ignored +default +honoured\n[\s\S]+\nrate_limit +none +default +N\/minute\n/,
  ],
  [
    'assumptions set idempotency_key=honoured rate_limit=2/minute',
    'PUT /assumptions {"idempotency_key":"honoured","rate_limit":"2/minute"}',
    /^assumption .+\nidempotency_key +honoured +call +ignored\nrate_limit +2\/minute +call +none, N\/minute\n$/,
  ],
  [
    'assumptions set rate_limit= idempotency_key=',
    'PUT /assumptions {"rate_limit":null,"idempotency_key":null}',
    /\nrate_limit +none +default +N\/minute\n/,
  ],
  ['trigger user.created', TRIGGER, /has no webhook yet/, 1],
  ['deliveries', 'GET /webhooks/deliveries', /^no deliveries\n$/],
  [
    'deliveries --status lost --limit 0',
    'GET /webhooks/deliveries?status=lost&limit=0',
    /^payout-sandbox: The request is invalid:\n {2}limit: must .+ found "0"\n {2}status: must .+ found "lost"\n$/,
    2,
  ],
  ['>receive webhooks'],
  [
    `trigger user.created --resource ${ASHA} --override {"email":"other@example.com"}`,
    `POST /webhooks/trigger {"event":"user.created","resource_id":"${ASHA}","override":{"email":"other@example.com"}}`,
    new RegExp(`^user\\.created for ${ASHA}: delivered \\(200\\)\n$`),
  ],
  [
    'deliveries --status delivered --event user.created --resource x --limit 1',
    'GET /webhooks/deliveries?status=delivered&event=user.created&resource_id=x&limit=1',
    /^no deliveries\n$/,
  ],
  ['trigger user.created', TRIGGER, /: delivered \(200\)\n$/],
  [
    'deliveries --limit 1',
    'GET /webhooks/deliveries?limit=1',
    /^created +delivery +event +resource +status +attempts +last response\n\S+ +dlv_\w+ +user\.created +\S+ +delivered +1 +200\n… and 1 more; --limit shows more\n$/,
  ],
  ['deliveries --redeliver DELIVERY', REDELIVER, /: delivered \(200\)\n$/],
  ['>receive no webhooks'],
  [
    'deliveries --redeliver DELIVERY',
    REDELIVER,
    /: delivered before, this redelivery failed \(/,
    1,
  ],
  [
    'trigger user.created',
    TRIGGER,
    /: pending \(nothing listens .+\)\nthe next attempt is at 2027-/,
    1,
  ],
  ['coverage', 'GET /coverage', /^calls +\d+ of \d+ +\d+ %\n[\s\S]+\nlists +\d of 8 /],
  ['statement --date 2026-01-31', 'GET /statement?date=2026-01-31', /^no money moved\n/],
  [
    'statement --from 2026-01-01 --to 2026-01-31 --truth',
    'GET /statement?from=2026-01-01&to=2026-01-31&truth=true',
  ],
  [
    'reconcile test/cli/books.csv --columns reference=ref --to 2026-01-31',
    'POST /reconcile {"rows":[{"reference":"GIFT-0002","amount":"2500.00","status":"success"}],"to":"2026-01-31"}',
    /\nmissing_in_books [\s\S]+\n1 row matched, /,
    1,
  ],
  [
    'wait kyc {"kyc_id":"no"} --timeout 0',
    'POST /wait {"for":"kyc","match":{"kyc_id":"no"},"timeout_ms":0}',
    /No KYC record matched/,
    1,
  ],
  ['state export', 'GET /state', /^\{\n"format":1,\n[\s\S]+\}\n$/],
  ['health', 'GET /health', /^healthy\n$/],
  ['reset clock data', 'POST /reset {"parts":["clock","data"]}', /^reset clock, data of w1\n$/],
  ['reset', 'POST /reset {}', /^reset data, clock, scenario, .+ of w1\n$/],
  ['reset --all', 'POST /reset {"all":true}', /^reset data, clock, .+ of default, .+, w1\n$/],
]

/** Commands that call no running sandbox. */
const LOCAL_COMMANDS =
  'reconcile start exec validate generate conform openapi schema client sweep certify help mcp'

t.test('what is typed, what is sent, and what is printed', async (t) => {
  const sandbox = await serve(t, '--memory --clock frozen --coverage --admin-token s3'.split(' '))
  const { url, seen } = await recorder(t, sandbox)
  const v1 = `http://127.0.0.1:${sandbox.port}/@w1/v1`
  const pay = () => call(`${v1}/transaction`, { ...PAYMENT, amount: 5 })
  const hook = (to: string, method: string) =>
    call(`${v1}/clientWebhook`, { url: to, webhook_secret: 'whsec_dGVzdA==' }, {}, method)
  const ELSE: Record<string, () => Promise<unknown>> = {
    '>pay': pay,
    '>pay 30 times': async () => {
      for (let i = 0; i < 30; i++) await pay()
    },
    '>list': () => call(`${v1}/users`),
    '>make a user': () => call(`${v1}/user`, { email: 'new@example.com', mobile: '9000009999' }),
    '>receive webhooks': () => hook(`${sandbox.adminUrl}/webhooks/inbox`, 'POST'),
    '>receive no webhooks': () => hook('http://127.0.0.1:9/x', 'PUT'),
  }
  const env = { PAYOUT_SANDBOX_URL: `${url}/@w1`, PAYOUT_SANDBOX_ADMIN_TOKEN: 's3' }
  let delivery = ''
  for (const [typed, sent, printed, code = 0] of ROWS) {
    if (typed.startsWith('>')) {
      await ELSE[typed]!()
      continue
    }
    seen.length = 0
    const ended = await run(typed.replace('DELIVERY', delivery).split(' '), { env })
    const text = ended.stdout + ended.stderr
    t.equal(ended.code, code, `${typed}: ${text}`)
    t.strictSame(pluck(seen, 'call'), [
      sent!.replace('DELIVERY', delivery).replace(' ', ' /@w1/__admin'),
    ])
    if (printed) t.match(text, printed, typed)
    t.equal(code === 0 ? ended.stderr : code === 2 ? ended.stdout : '', '', typed)
    delivery = /dlv_\w+/.exec(ended.stdout)?.[0] ?? delivery
  }

  // Each command once more with the options that all of them have.
  await hook(`${sandbox.adminUrl}/webhooks/inbox`, 'POST')
  const commands = new Map(
    ROWS.toReversed().flatMap(([typed, sent, , code]) =>
      code === undefined && sent ? [[typed.split(' ')[0]!, typed]] : [],
    ),
  )
  const common = ['--admin-token', 's3', '--json']
  for (const [name, typed] of [...commands].toReversed()) {
    seen.length = 0
    const isOfProcess = ['coverage', 'health'].includes(name)
    const where = isOfProcess ? ['--url', `${url}/@w1`] : ['--url', url, '--client', 'w1']
    const { code, stdout, stderr } = await run([...typed.split(' '), ...where, ...common])
    t.strictSame([code, stderr], [0, ''], typed)
    t.equal(stdout.indexOf('\n'), stdout.length - 1, 'one line')
    t.equal(typeof JSON.parse(stdout), 'object')
    t.ok(seen.length > 0)
    for (const one of seen) t.match(one, { call: / \/@w1\/__admin\//, token: 's3' }, name)
    const help = (await run(['help', name])).stdout
    for (const flag of ['url URL', 'port N', 'admin-token T|none', 'json'])
      t.ok(help.includes(`\n  --${flag} `), `${name} --${flag}`)
    t.not(help.includes('--client NAME'), isOfProcess, `${name} --client`)
  }
  t.strictSame(
    pluck(COMMANDS, 'name').sort(),
    [...commands.keys(), ...LOCAL_COMMANDS.split(' ')].sort(),
    'every command is in ROWS or LOCAL_COMMANDS',
  )
  const refused = await run(['clock', 'advance', '1x', '--url', url, ...common])
  t.equal(refused.code, 2)
  t.match(JSON.parse(refused.stdout), { error: 'validation_failed', message: /by must be/ })
  t.match(refused.stderr, JSON.parse(refused.stdout).message)
})

t.test('without a client, requests and expectations are those of all clients', async (t) => {
  const sandbox = await serve(t)
  const { url, seen } = await recorder(t, sandbox)
  const of = (name: string) => `http://127.0.0.1:${sandbox.port}/@${name}/v1/users`
  for (const name of ['a', 'b']) await call(of(name))
  const match = '{"operation":"listUsers"}'
  for (const [typed, sent, printed, code = 0] of [
    [
      'requests',
      'GET /__admin/requests?client=*',
      /^at +client +method .*\n\S+ +b +GET .*\n\S+ +a +GET /,
    ],
    ['requests count {}', 'POST /__admin/requests/count {"client":"*","match":{}}', /^2\n$/],
    ['requests --client a', 'GET /@a/__admin/requests', /^at +method /],
    [
      `requests verify ${match} --client c`,
      `POST /@c/__admin/requests/verify {"match":${match}}`,
      /@c had no calls; @b had 1, @a had 1/,
      1,
    ],
    ['requests clear', 'DELETE /__admin/requests?client=*', /^2 deleted\n$/],
    ['scenario show --all', 'GET /__admin/scenario?client=*', /^default: /],
  ] as const) {
    seen.length = 0
    const ended = await run([...typed.split(' '), '--url', url])
    t.equal(ended.code, code, typed)
    t.match(ended.stdout + ended.stderr, printed)
    t.strictSame(pluck(seen, 'call'), [sent])
  }
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

t.test('a sandbox is found by flags, variables and the config file, in this order', async (t) => {
  const config = { port: 0, admin_token: 's3cret' }
  const cwd = t.testdir({ 'payout-sandbox.config.json': JSON.stringify(config), at: {} })
  const sandbox = await serve(t, ['--memory', '--clock', 'frozen'], { cwd })
  const { port, url } = sandbox
  const root = url.replace('/v1', '')
  const at = join(cwd, 'at')
  const file = { port, host: '0.0.0.0', admin_token: 's3cret' }
  writeFileSync(join(at, 'payout-sandbox.config.json'), JSON.stringify(file))
  const token = { PAYOUT_SANDBOX_ADMIN_TOKEN: 's3cret' }
  const other = { PAYOUT_SANDBOX_ADMIN_TOKEN: 'other' }
  const byPort = {
    PAYOUT_SANDBOX_PORT: String(port),
    PAYOUT_SANDBOX_CLOCK: 'no other is looked at',
  }
  const moved = await run(['clock', 'advance', '2d', '--client', 'w1', '--url', url], {
    env: token,
  })
  t.equal(moved.code, 0, moved.stderr)
  const [here, w1] = [/"2026-01-01/, /"2026-01-03/]
  const rows: [flags: string, env: Record<string, string>, cwd: string, found: RegExp][] = [
    ['', {}, at, here],
    ['', { PORT: String(port) }, cwd, here],
    ['', byPort, cwd, here],
    ['', { ...byPort, ...other }, cwd, /"unauthorized|admin_token_required/],
    ['--admin-token s3cret', { ...byPort, ...other }, cwd, here],
    ['--admin-token none', byPort, cwd, /admin_token_required/],
    ['', { PAYOUT_SANDBOX_PORT: '1' }, at, /No sandbox responds at http:\/\/127\.0\.0\.1:1 /],
    [`--port ${port}`, { PAYOUT_SANDBOX_URL: 'http://127.0.0.1:1' }, cwd, here],
    [`--port ${port} --host 127.0.0.1 --client w1`, {}, cwd, w1],
    [`--url ${root} --client w1`, {}, cwd, w1],
    [`--url ${root}/@w1/v1 --client w1`, {}, cwd, w1],
    ['--client w1', { PAYOUT_SANDBOX_URL: `${root}/@w2/v1` }, cwd, w1],
  ]
  for (const [flags, env, folder, found] of rows) {
    const words = `clock show --json ${flags}`.trim().split(' ')
    const { stdout, stderr } = await run(words, { cwd: folder, env })
    t.match(stdout + stderr, found, `${words.join(' ')} ${JSON.stringify(env)}`)
  }
  await sandbox.stop()
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
  const port = await portOf(t, createServer())
  t.match(await run(['health', '--port', String(port)]), { code: 1, stdout: /not healthy: / })
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
  const other = createServer((_request, answer) => answer.end('<html>'))
  const port = await portOf(t, other)
  t.match(await run(['clock', 'show', '--url', `http://127.0.0.1:${port}`]), {
    code: 1,
    stderr:
      /__admin\/clock responds with 200 and a body that is not JSON\. Check that it is a payout-sandbox\./,
  })
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
    [['clock', 'show', '--url', 'http://127.0.0.1:1', '--port', '2'], /--url excludes --port/],
    [['clock', 'show', '--client', 'A'], /--client takes the name of a client, .+ not "A"/],
    [
      ['clock', 'show', '--url', 'http://127.0.0.1:1/@a/v1', '--client', 'b'],
      /--client b and the \/@a of --url are two different clients/,
    ],
    [['clock', 'advance', '-3m'], /unknown option -3/],
    [['clock', 'advance'], /clock advance needs BY\|TO/],
    [
      ['clock', 'speed', 'fast'],
      /clock speed takes a number above 0, .+ such as 60 or 0\.5, not "fast"/,
    ],
    [['clock', 'show', '--url', 'localhost:4310'], /--url takes the URL of a sandbox/],
    [['clock', 'show', '--url'], /--url takes URL, but the value is missing/],
    [['--url', 'http://127.0.0.1:1'], /start does not take --url/],
    [['scenaro', 'list'], /unknown command "scenaro"; did you mean scenario\?/],
    [['requests', 'find'], /requests find needs MATCH/],
    [
      ['requests', 'count', '{"body":{"n":9007199254740993}}'],
      /requests count has 9007199254740993, which JSON rounds: put its digits in quotes/,
    ],
    [['requests', 'find', 'getUser'], /requests find takes a JSON object in quotes, not "getUser"/],
    [['requests', 'verify', '{}', '--exactly', '-1'], /--exactly/],
    [['requests', '--limit', '0'], /--limit takes a whole number from 1 to 1000/],
    [['requests', 'clear', '--limit', '1'], /requests clear does not take --limit/],
    [['coverage', '--client', 'w1'], /coverage does not take --client; it takes --min-coverage, /],
    [['health', '--client', 'w1'], /health does not take --client; it takes --url, /],
    [['reset', '--all', '--client', 'w1'], /reset --all excludes --client: .* all clients\n$/],
    [['scenario', 'show', '--all', '--client', 'w1'], /scenario show --all excludes --client/],
    [['trigger', 'user.created', '--override', '[1]'], /--override takes a JSON object in quotes/],
    [['deliveries', '--redeliver', 'x', '--status', 'failed'], /--redeliver excludes --status/],
    [['assumptions', 'set'], /assumptions set needs NAME=READING\.\.\.; usage: /],
    [
      ['assumptions', 'set', 'a'],
      /set takes NAME=READING, such as idempotency_key=honoured, not "a"/,
    ],
    [['assumptions', 'set', '=a'], /assumptions set takes NAME=READING, .+, not "=a"/],
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
