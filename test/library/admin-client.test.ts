import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { PACKAGE_ROOT } from '../../src/config/package.ts'
import {
  type AdminClient,
  AdminError,
  createAdminClient,
  type SandboxOptions,
  startSandbox,
} from '../../src/index.ts'
import { ADMIN_CALLS } from '../../src/routes/admin/admin-calls.ts'
import { ASHA, ROHAN, ROHANS_ACCOUNT } from '../helper.ts'
import { portOf } from '../listening.ts'

async function started(t: Test, options: SandboxOptions = {}) {
  const sandbox = await startSandbox({ clock: 'frozen', logLevel: 'silent', ...options })
  t.teardown(sandbox.close)
  return sandbox
}

/** A payment of Asha to Rohan over HTTP; answers with its id. */
async function pay(url: string, amount = 100): Promise<string> {
  const answer = await fetch(`${url}/transaction`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      from_user_id: ASHA,
      to_user_id: ROHAN,
      benif_bank_id: ROHANS_ACCOUNT,
      amount,
    }),
  })
  const { data } = (await answer.json()) as { data: [{ transaction_id: string }] }
  return data[0].transaction_id
}

/** The status of a payment over HTTP. */
async function statusOf(url: string, id: string): Promise<string> {
  const answer = await fetch(`${url}/transaction/${id}`)
  const { data } = (await answer.json()) as { data: [{ transaction_status: string }] }
  return data[0].transaction_status
}

/** What an admin call throws. */
async function refused(call: Promise<unknown>): Promise<AdminError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof AdminError)) throw new Error(`no AdminError: ${error}`)
  return error
}

/** Each method of the client, and what it sends. */
const SENT: readonly [call: (a: AdminClient) => Promise<unknown>, sent: string][] = [
  [(a) => a.health(), 'GET /health'],
  [(a) => a.ready(), 'GET /ready'],
  [(a) => a.reset(), 'POST /reset'],
  [(a) => a.reset({ parts: ['data'] }), 'POST /reset {"parts":["data"]}'],
  [(a) => a.client(), 'GET /client'],
  [(a) => a.summary({ since: '2026-01-01' }), 'GET /summary?since=2026-01-01'],
  [(a) => a.users.list({ limit: 2 }), 'GET /users?limit=2'],
  [(a) => a.users.get('u'), 'GET /users/u'],
  [(a) => a.transactions.list({ search: 'a b' }), 'GET /transactions?search=a+b'],
  [(a) => a.transactions.get('t'), 'GET /transactions/t'],
  [(a) => a.statement({ date: '2026-01-01' }), 'GET /statement?date=2026-01-01'],
  [(a) => a.reconcile([]), 'POST /reconcile {"rows":[]}'],
  [
    (a) => a.reconcile([{ reference: 'a', amount: 5 }], { from: '2026-01-01' }),
    'POST /reconcile {"rows":[{"reference":"a","amount":5}],"from":"2026-01-01"}',
  ],
  [(a) => a.clients.list(), 'GET /clients'],
  [(a) => a.clients.create({ name: 'w' }), 'POST /clients {"name":"w"}'],
  [(a) => a.clients.delete('w'), 'DELETE /clients/w'],
  [(a) => a.state.get(), 'GET /state'],
  [(a) => a.state.put({ format: 1 } as never), 'PUT /state {"format":1}'],
  [(a) => a.snapshots.list(), 'GET /snapshots'],
  [(a) => a.snapshots.save('s'), 'POST /snapshots {"name":"s"}'],
  [(a) => a.snapshots.get('s'), 'GET /snapshots/s'],
  [(a) => a.snapshots.delete('s'), 'DELETE /snapshots/s'],
  [(a) => a.snapshots.restore('s'), 'POST /snapshots/s/restore'],
  [(a) => a.snapshots.diff('s'), 'GET /snapshots/s/diff'],
  [(a) => a.clock.get(), 'GET /clock'],
  [(a) => a.clock.freeze(), 'POST /clock/freeze {}'],
  [(a) => a.clock.freeze('2026-01-01'), 'POST /clock/freeze {"at":"2026-01-01"}'],
  [(a) => a.clock.resume(), 'POST /clock/resume'],
  [(a) => a.clock.speed(60), 'POST /clock/speed {"factor":60}'],
  [(a) => a.clock.advance('2d'), 'POST /clock/advance {"by":"2d"}'],
  [
    (a) => a.clock.advance({ to: '2027-01-01T00:00:00Z' }),
    'POST /clock/advance {"to":"2027-01-01T00:00:00Z"}',
  ],
  [(a) => a.clock.next(), 'POST /clock/next'],
  [(a) => a.timers.list({ limit: 1 }), 'GET /timers?limit=1'],
  // A path parameter stays one part of the path, whatever is in it.
  [(a) => a.timers.delete('../x?y'), 'DELETE /timers/..%2Fx%3Fy'],
  [(a) => a.timers.fire('t'), 'POST /timers/t/fire'],
  [
    (a) => a.simulate.transaction('t', { status: 'FAILED' }),
    'POST /simulate/transactions/t {"status":"FAILED"}',
  ],
  [(a) => a.simulate.kyc('k', { status: 'failed' }), 'POST /simulate/kyc/k {"status":"failed"}'],
  [
    (a) => a.simulate.bankAccount('b', { status: 'failed' }),
    'POST /simulate/bank-accounts/b {"status":"failed"}',
  ],
  [(a) => a.scenario.list(), 'GET /scenarios'],
  [(a) => a.scenario.get({ client: '*' }), 'GET /scenario?client=*'],
  [(a) => a.scenario.source('slow'), 'GET /scenarios/slow'],
  [(a) => a.scenario.use('slow'), 'PUT /scenario {"name":"slow"}'],
  [(a) => a.scenario.define({ rules: [] }), 'PUT /scenario {"definition":{"rules":[]}}'],
  [(a) => a.scenario.magicValues(), 'GET /magic-values'],
  [(a) => a.assumptions.list(), 'GET /assumptions'],
  [(a) => a.assumptions.set({ list_order: null }), 'PUT /assumptions {"list_order":null}'],
  [(a) => a.rules.list(), 'GET /rules'],
  [
    (a) => a.rules.push({ when: { operation: '*' }, then: { delay: '1s' } }),
    'POST /rules {"when":{"operation":"*"},"then":{"delay":"1s"}}',
  ],
  [(a) => a.rules.delete('r'), 'DELETE /rules/r'],
  [(a) => a.webhooks.deliveries({ status: 'failed' }), 'GET /webhooks/deliveries?status=failed'],
  [(a) => a.webhooks.delivery('d'), 'GET /webhooks/deliveries/d'],
  [(a) => a.webhooks.redeliver('d'), 'POST /webhooks/deliveries/d/redeliver'],
  [
    (a) => a.webhooks.trigger({ event: 'user.created' }),
    'POST /webhooks/trigger {"event":"user.created"}',
  ],
  [(a) => a.requests.list({ limit: 5, status: 200 }), 'GET /requests?limit=5&status=200'],
  [(a) => a.requests.har({ method: 'GET' }), 'GET /requests?method=GET&format=har'],
  [(a) => a.requests.get('req_1'), 'GET /requests/req_1'],
  [(a) => a.requests.clear(), 'DELETE /requests'],
  [
    (a) => a.requests.find({ match: { method: 'PUT' } }),
    'POST /requests/find {"match":{"method":"PUT"}}',
  ],
  [(a) => a.requests.count(), 'POST /requests/count'],
  [
    (a) => a.requests.verify({ sequence: [{ method: 'PUT' }] }),
    'POST /requests/verify {"sequence":[{"method":"PUT"}]}',
  ],
  [(a) => a.inbox.list({ limit: 1 }), 'GET /webhooks/inbox?limit=1'],
  [(a) => a.inbox.clear(), 'DELETE /webhooks/inbox'],
  [(a) => a.inbox.receive('{"a": 1}', { 'webhook-id': 'e' }), 'POST /webhooks/inbox {"a": 1}'],
  [(a) => a.coverage(), 'GET /coverage'],
  [(a) => a.wait({ for: 'request', timeout_ms: 5 }), 'POST /wait {"for":"request","timeout_ms":5}'],
  [(a) => a.events().next(), 'GET /events'],
]

t.test('every admin call can be reached, and what each method sends', async (t) => {
  const seen: { sent: string; token: unknown }[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const sent = `${request.method} ${request.url} ${Buffer.concat(chunks)}`.trim()
    seen.push({ sent, token: request.headers['x-admin-token'] })
    // A stream that ends would be read on by a new call.
    response.writeHead(request.url!.endsWith('/events') ? 404 : 200).end('{"requests":[]}')
  })
  const url = `http://127.0.0.1:${await portOf(t, server)}`
  const admin = createAdminClient({ url, token: 's3' })
  for (const [call, sent] of SENT) {
    await call(admin).catch((error: unknown) => t.ok(error instanceof AdminError, String(error)))
    t.strictSame(seen.pop(), { sent: sent.replace(' ', ' /__admin'), token: 's3' })
  }
  const reached = ADMIN_CALLS.filter(({ method, url }) => {
    const pattern = new RegExp(`^${method} ${url.replace(/:\w+/g, '[^/?]+')}(?:[? ]|$)`)
    return SENT.some(([, sent]) => pattern.test(sent))
  })
  t.strictSame(reached, ADMIN_CALLS)
  for (const one of [
    admin.forClient('w'),
    createAdminClient({ url, token: 's3', client: 'w' }),
    createAdminClient({ url: `${url}/@w/v1/`, token: 's3' }),
  ]) {
    await one.clock.get()
    t.strictSame(seen.pop(), { sent: 'GET /@w/__admin/clock', token: 's3' })
  }
  for (const client of ['NOT A NAME', '..', 'zz/..', ''])
    t.throws(() => createAdminClient({ url, client }), { message: /invalid client/ })
  t.throws(() => admin.forClient('zz/..'), { name: 'TypeError' })
})

t.test('a sandbox is used by its url, its token and its admin client', async (t) => {
  const { url, token, admin } = await started(t)
  const authorization = `Bearer ${token}`
  t.equal((await fetch(`${url}/client/profile`, { headers: { authorization } })).status, 200)
  const id = await pay(url)
  const { fired, now } = await admin.clock.advance('2d')
  t.equal(now, '2026-01-03T00:00:00.000Z')
  t.ok(fired.some(({ resource_id }) => resource_id === id))
})

t.test('a changed reading is an event of its client, with its name', async (t) => {
  const { admin } = await started(t)
  // The first event shows that the stream is open.
  const events = admin.events({ lastEventId: 'none' })
  t.match((await events.next()).value, { kind: 'gap' })
  await admin.assumptions.set({ list_order: 'oldest_first', utr_form: 'imps' })
  t.match((await events.next()).value, {
    kind: 'assumptions',
    data: { changed: ['list_order', 'utr_form'] },
  })
  await admin.assumptions.set({ utr_form: null })
  t.match((await events.next()).value, { kind: 'assumptions', data: { changed: ['utr_form'] } })
  await events.return(undefined)
})

t.test('limit is the number of calls, however many pages they have', async (t) => {
  const { url, admin } = await started(t)
  for (let i = 0; i < 120; i++) await fetch(`${url}/users?limit=1`)
  for (const read of [admin.requests.list, admin.requests.find]) {
    const all = await read({ limit: 1_000 })
    t.equal(new Set(all.requests.map(({ request_id }) => request_id)).size, 120, 'of all pages')
    t.equal(all.next, null)
    const some = await read({ limit: 110 })
    t.equal(some.requests.length, 110)
    t.strictSame((await read({ cursor: some.next! })).requests, all.requests.slice(110))
    t.equal((await read()).requests.length, 50)
  }
})

t.test('a refusal is an AdminError with status, word, message and fields', async (t) => {
  const { admin, adminUrl } = await started(t)
  t.match(await refused(admin.scenario.use('no-such')), { name: 'AdminError', status: 404 })
  const error = await refused(admin.clock.advance('soon'))
  t.match(error, { status: 400, code: 'validation_failed', errors: [{ field: 'by' }] })
  t.match(error.message, /must be a duration/)
  await t.rejects(admin.snapshots.get('..'), { name: 'TypeError', message: /name or an id/ })
  const nobody = await refused(createAdminClient({ url: 'http://127.0.0.1:1' }).health())
  t.match(nobody, { status: 0, code: 'no_response', message: /127\.0\.0\.1:1.*ECONNREFUSED/ })
  const other = createServer((_request, response) => response.end('<html>'))
  const port = await portOf(t, other)
  t.match(await refused(createAdminClient({ url: `http://127.0.0.1:${port}` }).health()), {
    status: 200,
    code: 'no_response',
    message: /not JSON/,
  })
  for (const url of ['', 'localhost:4310', 'ftp://localhost', `${adminUrl}/clock`])
    t.throws(() => createAdminClient({ url }), { message: /takes the url of a sandbox/ }, url)
})

t.test('an argument of the wrong kind is refused before it is sent', async (t) => {
  // Nobody answers here: what is sent would be an AdminError.
  const admin = createAdminClient({ url: 'http://127.0.0.1:1' })
  const table: [() => Promise<unknown>, RegExp][] = [
    [
      () => admin.clock.advance(180_000 as never),
      /^POST \/__admin\/clock\/advance: by must be a duration such as "3m".*; found 180000$/,
    ],
    [() => admin.clock.advance({ by: 5 } as never), /by must be a duration such as "3m"/],
    [() => admin.clock.speed('60' as never), /factor must be a number; found "60"/],
    [() => admin.scenario.use(7 as never), /name must be a string; found 7/],
    [() => admin.snapshots.save({} as never), /name must be a string; found an object/],
    [() => admin.rules.push('x' as never), /the body must be an object; found "x"/],
    [() => admin.reset('data' as never), /the body must be an object; found "data"/],
    [() => admin.reset({ parts: 'data' } as never), /parts must be a list; found "data"/],
    [() => admin.reconcile('x' as never), /reconcile takes an array of rows/],
    [() => admin.requests.list(5 as never), /the query must be an object; found 5/],
    [() => admin.timers.delete({ id: 'x' } as never), /id must be a name or an id, not/],
    [() => admin.transactions.get(undefined as never), /id must be a name or an id, not undefined/],
  ]
  for (const [call, message] of table)
    await t.rejects(call(), { name: 'TypeError', message }, String(message))
  const { admin: real } = await started(t)
  // What is wrong in another way is for the sandbox to say.
  t.match(await refused(real.clock.advance({} as never)), { status: 400 })
  t.match(await refused(real.scenario.use(null as never)), { status: 400 })
  t.match(await refused(real.clock.freeze('noon')), { status: 400 })
})

t.test('many sandboxes live in one process, and leave nothing open', async (t) => {
  const dir = t.testdir()
  const all = await Promise.all([
    // What is unref'd would not be seen among what is left.
    startSandbox({ clock: 'frozen', logLevel: 'silent', unref: false }),
    startSandbox({ clock: 'frozen', logLevel: 'silent', unref: false }),
    startSandbox({ clock: 'real', logLevel: 'silent', unref: false, data: join(dir, 'db.json') }),
  ])
  t.equal(new Set(all.map(({ url }) => url)).size, 3)
  const [one, two, three] = all as [(typeof all)[0], (typeof all)[0], (typeof all)[0]]
  await one.admin.clock.advance('1d')
  t.equal((await two.admin.clock.get()).now, '2026-01-01T00:00:00.000Z')
  await three.admin.scenario.use('slow')
  await Promise.all(all.map(({ close }) => close()))
  await Promise.all(all.map(({ close }) => close()))
  const left = /^(TCP\w+|Timeout|FSEvent\w*)$/
  t.strictSame(
    process.getActiveResourcesInfo().filter((kind) => left.test(kind)),
    [],
  )
  const again = await startSandbox({ data: join(dir, 'db.json'), logLevel: 'silent' })
  t.equal((await again.admin.scenario.get()).name, 'slow')
  await again.close()
})

t.test('the README’s few lines do what they say', async (t) => {
  const page = readFileSync(join(PACKAGE_ROOT, 'README.md'), 'utf8')
  const [, code] = /## In a test\n[\s\S]*?```js\n([\s\S]*?)```/.exec(page)!
  const run = new Function(
    'use',
    'pay',
    'statusOf',
    `return (async () => {${code!
      .replace("import { startSandbox } from 'payout-sandbox'", 'const { startSandbox } = use')
      .replace(/\/\/ Your code .*/, 'const id = await pay(sandbox.url)')
      .replace(/\/\/ It has settled.*/, 'const status = await statusOf(sandbox.url, id)')}
      return status
    })()`,
  )
  t.equal(await run(await import('../../src/index.ts'), pay, statusOf), 'success')
})
