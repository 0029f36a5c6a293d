import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { PACKAGE_ROOT } from '../../src/config/package.ts'
import {
  AdminError,
  createAdminClient,
  type SandboxOptions,
  startSandbox,
} from '../../src/index.ts'
import { ADMIN_CALLS } from '../../src/routes/admin/admin-calls.ts'
import { ASHA, ROHAN, ROHANS_ACCOUNT } from '../helper.ts'

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

type Leaf = (...args: unknown[]) => Promise<unknown>

/** Every method of a client, with its place in it. */
function* methods(value: object, at = ''): Generator<[at: string, method: Leaf]> {
  for (const [name, part] of Object.entries(value)) {
    if (typeof part === 'function') yield [at + name, part]
    else yield* methods(part, `${at}${name}.`)
  }
}

/** Calls a method that takes an id or a text, a number, or an object. */
async function called(method: Leaf): Promise<void> {
  for (const args of [['x', {}], [1], [{}]]) {
    const error = await method(...args).catch((thrown: unknown) => thrown)
    if (!(error instanceof TypeError)) return
  }
}

t.test('every admin call can be reached, each by a method of its own', async (t) => {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const { forClient: _, ...admin } = createAdminClient({ url: `http://127.0.0.1:${port}` })
  const reached: Record<string, string> = {}
  for (const [at, method] of methods(admin)) {
    // The stream is asked for when it is read.
    if (at === 'events')
      for await (const _ of method({}) as unknown as AsyncIterable<unknown>)
        t.fail('an event was received')
    else await called(method)
    const asked = seen.pop()
    const call = ADMIN_CALLS.find(
      ({ method, url }) =>
        `${method} /__admin${url.replace(/:\w+/g, 'x')}` === asked?.split('?')[0],
    )
    t.ok(call, `${at} asks ${asked}`)
    if (call) reached[call.id] = at
  }
  t.strictSame(Object.keys(reached).sort(), ADMIN_CALLS.map(({ id }) => id).sort())
})

t.test('a sandbox is used by its urls, its token and its admin client', async (t) => {
  const { url, token, admin } = await started(t)
  const profile = await fetch(`${url}/client/profile`, {
    headers: { authorization: `Bearer ${token}` },
  })
  t.equal(profile.status, 200)
  const id = await pay(url)
  const { fired, now } = await admin.clock.advance('2d')
  t.equal(now, '2026-01-03T00:00:00.000Z')
  t.ok(fired.some(({ resource_id }) => resource_id === id))
  const { deliveries, total } = await admin.webhooks.deliveries({ resource_id: id, limit: 1 })
  t.equal(deliveries.length, 1)
  t.ok(total > 1)
  t.equal(
    (await admin.clock.advance({ to: '2026-02-01T00:00:00Z' })).now,
    '2026-02-01T00:00:00.000Z',
  )
  await admin.clock.freeze('2026-01-01T00:00:00Z')
  t.match(await admin.clock.get(), { now: '2026-01-01T00:00:00.000Z', mode: 'frozen' })
  t.match(await admin.clock.speed(60), { speed: 60 })
  await admin.reset()
  t.match(await admin.clock.get(), { speed: 1, pending_timers: 0 })
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

t.test('what a test does with scenario, rules and states', async (t) => {
  const { url, admin } = await started(t)
  await admin.snapshots.save('before')
  const { rule_id } = await admin.rules.push({
    name: 'down',
    when: { operation: 'listUsers' },
    then: { respond: { status: 503 } },
  })
  t.equal((await fetch(`${url}/users`)).status, 503)
  t.match(await admin.rules.list(), { rules: [{ rule_id, hits: 1 }] })
  await admin.rules.delete(rule_id)
  t.equal((await fetch(`${url}/users`)).status, 200)
  t.equal((await admin.scenario.use('failed-payouts')).name, 'failed-payouts')
  const order = ({ assumptions }: Awaited<ReturnType<typeof admin.assumptions.list>>) =>
    assumptions.find(({ name }) => name === 'list_order')
  t.match(order(await admin.assumptions.set({ list_order: 'oldest_first' })), {
    reading: 'oldest_first',
    source: 'call',
  })
  await admin.assumptions.set({ list_order: null })
  t.match(order(await admin.assumptions.list()), { reading: 'newest_first', source: 'default' })
  const id = await pay(url)
  t.match(await admin.simulate.transaction(id, { status: 'FAILED' }), { status: 'FAILED' })
  t.match((await admin.snapshots.diff('before')).tables, { payments: { added: [id] } })
  const state = await admin.state.get()
  await admin.snapshots.restore('before')
  t.equal((await fetch(`${url}/transaction/${id}`)).status, 404)
  await admin.state.put(state)
  t.equal((await fetch(`${url}/transaction/${id}`)).status, 200)
  t.match(await admin.inbox.receive('{"type":"x"}', { 'webhook-id': 'evt_1' }), { verified: false })
  t.match(await admin.inbox.list({ limit: 1 }), { total: 1, messages: [{ webhook_id: 'evt_1' }] })
})

t.test('what a test holds its code to: requests, waiting, events', async (t) => {
  const { url, admin } = await started(t)
  const received: string[] = []
  const read = (async () => {
    for await (const { kind, data, id } of admin.events({ lastEventId: 'none-0' })) {
      received.push(kind)
      if (kind === 'request') return { data, id }
    }
    return undefined
  })()
  const paid = admin.wait({ for: 'request', match: { operation: 'createTransaction' } })
  const transaction_id = await pay(url)
  t.match(await paid, { request: { operation: 'createTransaction' } })
  const first = await read
  t.match(first?.data, { operation: 'createTransaction' })
  t.match(await admin.requests.list({ limit: 5, status: 200 }), { total: 1 })
  t.match(await admin.requests.find({ match: { method: 'POST' }, limit: 1 }), { total: 1 })
  t.strictSame(await admin.requests.count(), { count: 1 })
  t.match(await admin.requests.verify({ match: { path: '/v1/transaction' } }), { verified: true })
  const pays = { operation: 'createTransaction' } as const
  t.match(await admin.requests.verify({ sequence: [pays] }), { verified: true, count: 1 })
  t.match(await refused(admin.requests.verify({ sequence: [pays, pays] })), {
    code: 'verification_failed',
    message: /^Step 2 of 2, .+, did not come after req_1 /,
  })
  t.match(await refused(admin.requests.verify({ match: { method: 'PUT' } })), {
    status: 409,
    code: 'verification_failed',
  })
  const wait = {
    for: 'transaction',
    match: { transaction_id, transaction_status: 'success' },
  } as const
  t.match(await refused(admin.wait({ ...wait, timeout_ms: 0 })), { code: 'wait_timeout' })
  await admin.clock.advance('1m')
  t.match(await admin.wait(wait), { transaction: { transaction_id } })
  // What came after the first one that was read.
  const kinds = new Set<string>()
  for await (const { kind } of admin.events({ lastEventId: first!.id })) {
    kinds.add(kind)
    if (kinds.has('timer') && kinds.has('change')) break
  }
  t.strictSame(await admin.requests.clear(), { deleted: 1 })
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
  const missing = createAdminClient({ url: `${url.replace('/v1', '')}/v1/x`.slice(0, -2) })
  t.match(await refused(missing.snapshots.restore('none')), { status: 404 })
  for (const client of ['NOT A NAME', '..', 'zz/..', ''])
    t.throws(() => createAdminClient({ url, client }), {
      name: 'TypeError',
      message: /invalid client/,
    })
  t.throws(() => admin.forClient('zz/..'), { name: 'TypeError' })
  await t.rejects(admin.snapshots.get('..'), { name: 'TypeError', message: /name or an id/ })
})

t.test('each client has a world of its own', async (t) => {
  const { url, adminUrl, admin } = await started(t)
  const three = createAdminClient({ url, client: 'worker-3' })
  await three.clock.advance('1h')
  t.equal((await admin.forClient('worker-3').clock.get()).now, '2026-01-01T01:00:00.000Z')
  t.equal((await admin.clock.get()).now, '2026-01-01T00:00:00.000Z')
  const byPath = createAdminClient({ url: adminUrl.replace('/__admin', '/@worker-3/v1/') })
  t.equal((await byPath.clock.get()).now, '2026-01-01T01:00:00.000Z')
  await admin.clients.create({ name: 'fork', from: { client: 'worker-3' } })
  t.equal((await admin.forClient('fork').clock.get()).now, '2026-01-01T01:00:00.000Z')
  await admin.clients.delete('fork')
  t.notOk((await admin.clients.list()).clients.some(({ name }) => name === 'fork'))
})

t.test('a refusal is an AdminError with status, word, message and fields', async (t) => {
  const { admin, adminUrl } = await started(t)
  t.match(await refused(admin.scenario.use('no-such')), { name: 'AdminError', status: 404 })
  const error = await refused(admin.clock.advance('soon'))
  t.match(error, { status: 400, code: 'validation_failed', errors: [{ field: 'by' }] })
  t.match(error.message, /must be a duration/)
  // A path parameter stays one part of the path, whatever is in it.
  t.match(await refused(admin.timers.delete('../clock?x')), { status: 404, message: /timer/ })
  const nobody = await refused(createAdminClient({ url: 'http://127.0.0.1:1' }).health())
  t.match(nobody, { status: 0, code: 'no_response', message: /127\.0\.0\.1:1.*ECONNREFUSED/ })
  const other = createServer((_request, response) => response.end('<html>'))
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  t.teardown(() => other.close())
  const { port } = other.address() as AddressInfo
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
    [() => admin.scenario.use(null as never), /name must be a string; found null/],
    [() => admin.snapshots.save({} as never), /name must be a string; found an object/],
    [() => admin.rules.push('x' as never), /the body must be an object; found "x"/],
    [() => admin.reset('data' as never), /the body must be an object; found "data"/],
    [() => admin.reset({ parts: 'data' } as never), /parts must be a list; found "data"/],
    [() => admin.requests.list(5 as never), /the query must be an object; found 5/],
    [() => admin.timers.delete({ id: 'x' } as never), /id must be a name or an id, not/],
    [() => admin.transactions.get(undefined as never), /id must be a name or an id, not undefined/],
  ]
  for (const [call, message] of table)
    await t.rejects(call(), { name: 'TypeError', message }, String(message))
  const { admin: real } = await started(t)
  // What is wrong in another way is for the sandbox to say.
  t.match(await refused(real.clock.advance({} as never)), { status: 400 })
  t.match(await refused(real.clock.freeze('noon')), { status: 400 })
})

t.test('the admin token is sent where there is one', async (t) => {
  const { admin, adminUrl, adminToken } = await started(t, { adminToken: 'secret' })
  t.equal(adminToken, 'secret')
  t.equal((await admin.clock.get()).mode, 'frozen')
  t.match(await refused(createAdminClient({ url: adminUrl }).clock.get()), {
    status: 401,
    code: 'admin_token_required',
  })
  const received = createAdminClient({ url: adminUrl, token: 'secret' })
  t.equal((await received.forClient('worker-1').clock.get()).mode, 'frozen')
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
