import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { type StartOptions, start } from '../helper.ts'
import { receiver, SECRET, status } from '../receiver.ts'

const LIFE = ['transaction.pending', 'transaction.processing', 'transaction.success']

/** A sandbox with a webhook that leads to a receiver. */
async function linked(t: Test, options: StartOptions = {}) {
  const hook = await receiver(t)
  const box = await start(t, options)
  const made = await box.post('/v1/clientWebhook', { url: hook.url, webhook_secret: SECRET })
  t.equal(made.status, 200)
  const list = async (query = '') =>
    (await box.get(`/__admin/webhooks/deliveries${query}`)).body.deliveries
  return { hook, box, list }
}
const idOf = (answer: { body: { data: { transaction_id: string }[] } }) =>
  answer.body.data[0]!.transaction_id

t.test(
  'each status of a payment is sent once, signed, in order, when the clock gets there',
  async (t) => {
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
  },
)

t.test(
  'an attempt that fails is made again after 1 s, 5 s, 30 s and 2 min, then given up',
  async (t) => {
    const { hook, box, list } = await linked(t)
    hook.answer(status(500))
    await box.post('/__admin/webhooks/trigger', { event: 'user.created' })
    await box.advance('1h')
    t.same(
      hook.received.map(({ attempt }) => attempt),
      [1, 2, 3, 4, 5],
    )
    t.equal(new Set(hook.received.map(({ id }) => id)).size, 1, 'one webhook-id')
    t.equal(new Set(hook.received.map(({ body }) => body)).size, 1, 'the same bytes')
    const [delivery] = await list()
    t.match(delivery, { status: 'failed', next_attempt_at: null })
    t.same(
      delivery.attempts.map(
        ({ at }: { at: string }) => (Date.parse(at) - Date.UTC(2026, 0, 1)) / 1e3,
      ),
      [0, 1, 5, 30, 120],
    )
    t.match(delivery.attempts[0], { status: 500, ok: false, error: { code: 'status' } })
  },
)

t.test(
  'later events of a resource wait until the earlier one is through; others do not',
  async (t) => {
    const { hook, box, list } = await linked(t)
    const [a, b] = [idOf(await box.pay()), idOf(await box.pay())]
    hook.answer((message, response) => {
      const fails = message.resource === a && message.attempt < 4
      response.writeHead(fails ? 503 : 200).end()
    })
    await box.advance('10s')
    const of = (id: string) => hook.received.filter(({ resource }) => resource === id)
    t.same(
      of(a).map(({ type }) => type),
      [LIFE[0], LIFE[0], LIFE[0]],
    )
    t.same(
      of(b).map(({ type }) => type),
      LIFE,
    )
    t.match(await list(`?resource_id=${a}`), [
      { event: LIFE[2], status: 'pending', next_attempt_at: null },
      { event: LIFE[1], status: 'pending', next_attempt_at: null },
      { event: LIFE[0], status: 'pending', next_attempt_at: '2026-01-01T00:00:30.000Z' },
    ])
    hook.answer(status(200))
    await box.advance('20s')
    t.same(
      of(a)
        .slice(3)
        .map(({ type }) => type),
      LIFE,
    )
    t.equal((await list('?status=pending')).length, 0)
  },
)
