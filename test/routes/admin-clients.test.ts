import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  ASHA,
  HONOURED,
  KABIR,
  PAYMENT,
  pluck,
  ROHAN,
  type StartOptions,
  start as startWith,
} from '../helper.ts'
import { heldTimers } from '../manual-timers.ts'

type Box = Awaited<ReturnType<typeof startWith>>
const CLIENTS = '/__admin/clients'

const create = ({ post }: Box, body: object) => post(CLIENTS, body)
const names = async ({ get }: Box) => pluck((await get(CLIENTS)).body.clients, 'name')
// Asked of the store: a scenario may hold back what the service answers.
const usersOf = ({ sandbox }: Box, name: string) =>
  sandbox.clients.get(name)!.tables.tables.users.count('all', 'all')

const onDisk = (t: Test, file: string, more: StartOptions = {}) =>
  startWith(t, { ...more, sandbox: { file, ...more.sandbox } })

t.test('a client is made with a token nobody can guess, listed and deleted', async (t) => {
  const box = await startWith(t)
  const made = await create(box, { name: 'worker-1' })
  t.equal(made.status, 201)
  t.same(Object.keys(made.body).sort(), ['access_token', 'client_id', 'name'])
  t.match(made.body.access_token, /^sbx_client_[0-9a-f]{32}$/)
  const authorization = `Bearer ${made.body.access_token}`
  const profile = await box.get('/v1/client/profile', { authorization })
  t.match(profile.body.data, { client_id: made.body.client_id, name: 'Sandbox client worker-1' })
  t.equal((await box.get('/v1/users?limit=1', { authorization })).body.data.total_users, 110)
  const other = await create(box, { name: 'worker-2' })
  t.not(other.body.access_token, made.body.access_token)
  t.not(other.body.client_id, made.body.client_id)

  const { clients } = (await box.get(CLIENTS)).body
  t.match(
    clients.find(({ name }: { name: string }) => name === 'worker-1'),
    {
      client_id: made.body.client_id,
      status: 'active',
      check_kyc: false,
      scenario: 'default',
      now: '2026-01-01T00:00:00.000Z',
      snapshots: 0,
    },
  )
  t.notMatch(JSON.stringify(clients), /sbx_/, 'no token is listed')

  const gone = await box.call('DELETE', `${CLIENTS}/worker-1`)
  t.same(gone.body, { deleted: 'worker-1' })
  t.notOk((await names(box)).includes('worker-1'))
  t.equal((await box.get('/v1/users', { authorization })).status, 401, 'its token is free')
  t.equal((await box.call('DELETE', `${CLIENTS}/worker-1`)).status, 404)
  const again = await create(box, { name: 'worker-1', access_token: made.body.access_token })
  t.equal(again.body.access_token, made.body.access_token)
})

t.test('each start option is the client’s own, and what a reset goes back to', async (t) => {
  const dir = t.testdir({})
  let box = await onDisk(t, `${dir}/db.json`)
  const clients: [name: string, options: object][] = [
    ['plain', {}],
    ['empty', { fixtures: 'empty' }],
    ['slow', { scenario: 'slow' }],
    ['seeded', { random_seed: 99 }],
    ['later', { clock: '2030-05-06T07:08:09+00:00' }],
    ['ticking', { clock: 'real' }],
    ['kyc', { check_kyc: true }],
    ['inline', { fixtures: { users: [{ email: 'own@example.com', mobile: '9876512345' }] } }],
  ]
  for (const [name, options] of clients)
    t.equal((await create(box, { name, ...options, access_token: `${name}-token` })).status, 201)

  const stateOf = async (name: string) => {
    const base = `/@${name}`
    const { body: clock } = await box.get(`${base}/__admin/clock`)
    return {
      users: usersOf(box, name),
      scenario: (await box.get(`${base}/__admin/scenario`)).body.name,
      mode: clock.mode,
      now: clock.mode === 'frozen' ? clock.now : 'ticks',
      checkKyc: box.sandbox.clients.get(name)!.payouts.profile().check_kyc,
    }
  }
  const plain = {
    users: 110,
    scenario: 'default',
    mode: 'frozen',
    now: '2026-01-01T00:00:00.000Z',
    checkKyc: false,
  }
  const wanted: Record<string, object> = {
    plain,
    empty: { ...plain, users: 0 },
    slow: { ...plain, scenario: 'slow' },
    seeded: plain,
    later: { ...plain, now: '2030-05-06T07:08:09.000Z' },
    ticking: { ...plain, mode: 'real', now: 'ticks' },
    kyc: { ...plain, checkKyc: true },
    inline: { ...plain, users: 1 },
  }
  const newUser = (name: string) =>
    box.post(`/@${name}/v1/user`, { email: 'new@example.com', mobile: '9876543210' })
  const ids: Record<string, string> = {}
  for (const [name] of clients) t.same(await stateOf(name), wanted[name], name)
  for (const name of ['plain', 'seeded']) ids[name] = (await newUser(name)).body.data.user_id
  t.not(ids['plain'], ids['seeded'])

  for (const how of ['a reset', 'a restart and a reset', 'a kill, a rewrite and a reset']) {
    if (how !== 'a reset') {
      await box.close()
      box = await onDisk(t, `${dir}/db.json`)
      if (how.includes('rewrite')) await box.sandbox.store.compact()
    }
    for (const [name] of clients) {
      const base = `/@${name}/__admin`
      await box.put(`${base}/scenario`, { name: 'rate-limited' })
      await box.post(`${base}/clock/freeze`, { at: '2040-01-01T00:00:00Z' })
      await box.put(`${base}/scenario`, { name: 'kyc-failures' })
      await newUser(name)
      t.equal((await box.post(`${base}/reset`)).status, 200)
      t.same(await stateOf(name), wanted[name], `${name} after ${how}`)
    }
    for (const name of ['plain', 'seeded']) {
      t.equal((await newUser(name)).body.data.user_id, ids[name], 'the same series')
      await box.post(`/@${name}/__admin/reset`)
    }
  }
})

t.test('a name, a body or a token that can’t be is refused, and nothing is made', async (t) => {
  const box = await startWith(t, { sandbox: { maxClients: 6 } })
  await create(box, { name: 'taken', access_token: 'my-token' })
  const before = await names(box)
  const noMobile = { user_id: ASHA, email: 'a@example.com' }
  const kyc = { ...noMobile, document_number: '999999999999' }
  const clients = ['default', 'b'].map((client, i) => CLIENT(client, i))
  const inPay = { rules: [{ when: { operation: 'pay' } }] }
  const invalid: [body: unknown, says?: RegExp][] = [
    [undefined],
    [[]],
    [{}, /name/],
    [{ name: '' }],
    [{ name: 'a', color: 'red' }, /color/],
    [{ name: 'a', scenario: 5 }],
    [{ name: 'a', fixtures: 'some' }, /default, empty/],
    [{ name: 'a', fixtures: [] }],
    [{ name: 'a', fixtures: { ghosts: [] } }, /ghosts/],
    [{ name: 'a', fixtures: { users: [noMobile] } }, /users\[0\].mobile/],
    [{ name: 'a', fixtures: { kyc: [kyc] } }],
    [{ name: 'a', fixtures: { clients } }, /one client/],
    [{ name: 'a', random_seed: -1 }],
    [{ name: 'a', random_seed: 1.5 }],
    [{ name: 'a', clock: 'noon' }, /frozen/],
    [{ name: 'a', clock_speed: 0 }],
    [{ name: 'a', scenarios: [] }],
    [{ name: 'a', scenarios: { 'My Own': {} } }],
    [{ name: 'a', scenarios: { mine: inPay } }, /scenarios\.mine\.rules\[0\]\.when\.operation/],
    [
      { name: 'a', scenarios: { mine: { extends: 'ghost' } } },
      /mine is invalid: there is no scenario/,
    ],
    [{ name: 'a', check_kyc: 'yes' }],
    [{ name: 'a', access_token: 'two words' }, /ASCII/],
    [{ name: 'a', access_token: '' }],
    [{ name: 'a', from: { client: '../x' } }],
    [{ name: 'a', from: 'taken' }],
    [{ name: 'a', from: { client: 'taken' }, fixtures: 'empty' }, /fork/],
  ]
  const refused: [body: unknown, status: number, error: string, says?: RegExp][] = [
    [{ name: 'a', scenario: 'no-such' }, 404, 'not_found', /no-such/],
    [{ name: 'a', scenario: 'ghost', scenarios: {} }, 404, 'not_found', /ghost/],
    [{ name: 'a', access_token: 'my-token' }, 409, 'token_in_use'],
    [{ name: 'a', access_token: 'sbx_b' }, 409, 'token_in_use'],
    [{ name: 'a', from: { client: 'ghost' } }, 404, 'not_found', /ghost/],
    [{ name: 'a', from: { client: 'taken', snapshot: 'none' } }, 404, 'not_found', /none/],
    [{ name: 'taken' }, 409, 'client_exists'],
    [{ name: 'default' }, 409, 'client_exists'],
  ]
  const check = async (body: unknown, status: number, error: string, says = /./) => {
    const answer = await box.post(CLIENTS, body)
    t.match([answer.status, answer.body.error, answer.text], [status, error, says])
    t.notMatch(answer.text, /my-token|999999999999/, 'no secret, no number')
  }
  for (const [body, says] of invalid) await check(body, 400, 'validation_failed', says)
  for (const row of refused) await check(...row)
  t.equal((await box.call('DELETE', `${CLIENTS}/default`)).body.error, 'default_client_required')
  t.same(await names(box), before)
  t.equal((await create(box, { name: 'b', access_token: 'sbx_b' })).status, 201)
  const tooMany = await create(box, { name: 'c' })
  t.match(tooMany.body, { code: 409, error: 'client_limit_reached' })
  await box.call('DELETE', `${CLIENTS}/b`)
  t.equal((await create(box, { name: 'c' })).status, 201)
})

const CLIENT = (client: string, i: number) => ({
  client,
  client_id: `c0000000-0000-4000-8000-00000000010${i}`,
  access_token: `inline-${i}`,
  name: client,
  email: `${client}@example.com`,
  created_at: '2025-01-01T00:00:00.000Z',
})

t.test('a fork is what its source is, and neither sees the other from then on', async (t) => {
  const box = await startWith(t, HONOURED)
  const { get, post, put, pay } = box
  const rule = await post('/__admin/rules', {
    name: 'pushed',
    when: { operation: 'listUsers' },
    then: { respond: { status: 503 } },
    times: 1,
  })
  t.equal(rule.status, 200, rule.text)
  await post('/__admin/clock/freeze', { at: '2026-03-04T05:06:07.000Z' })
  await post('/v1/user', { email: 'x@example.com', mobile: '9876500001' })
  await put('/__admin/scenario', { name: 'live-demo' })
  const paid = await pay({}, { 'idempotency-key': 'k' })
  const { transaction_id } = paid.body.data[0]

  const made = await create(box, { name: 'fork', from: { client: 'default' } })
  t.equal(made.status, 201)
  for (const path of [
    '/__admin/clock',
    '/__admin/timers',
    '/__admin/scenario',
    '/__admin/rules',
    `/v1/bank/${ROHAN}`,
    `/v1/kyc/${ASHA}`,
  ]) {
    const own = (await get(`/@fork${path}`)).text.replaceAll(
      made.body.client_id,
      box.sandbox.default.payouts.profile().client_id,
    )
    t.equal(own, (await get(path)).text, path)
  }
  const profile = (
    await get('/v1/client/profile', { authorization: `Bearer ${made.body.access_token}` })
  ).body.data
  t.equal(profile.client_id, made.body.client_id)
  t.not(profile.client_id, box.sandbox.default.payouts.profile().client_id)

  // The next call gives both the same ids: the random series goes along.
  t.equal((await get('/v1/users')).status, 503)
  t.equal((await get('/@fork/v1/users')).status, 503, 'a rule that acts once acts once for each')
  t.equal((await get('/@fork/v1/users')).status, 200)
  const user = { email: 'next@example.com', mobile: '9876500002' }
  const [mine, theirs] = [await post('/v1/user', user), await post('/@fork/v1/user', user)]
  t.equal(mine.body.data.user_id, theirs.body.data.user_id)

  await post('/@fork/__admin/clock/advance', { by: '1h' })
  const statusOf = async (base: string) =>
    (await get(`${base}/v1/transaction/${transaction_id}`)).body.data[0].transaction_status
  t.equal(await statusOf(''), 'pending')
  t.not(await statusOf('/@fork'), 'pending')
  await post('/@fork/v1/bank', {
    user_id: KABIR,
    account_number: '123456789012',
    ifsc_code: 'HDFC0000001',
  })
  t.equal((await get(`/v1/bank/${KABIR}`)).body.data.length, 0)
  const replayed = await post('/@fork/v1/transaction', PAYMENT, { 'idempotency-key': 'k' })
  t.equal(replayed.headers['idempotency-replayed'], 'true', 'kept answers go along')

  await post('/__admin/reset')
  t.equal((await get(`/@fork/v1/user/${mine.body.data.user_id}`)).status, 200)
  await box.call('DELETE', `${CLIENTS}/fork`)
  t.equal((await get(`/v1/user/${ASHA}`)).status, 200)
})

t.test('a fork has the start options of its source, or those it is given', async (t) => {
  const box = await startWith(t)
  const source = { name: 'source', scenario: 'kyc-failures', clock: '2030-01-01T00:00:00.000Z' }
  await create(box, { ...source, check_kyc: true, fixtures: 'empty' })
  await box.post('/@source/v1/user', { email: 'a@example.com', mobile: '9876500001' })
  await box.post('/@source/__admin/clock/advance', { by: '1d' })
  await create(box, { name: 'same', from: { client: 'source' } })
  await create(box, {
    name: 'other',
    from: { client: 'source' },
    scenario: 'default',
    clock: 'frozen',
    random_seed: 5,
    check_kyc: false,
  })
  await create(box, { name: 'second-fork', from: { client: 'second' } })
  const received = async (name: string) => {
    const { clients } = (await box.get(CLIENTS)).body
    const { check_kyc, scenario, now } = clients.find((one: { name: string }) => one.name === name)
    return [check_kyc, scenario, now, usersOf(box, name)]
  }
  t.same(await received('same'), [true, 'kyc-failures', '2030-01-02T00:00:00.000Z', 1])
  t.same(await received('other'), [false, 'default', '2026-01-01T00:00:00.000Z', 1])
  for (const name of ['same', 'other']) await box.post(`/@${name}/__admin/reset`)
  t.same(await received('same'), [true, 'kyc-failures', '2030-01-01T00:00:00.000Z', 0])
  t.same(await received('other'), [false, 'default', '2026-01-01T00:00:00.000Z', 0])
  const seconds = usersOf(box, 'second')
  t.not(seconds, 110)
  t.equal(usersOf(box, 'second-fork'), seconds)
  await box.post('/@second-fork/__admin/reset')
  t.equal(usersOf(box, 'second-fork'), seconds, 'back to the fixtures of its source')
  const user = { email: 'n@example.com', mobile: '9876500009' }
  const ids = []
  for (const name of ['same', 'other', 'source'])
    ids.push((await box.post(`/@${name}/v1/user`, user)).body.data?.user_id)
  t.not(ids[0], ids[1], 'another seed, another series')
})

t.test('a client has its own scenarios, and so has its fork, also after a restart', async (t) => {
  const dir = t.testdir({})
  let box = await onDisk(t, `${dir}/db.json`)
  const respond = (status: number) => ({
    when: { operation: 'listUsers' },
    then: { respond: { status } },
  })
  const scenarios = {
    mine: { extends: 'other' },
    other: { rules: [respond(503)] },
    slow: { rules: [respond(502)] },
  }
  t.equal((await create(box, { name: 'own', scenario: 'mine', scenarios })).status, 201)
  t.equal((await create(box, { name: 'fork', from: { client: 'own' } })).status, 201)
  const status = async (name: string) => (await box.get(`/@${name}/v1/users`)).status
  const use = (name: string, scenario: string) =>
    box.call('PUT', `/@${name}/__admin/scenario`, { name: scenario })
  for (const _ of ['before', 'after a restart']) {
    for (const name of ['own', 'fork']) {
      t.equal(await status(name), 503)
      t.equal((await use(name, 'slow')).status, 200)
      t.equal(await status(name), 502, 'its own one takes precedence')
      await box.post(`/@${name}/__admin/reset`)
    }
    t.equal((await use('default', 'mine')).status, 404)
    const { body } = await box.get('/@own/__admin/scenarios/other')
    t.match(body, { changed: false, rules: [{ line: Number }] })
    const listed = (await box.get('/@own/__admin/scenarios')).body.scenarios
    t.match(
      listed.find(({ name }: { name: string }) => name === 'mine'),
      { active: true },
    )
    await box.close()
    box = await onDisk(t, `${dir}/db.json`)
  }
})

t.test('a fork goes on from the time of its source at the speed it is given', async (t) => {
  const box = await startWith(t)
  await box.advance('1h')
  const clockOf = async (client: object) => {
    await create(box, { name: 'x', ...client })
    const { body } = await box.get('/@x/__admin/clock')
    await box.call('DELETE', `${CLIENTS}/x`)
    return body
  }
  t.match(await clockOf({ clock_speed: 60 }), { now: '2026-01-01T00:00:00.000Z', speed: 60 })
  const fork = { from: { client: 'default' }, clock_speed: 60 }
  t.match(await clockOf(fork), { now: '2026-01-01T01:00:00.000Z', mode: 'frozen', speed: 60 })
})

t.test('a client that is deleted while its time is moved is gone all the same', async (t) => {
  const box = await startWith(t)
  await create(box, { name: 'w' })
  const timers = heldTimers(box.sandbox.clients.get('w')!)
  const moving = box.post('/@w/__admin/clock/advance', { by: '1h' })
  await timers.running()
  await box.call('DELETE', `${CLIENTS}/w`)
  timers.settle()
  const answer = await moving
  t.match(answer.body, { error: 'not_found', message: 'The client w was deleted.' })
  t.notOk((await names(box)).includes('w'))
  await create(box, { name: 'w' })
  t.equal((await box.get('/@w/__admin/clock')).body.now, '2026-01-01T00:00:00.000Z')
})

t.test('an admin call that fails on a new base path makes no client', async (t) => {
  const file = join(t.testdir(), 'db.json')
  const box = await onDisk(t, file)
  const text = { 'content-type': 'text/plain' }
  const failing: [
    status: number,
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ][] = [
    [400, 'POST', 'clock/advance', {}],
    [400, 'POST', 'clock/advance', '{', { 'content-type': 'application/json' }],
    [400, 'POST', 'clock/freeze', { at: '0000-01-01T00:00:00Z' }],
    [400, 'GET', 'timers?limit=0'],
    [400, 'PUT', 'state', {}],
    [400, 'POST', 'rules', { when: 1 }],
    [404, 'PUT', 'scenario', { name: 'nope' }],
    [404, 'DELETE', 'rules/x'],
    [404, 'GET', 'snapshots/nope'],
    [404, 'POST', 'snapshots/nope/restore'],
    [404, 'POST', 'webhooks/deliveries/x/redeliver'],
    [408, 'POST', 'wait', { for: 'request', match: {}, timeout_ms: 1 }],
    [409, 'POST', 'clients', { name: 'default' }],
    [409, 'POST', 'requests/verify', { match: {}, exactly: 1 }],
    [415, 'POST', 'reset', 'all', text],
    [422, 'POST', 'clock/advance', { to: '2025-01-01T00:00:00Z' }],
  ]
  const before = await names(box)
  for (const [i, [status, method, path, body, headers]] of failing.entries()) {
    const url = `/@ghost-${i}/__admin/${path}`
    t.equal((await box.call(method, url, body, headers)).status, status, url)
    // Its token is free as well.
    const authorization = `Bearer sbx_ghost-${i}`
    t.equal((await box.get('/v1/users', { authorization })).status, 401, url)
  }
  t.same(await names(box), before)

  // What another call has met is not taken from it.
  const [waited] = await Promise.all([
    box.post('/@both/__admin/wait', { for: 'request', match: { method: 'PUT' }, timeout_ms: 20 }),
    box.get('/@both/v1/users'),
  ])
  t.equal(waited.status, 408)
  t.same(await names(box), [...before, 'both'])
  for (const path of ['clock', 'timers', 'rules'])
    t.equal((await box.get(`/@read-${path}/__admin/${path}`)).status, 200)
  await box.post('/@done/__admin/clock/next')
  t.equal((await box.call('DELETE', '/@done/__admin/rules/x')).status, 404)
  const all = await names(box)
  t.same(all, [...before, 'both', 'read-clock', 'read-timers', 'read-rules', 'done'])
  await box.close()
  t.same(await names(await onDisk(t, file)), all)
})
