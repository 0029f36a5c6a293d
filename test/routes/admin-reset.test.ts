import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createLog, HONOURED, start, TOKEN } from '../helper.ts'

type Box = Awaited<ReturnType<typeof start>>
const USER = { email: 'nila@example.com', mobile: '9876500001' }
const KEY = { 'idempotency-key': 'k' }

/** Changes every part of a client's world; a payment of the default client stays pending. */
async function disturb({ post, put, pay }: Box, base = '') {
  await post(`${base}/v1/user`, USER, KEY)
  await post(`${base}/v1/clientWebhook`, { url: 'http://127.0.0.1:1/', webhook_secret: 's' })
  await put(`${base}/__admin/scenario`, { name: 'pending-transactions' })
  await post(`${base}/__admin/rules`, {
    when: { operation: 'getUser' },
    then: { respond: { status: 418 } },
  })
  await post(`${base}/__admin/clock/advance`, { by: '1h' })
  if (base === '') await pay()
}

/** What each part of a world looks like. */
async function look({ get }: Box, base = '') {
  const clock = (await get(`${base}/__admin/clock`)).body
  const scenario = (await get(`${base}/__admin/scenario`)).body
  return {
    data: [
      (await get(`${base}/v1/users`)).text,
      (await get(`${base}/v1/transaction`)).text,
      (await get(`${base}/v1/clientWebhook`)).status,
    ],
    clock: [clock.now, clock.mode, clock.speed],
    scenario: [scenario.name, (await get(`${base}/__admin/rules`)).body],
  }
}

t.test('the named parts are reset, and no other with them', async (t) => {
  const all = ['data', 'clock', 'scenario', 'assumptions', 'deliveries', 'requests']
  for (const parts of [['data'], ['clock'], ['scenario'], ['clock', 'scenario'], undefined]) {
    const box = await start(t)
    const before = await look(box)
    await disturb(box)
    await box.post('/__admin/clock/speed', { factor: 7 })
    await box.post('/__admin/clock/freeze')
    const expected = await look(box)
    for (const name of ['data', 'clock', 'scenario'] as const) {
      t.notSame(expected[name], before[name], `${name} was changed`)
      if (!parts || parts.includes(name)) Object.assign(expected, { [name]: before[name] })
    }
    const answer = await box.post('/__admin/reset', parts && { parts })
    t.strictSame(answer.body, { reset: ['default'], parts: parts ?? all })
    t.strictSame(await look(box), expected, `${parts}`)
  }
  const { post, put } = await start(t)
  t.equal((await post('/__admin/reset', { parts: all })).status, 200)
  const tooMany = { parts: [...all, 'clock'] }
  const wrong = [{ parts: [] }, { parts: ['users'] }, { all: 'yes' }, { parts: 'data' }, tooMany]
  for (const bad of wrong)
    t.equal((await post('/__admin/reset', bad)).status, 400, JSON.stringify(bad))
  const names = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`none_${i}`, 'x']))
  const { body } = await put('/__admin/assumptions', names)
  t.equal(body.errors.length, 20, 'of many wrong readings, the first')
})

t.test('a reset of the data forgets keys, webhook and what was to happen', async (t) => {
  const box = await start(t, HONOURED)
  await disturb(box)
  await box.put('/__admin/scenario', { name: 'default' })
  await box.pay()
  t.ok((await box.get('/__admin/clock')).body.pending_timers > 0)
  await box.post('/__admin/reset', { parts: ['data'] })
  t.equal((await box.get('/__admin/clock')).body.pending_timers, 0)
  const again = await box.post('/v1/user', USER, KEY)
  t.equal(again.status, 201)
  t.notOk('idempotency-replayed' in again.headers)
})

t.test('one client is reset and its neighbour is not, unless all are', async (t) => {
  const box = await start(t)
  const before = await look(box)
  const fresh = await look(box, '/@w')
  await disturb(box)
  await disturb(box, '/@w')
  const changed = await look(box)
  t.strictSame((await box.post('/@w/__admin/reset')).body.reset, ['w'])
  t.strictSame(await look(box, '/@w'), fresh)
  t.strictSame(await look(box), changed)

  await disturb(box, '/@w')
  const { body } = await box.post('/__admin/reset', { all: true })
  t.strictSame(body, {
    reset: ['default', 'second', 'kyc-checked', 'inactive', 'w'],
    parts: ['data', 'clock', 'scenario', 'assumptions', 'deliveries', 'requests'],
  })
  t.strictSame(await look(box), before)
  t.strictSame(await look(box, '/@w'), fresh)
  const token = { authorization: 'Bearer sbx_w' }
  t.equal((await box.get('/v1/users', token)).status, 200, 'its token is what it was')
})

t.test('a reset of all clients is one change: all of them or none', async (t) => {
  const file = join(t.testdir(), 'db.json')
  const box = await start(t, { sandbox: { file } })
  await disturb(box)
  await disturb(box, '/@w')
  const both = async () => [await look(box), await look(box, '/@w')]
  const changed = await both()
  const { timeline } = box.sandbox.clients.get('w')!.scenarios
  const { restart } = timeline
  timeline.restart = () => {
    throw new Error('the last client fails')
  }
  t.equal((await box.post('/__admin/reset', { all: true })).status, 500)
  t.strictSame(await both(), changed, 'the first was not reset either')
  t.equal((await box.get('/__admin/clock')).body.now, '2026-01-01T01:00:00.000Z')

  timeline.restart = restart
  const lines = () => readFileSync(`${file}.journal`, 'utf8').split('\n').length
  const written = lines()
  t.equal((await box.post('/__admin/reset', { all: true })).status, 200)
  t.equal(lines(), written + 1, 'one line says it all')
  t.notSame(await both(), changed)
})

t.test('a reset to changed fixtures takes their client id and token', async (t) => {
  const file = join(t.testdir(), 'db.json')
  const client = {
    client: 'default',
    client_id: 'c0000000-0000-4000-8000-0000000000ff',
    access_token: 'changed',
    name: 'Changed',
    email: 'changed@example.com',
    created_at: '2026-01-01T00:00:00.000Z',
  }
  const before = await start(t, { sandbox: { file } })
  const old = (await before.get('/v1/client/profile', TOKEN)).body.data
  await before.post('/v1/user', USER)
  await before.post('/__admin/snapshots', { name: 'old' })
  await before.close()

  const log = createLog()
  const box = await start(t, { sandbox: { file, log }, fixtures: { clients: [client] } })
  t.match(
    log.lines.join(),
    /comes from .*db\.json and was created from other fixtures.*reset --all/,
  )
  t.equal((await box.get('/v1/users')).body.data.users[0].client_id, old.client_id)
  await box.post('/__admin/reset')
  t.equal((await box.get('/v1/users')).body.data.total_users, 0)
  t.equal((await box.post('/v1/user', USER)).body.data.client_id, client.client_id)
  const changed = { authorization: 'Bearer changed' }
  t.equal((await box.get('/v1/client/profile', changed)).body.data.client_id, client.client_id)
  t.equal((await box.get('/v1/users', TOKEN)).status, 401, 'the old token belongs to nobody')

  await box.post('/__admin/snapshots/old/restore')
  t.equal((await box.get('/v1/users')).body.data.users[0].client_id, old.client_id)
  t.equal((await box.get('/v1/client/profile', TOKEN)).body.data.client_id, old.client_id)
  t.equal((await box.get('/v1/users', changed)).status, 401)
})

t.test('a data file made from the same fixtures is no matter of note', async (t) => {
  const file = join(t.testdir(), 'db.json')
  const first = await start(t, { sandbox: { file } })
  await first.post('/__admin/clients', { name: 'own', fixtures: 'empty' })
  await first.post('/__admin/clients', { name: 'fork', from: { client: 'own' } })
  await first.get('/@named/v1/users')
  await first.put('/__admin/state', (await first.get('/__admin/state')).body)
  await first.close()
  const log = createLog()
  await start(t, { sandbox: { file, log } })
  t.notMatch(log.lines.join(), /other fixtures/)
})

t.test('a call that resets or moves time refuses a field that it does not know', async (t) => {
  const box = await start(t)
  await box.pay()
  await box.post('/__admin/snapshots', { name: 'kept' })
  const before = (await box.get('/__admin/state')).text
  const [{ timer_id }] = (await box.get('/__admin/timers')).body.timers
  const unknown: [path: string, body: object][] = [
    ['reset', { part: ['requests'] }],
    ['clock/next', { by: '1s' }],
    ['clock/freeze', { to: '2026-01-01T00:00:01Z' }],
    ['clock/resume', { at: '2026-01-01T00:00:01Z' }],
    ['clock/speed', { factor: 2, at: '2026-01-01T00:00:01Z' }],
    ['clock/advance', { by: '1s', speed: 2 }],
    [`timers/${timer_id}/fire`, { at: '2026-01-01T00:00:01Z' }],
    ['snapshots/kept/restore', { name: 'other' }],
    ['webhooks/deliveries/x/redeliver', { times: 2 }],
  ]
  for (const [path, body] of unknown) {
    const answer = await box.post(`/__admin/${path}`, body)
    t.match(
      answer,
      { status: 400, body: { errors: [{ field: /^(?!body$)/, code: 'unrecognized_keys' }] } },
      path,
    )
    t.match(answer.body.message, `${Object.keys(body).at(-1)} is an unknown field`)
  }
  t.equal((await box.get('/__admin/state')).text, before)
  for (const body of [undefined, {}])
    t.equal((await box.post('/__admin/clock/next', body)).status, 200)
  t.equal((await box.post('/__admin/clock/next', [1])).status, 400)
})
