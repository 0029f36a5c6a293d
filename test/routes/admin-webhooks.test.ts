import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { EVENTS } from '../../src/scenarios/operations-and-events.ts'
import {
  AADHAAR,
  ASHA,
  GUARDED,
  PAN,
  pluck,
  ROHANS_ACCOUNT,
  type StartOptions,
  start,
} from '../helper.ts'
import { receiver, SECRET, status } from '../receiver.ts'

const LIFE = ['transaction.pending', 'transaction.processing', 'transaction.success']

/** A sandbox with a webhook that leads to a receiver. */
async function linked(t: Test, options: StartOptions = {}) {
  const hook = await receiver(t)
  const box = await start(t, { ...GUARDED, ...options })
  const made = await box.post('/v1/clientWebhook', { url: hook.url, webhook_secret: SECRET })
  t.equal(made.status, 200)
  const list = async (query = '') =>
    (await box.get(`/__admin/webhooks/deliveries${query}`)).body.deliveries
  return { hook, box, list }
}
const idOf = (answer: { body: { data: { transaction_id: string }[] } }) =>
  answer.body.data[0]!.transaction_id

t.test('each status of a payment is sent once, signed, in order, when it is time', async (t) => {
  const { hook, box, list } = await linked(t)
  const id = idOf(await box.pay())
  t.same(hook.types(), [], 'on a frozen clock nothing is sent before it is advanced')
  t.match(await list(), [{ event: LIFE[0], status: 'pending', attempts: [], resource_id: id }])
  const { body } = await box.advance('0s')
  t.same(hook.types(), LIFE.slice(0, 1), 'an advance by nothing runs what is due now')
  t.match(body.fired, [{ kind: 'webhook.attempt', event: LIFE[0], attempt: 1 }])
  await box.advance('10s')
  t.same(hook.types(), LIFE)
  t.ok(hook.received.every(({ verdict, resource }) => verdict.ok && resource === id))
  t.match(
    await list(),
    [...LIFE].reverse().map((event) => ({ event, status: 'delivered' })),
  )

  const [first, , last] = hook.received
  const event = new Webhook(SECRET).verify(last!.body, last!.headers as Record<string, string>)
  const shown = (await box.get(`/v1/transaction/${id}`)).body.data[0]
  const { history, ...data } = (event as { data: Record<string, unknown> }).data
  t.strictSame(data, shown, 'data is what GET shows')
  const records = (
    await box.get('/v1/transaction/history', { authorization: 'Bearer sbx_test_token' })
  ).body.data.transactions
  t.strictSame(history, records[0])
  t.match(event, {
    id: last!.id,
    type: LIFE[2],
    timestamp: '2026-01-01T00:00:03.000Z',
    client_id: shown.client_id,
  })
  t.match(first!.headers, {
    'content-type': 'application/json',
    'x-webhook-attempt': '1',
    'webhook-id': /^evt_[0-9a-f]{32}$/,
  })
  t.equal(new Set(hook.received.map((one) => one.id)).size, 3)
})

t.test('a new user is announced only to a client that subscribed to it', async (t) => {
  const { hook, box, list } = await linked(t)
  const user = { email: 'new@example.com', mobile: '9812300001' }
  const { user_id } = (await box.post('/v1/user', user)).body.data
  await box.advance('1h')
  t.same(hook.types(), [])
  t.same(await list(), [])
  await box.post('/__admin/webhooks/trigger', { event: 'user.created', resource_id: user_id })
  t.same(hook.types(), ['user.created'])
})

t.test('a failed attempt is made again after 1 s, 5 s, 30 s and 2 min', async (t) => {
  const { hook, box, list } = await linked(t)
  hook.respondWith(status(500))
  await box.post('/__admin/webhooks/trigger', { event: 'user.created' })
  await box.advance('1h')
  t.same(pluck(hook.received, 'attempt'), [1, 2, 3, 4, 5])
  t.equal(new Set(hook.received.map(({ id }) => id)).size, 1, 'one webhook-id')
  t.equal(new Set(hook.received.map(({ body }) => body)).size, 1, 'the same bytes')
  const [delivery] = await list()
  t.match(delivery, { status: 'failed', next_attempt_at: null })
  const times = pluck(delivery.attempts, 'at')
  t.same(
    times.map((at) => (Date.parse(at) - Date.UTC(2026, 0, 1)) / 1e3),
    [0, 1, 5, 30, 120],
  )
  t.match(delivery.attempts[0], { status: 500, ok: false, error: { code: 'status' } })
})

t.test('per_resource: later events of a resource wait for the earlier one', async (t) => {
  const { hook, box, list } = await linked(t, { assume: { webhook_order: 'per_resource' } })
  const [a, b] = [idOf(await box.pay()), idOf(await box.pay())]
  hook.respondWith((message, response) => {
    const fails = message.resource === a && message.attempt < 4
    response.writeHead(fails ? 503 : 200).end()
  })
  await box.advance('10s')
  const of = (id: string) =>
    hook.received.filter(({ resource }) => resource === id).map(({ type }) => type)
  t.same(of(a), [LIFE[0], LIFE[0], LIFE[0]])
  t.same(of(b), LIFE)
  t.match(await list(`?resource_id=${a}`), [
    { event: LIFE[2], status: 'pending', next_attempt_at: null },
    { event: LIFE[1], status: 'pending', next_attempt_at: null },
    { event: LIFE[0], status: 'pending', next_attempt_at: '2026-01-01T00:00:30.000Z' },
  ])
  hook.respondWith(status(200))
  await box.advance('20s')
  t.same(of(a).slice(3), LIFE)
  t.equal((await list('?status=pending')).length, 0)
})

t.test('events from before there was a webhook are recorded and not sent', async (t) => {
  const hook = await receiver(t)
  const box = await start(t)
  const id = idOf(await box.pay())
  await box.advance('3s')
  await box.post('/v1/clientWebhook', { url: hook.url, webhook_secret: SECRET })
  await box.advance('1h')
  t.same(hook.types(), [])
  const { body } = await box.get(`/__admin/webhooks/deliveries?resource_id=${id}`)
  t.match(
    body.deliveries,
    [...LIFE].reverse().map((event) => ({ event, status: 'recorded', event_id: null })),
  )
  const [{ delivery_id }] = body.deliveries
  const one = await box.get(`/__admin/webhooks/deliveries/${delivery_id}`)
  t.match(one.body, { delivery_id, body: null, created_at: '2026-01-01T00:00:03.000Z' })

  const sent = await box.post(`/__admin/webhooks/deliveries/${delivery_id}/redeliver`)
  t.match(sent.body, { status: 'delivered', event: LIFE[2] })
  t.same(hook.types(), [LIFE[2]], 'by hand it goes out')
})

t.test('deliveries are listed by status, event and resource, page by page', async (t) => {
  const { box, list } = await linked(t)
  const ids = [idOf(await box.pay()), idOf(await box.pay())]
  await box.advance('1s')
  t.equal((await list()).length, 4)
  t.equal((await list(`?resource_id=${ids[0]}`)).length, 2)
  t.equal((await list('?event=transaction.pending')).length, 2)
  t.equal((await list('?status=delivered&event=transaction.processing')).length, 2)
  t.equal((await list('?status=failed')).length, 0)
  const { body } = await box.get('/__admin/webhooks/deliveries?page=2&limit=3')
  t.match(body, { total: 4, page: 2, limit: 3, total_pages: 2 })
  t.equal(body.deliveries.length, 1)
  t.equal((await box.get('/__admin/webhooks/deliveries?status=lost')).status, 400)
  t.equal((await box.get('/__admin/webhooks/deliveries/dlv_none')).status, 404)
  t.equal((await box.post('/__admin/webhooks/deliveries/dlv_none/redeliver')).status, 404)
})

t.test(
  'a delivery shows its body and headers, but secret and signature only on request',
  async (t) => {
    const { hook, box, list } = await linked(t)
    // It repeats what was sent, as an application in debug mode does.
    hook.respondWith(({ headers }, response) => {
      const shown = {
        note: 'account 123456789012',
        SECRET,
        token: 'Bearer sbx_test_token',
        headers,
      }
      response.writeHead(500).end(JSON.stringify(shown))
    })
    await box.pay()
    await box.advance('0s')
    const [{ delivery_id }] = await list()
    const { body, text } = await box.get(`/__admin/webhooks/deliveries/${delivery_id}`)
    const [got] = hook.received
    t.equal(body.body, got!.body)
    const [attempt] = body.attempts
    t.match(attempt, {
      number: 1,
      url: hook.url,
      status: 500,
      response: /account XXXXXXXX9012.*webhook-id/,
      headers: {
        'webhook-id': got!.id,
        'webhook-timestamp': got!.headers['webhook-timestamp'],
        'webhook-signature': 'v1,XXXX v1,XXXX',
        'x-webhook-signature': 'XXXX',
      },
    })
    for (const secret of [SECRET, 'sbx_test_token']) t.notMatch(text, secret)
    for (const one of String(got!.headers['webhook-signature']).split(' '))
      t.notOk(text.includes(one.slice(3)))
    t.notOk(text.includes(String(got!.headers['x-webhook-signature'])))
    const shown = (await box.get(`/__admin/webhooks/deliveries/${delivery_id}?reveal=true`)).body
    t.match(got!.headers, shown.attempts[0].headers)
    t.equal(shown.secret, SECRET)
    t.same(pluck(await list('?tried=5xx'), 'delivery_id'), [delivery_id])
    t.same(await list('?tried=again'), [])
  },
)

t.test('redeliver sends once more, whatever became of it, without an advance', async (t) => {
  const { hook, box, list } = await linked(t)
  await box.pay()
  const [{ delivery_id }] = await list()
  const path = `/__admin/webhooks/deliveries/${delivery_id}/redeliver`
  hook.respondWith(status(500))
  t.match((await box.post(path)).body, { status: 'pending', attempts: [{ number: 1 }] })
  await box.advance('500ms')
  t.equal(hook.received.length, 1, 'a pending one was sent ahead of its time, not twice')
  hook.respondWith(status(200))
  await box.advance('1s')
  t.match((await list('?event=transaction.pending'))[0], { status: 'delivered' })
  const again = await box.post(path)
  t.match(again.body, { status: 'delivered', attempts: [{}, {}, { number: 3, ok: true }] })
  hook.respondWith(status(500))
  const failed = await box.post(path)
  t.match(failed.body, { status: 'delivered', next_attempt_at: null, attempts: { length: 4 } })
  const before = hook.received.length
  await box.advance('0s')
  t.equal(hook.received.length, before, 'a single attempt, no retries')
  t.equal(new Set(hook.received.filter(({ type }) => type === LIFE[0]).map((m) => m.body)).size, 1)
})

t.test('trigger fires every event about the newest or a named resource', async (t) => {
  const { hook, box } = await linked(t)
  for (const event of EVENTS) {
    const { status: code, body } = await box.post('/__admin/webhooks/trigger', { event })
    t.equal(code, 200, event)
    t.match(body.deliveries, [{ event, status: 'delivered', event_id: body.event_id }])
  }
  t.same(hook.types(), EVENTS)
  t.ok(hook.received.every(({ verdict }) => verdict.ok))
  hook.received.length = 0
  const named = { event: 'user.created', resource_id: ASHA }
  await box.post('/__admin/webhooks/trigger', {
    ...named,
    override: { email: 'other@example.com', extra: { deep: [1] } },
  })
  const { data } = JSON.parse(hook.received[0]!.body)
  const shown = (await box.get(`/v1/user/${ASHA}`)).body.data
  t.strictSame(data, { ...shown, email: 'other@example.com', extra: { deep: [1] } })

  await box.post('/__admin/webhooks/trigger', {
    event: 'transaction.success',
    override: { history: { status: 'ODD' } },
  })
  const { history } = JSON.parse(hook.received[1]!.body).data
  t.match(history, { status: 'ODD', client_id: String }, 'objects are merged')

  for (const [body, code] of [
    [{ event: 'user.created', resource_id: ROHANS_ACCOUNT }, 404],
    [{ event: 'user.deleted' }, 400],
    [{ event: 'user.created', resource_id: 'latest?' }, 400],
    [{}, 400],
  ] as const)
    t.equal((await box.post('/__admin/webhooks/trigger', body)).status, code, JSON.stringify(body))
  t.match(await box.post('/__admin/webhooks/trigger', { ...named, override: 5 }), {
    status: 400,
    body: { message: 'override must be an object; found 5.' },
  })
  t.equal(hook.received.length, 2)
})

t.test('410 ends the attempts, and Retry-After puts the next one off', async (t) => {
  const { hook, box, list } = await linked(t)
  hook.respondWith(status(429, { 'retry-after': '90' }))
  await box.post('/__admin/webhooks/trigger', { event: 'webhook.test' })
  t.match(await list(), [{ next_attempt_at: '2026-01-01T00:01:30.000Z' }])
  await box.advance('89s')
  t.equal(hook.received.length, 1)
  hook.respondWith(status(410))
  await box.advance('1s')
  t.match(await list(), [{ status: 'failed', attempts: [{}, { error: { code: 'gone' } }] }])
  await box.advance('1d')
  t.equal(hook.received.length, 2)
})

t.test('a changed webhook counts for the attempts that follow', async (t) => {
  const { hook, box } = await linked(t)
  const other = await receiver(t)
  hook.respondWith(status(500))
  await box.pay()
  await box.advance('0s')
  await box.put('/v1/clientWebhook', { url: other.url })
  await box.advance('10s')
  t.equal(hook.received.length, 1)
  t.same(other.types(), LIFE)
})

t.test('an attempt that is cancelled as a timer lets the next event go', async (t) => {
  const { hook, box, list } = await linked(t)
  await box.pay()
  const { body } = await box.get('/__admin/timers')
  const timer = body.timers.find(({ kind }: { kind: string }) => kind === 'webhook.attempt')
  await box.call('DELETE', `/__admin/timers/${timer.timer_id}`)
  await box.advance('10s')
  t.same(hook.types(), LIFE.slice(1))
  t.match(await list('?status=cancelled'), [{ event: LIFE[0], attempts: [] }])
})

t.test('a reset while an attempt runs does not mix its end into the new world', async (t) => {
  const { hook, box, list } = await linked(t)
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    hook.respondWith((_, response) => {
      release = () => response.writeHead(200).end()
      resolve()
    })
  })
  await box.pay()
  const advance = box.advance('1m')
  await held
  await box.post('/__admin/reset')
  await box.post('/v1/clientWebhook', { url: hook.url, webhook_secret: SECRET })
  hook.respondWith(status(500))
  await box.pay()
  release()
  await advance
  t.equal((await box.get('/__admin/clock')).body.now, '2026-01-01T00:00:00.000Z')
  const rows = await list()
  t.equal(rows.length, 1)
  t.equal(rows[0].status, 'pending', 'the late 200 was for another world')
  t.ok(rows[0].attempts.every((attempt: { status: number }) => attempt.status === 500))
})

t.test('KYC records and bank accounts send events too', async (t) => {
  const { hook, box } = await linked(t)
  await box.post('/v1/kyc', { user_id: ASHA, kyc: [PAN, AADHAAR] })
  const number = '123456789012'
  await box.post('/v1/bank', { user_id: ASHA, account_number: number, ifsc_code: 'HDFC0001234' })
  await box.advance('10s')
  t.same(hook.types().sort(), ['bank.success', 'kyc.pending', 'kyc.success', 'kyc.success'])
  const dataOf = (type: string) =>
    hook.received.filter((one) => one.type === type).map(({ body }) => JSON.parse(body).data)
  const { kycData } = (await box.get(`/v1/kyc/${ASHA}`)).body.data.response.data
  t.strictSame(new Set(dataOf('kyc.success')), new Set(kycData.slice(0, 2)))
  t.strictSame(dataOf('bank.success')[0], (await box.get(`/v1/bank/${ASHA}`)).body.data[0])
  for (const { body } of hook.received) t.notMatch(body, number, 'masked')
})

t.test('a trigger goes out at once, whatever of its resource is still to be sent', async (t) => {
  const { hook, box } = await linked(t)
  const resource_id = idOf(await box.pay())
  const { body } = await box.post('/__admin/webhooks/trigger', {
    event: 'transaction.success',
    resource_id,
  })
  t.same(hook.types(), ['transaction.success'])
  t.match(body.deliveries ?? [body], [{ status: 'delivered' }])
})
