import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { DeliveryRow } from '../../src/model/delivery.ts'
import { type StartOptions, start } from '../helper.ts'
import { receiver, SECRET, status } from '../receiver.ts'

type Started = Awaited<ReturnType<typeof start>>

/** A sandbox whose client has a webhook at this receiver. */
async function startWithWebhook(t: Test, url: string, options: StartOptions): Promise<Started> {
  const sandbox = await start(t, options)
  await sandbox.post('/v1/clientWebhook', { url, webhook_secret: SECRET })
  return sandbox
}

/** The deliveries of a sandbox, as `event status attempts`, oldest first. */
async function deliveriesOf({ get }: Started): Promise<string[]> {
  const { body } = await get('/__admin/webhooks/deliveries')
  return body.deliveries
    .map(
      (one: { event: string; status: string; attempts: unknown[] }) =>
        `${one.event} ${one.status} ${one.attempts.length}`,
    )
    .reverse()
}

t.test('webhook_delivery at_most_once: a restart repeats no attempt', async (t) => {
  const { url, types } = await receiver(t)
  const file = join(t.testdir({}), 'db.json')
  const options = { assume: { webhook_delivery: 'at_most_once' }, sandbox: { file } }
  const first = await startWithWebhook(t, url, options)
  await first.pay()
  const { tables } = first.sandbox.default
  const [row] = [...tables.tables.deliveries.rows()] as [DeliveryRow]
  // As a kill leaves it while the attempt is at the receiver.
  tables.change(() => tables.remove('timers', row.timer_id!))
  await first.close()
  const second = await start(t, options)
  await second.advance('1h')
  t.strictSame(types(), ['transaction.processing', 'transaction.success'])
  t.strictSame(await deliveriesOf(second), [
    'transaction.pending failed 0',
    'transaction.processing delivered 1',
    'transaction.success delivered 1',
  ])
})

t.test('webhook_delivery never: events are sent only on request, and once', async (t) => {
  const { url, types, respondWith } = await receiver(t)
  const sandbox = await startWithWebhook(t, url, { assume: { webhook_delivery: 'never' } })
  await sandbox.pay()
  await sandbox.advance('1h')
  t.strictSame(types(), [])
  const events = ['transaction.pending', 'transaction.processing', 'transaction.success']
  t.strictSame(
    (await deliveriesOf(sandbox)).sort(),
    events.map((event) => `${event} recorded 0`).sort(),
  )
  await sandbox.post('/__admin/webhooks/deliveries/rec_3/redeliver')
  t.strictSame(types(), ['transaction.success'])
  respondWith(status(500))
  await sandbox.post('/__admin/webhooks/trigger', { event: 'transaction.success' })
  await sandbox.advance('1d')
  t.strictSame(types(), ['transaction.success', 'transaction.success'])
})

t.test('webhook_order independent: a first attempt waits for the one before', async (t) => {
  const { url, types, respondWith } = await receiver(t)
  const sandbox = await startWithWebhook(t, url, { assume: {} })
  const answers: (() => void)[] = []
  const asked = new Promise<void>((resolve) =>
    respondWith((_, response) => {
      answers.push(() => response.writeHead(500).end())
      resolve()
    }),
  )
  await sandbox.pay()
  const advance = sandbox.advance('0s')
  await asked
  const { body } = await sandbox.get('/v1/transaction?limit=1')
  const id = body.data.transactions[0].transaction_id
  const simulated = sandbox.post(`/__admin/simulate/transactions/${id}`, { status: 'SUCCESS' })
  t.equal((await simulated).status, 200)
  t.strictSame(types(), ['transaction.pending'])
  const { body: before } = await sandbox.get(
    '/__admin/webhooks/deliveries?event=transaction.success',
  )
  t.equal(before.deliveries[0].next_attempt_at, null)
  respondWith(status(200))
  answers[0]!()
  await advance
  await sandbox.advance('0s')
  t.strictSame(types(), ['transaction.pending', 'transaction.success'])
})

/** Sends an event to a receiver and to the inbox; returns the headers of webhooks, and the verdict of the inbox. */
async function signedBy(t: Test, webhook_signature: string, fault?: object) {
  const { url, received } = await receiver(t)
  const sandbox = await startWithWebhook(t, url, { assume: { webhook_signature } })
  const rule = { when: { event: 'webhook.test' }, then: fault }
  const definition = { webhooks: fault ? [rule] : [] }
  t.equal((await sandbox.put('/__admin/scenario', { definition })).status, 200)
  const { body } = await sandbox.post('/__admin/webhooks/trigger', { event: 'webhook.test' })
  const [{ headers, body: sent }] = received as [(typeof received)[0]]
  const signature = createHmac('sha256', SECRET).update(sent).digest('hex')
  const names = Object.keys(headers).filter((name) => name.includes('webhook'))
  const { statusCode } = await sandbox.app.inject({
    method: 'POST',
    url: '/__admin/webhooks/inbox',
    headers: { ...headers, host: '127.0.0.1:4310' } as never,
    payload: sent,
  })
  t.equal(statusCode, 200)
  const { messages } = (await sandbox.get('/__admin/webhooks/inbox')).body
  return {
    names,
    isRight: headers['x-webhook-signature'] === signature,
    shown: Object.keys(body.deliveries[0].attempts[0].headers).filter((name) =>
      name.includes('webhook'),
    ),
    verdict: messages[0].code ?? 'genuine',
  }
}

t.test('webhook_signature: the headers sent and shown, and what the inbox says', async (t) => {
  const all = [
    'webhook-id',
    'webhook-timestamp',
    'webhook-signature',
    'x-webhook-signature',
    'x-webhook-attempt',
  ]
  t.strictSame(await signedBy(t, 'standard'), {
    names: all,
    shown: all,
    isRight: true,
    verdict: 'genuine',
  })
  const [, , , body, attempt] = all
  t.strictSame(await signedBy(t, 'hex_body'), {
    names: [body, attempt],
    shown: [body, attempt],
    isRight: true,
    verdict: 'genuine',
  })
  t.strictSame(await signedBy(t, 'none'), {
    names: [attempt],
    shown: [attempt],
    isRight: false,
    verdict: 'not_signed',
  })
})

t.test('webhook_signature hex_body: a scenario can sign wrongly, or not at all', async (t) => {
  t.match(await signedBy(t, 'hex_body', { signature: 'wrong' }), {
    names: ['x-webhook-signature', 'x-webhook-attempt'],
    isRight: false,
    verdict: 'no_match',
  })
  t.match(await signedBy(t, 'hex_body', { signature: 'missing' }), {
    names: ['x-webhook-attempt'],
    shown: ['x-webhook-attempt'],
    verdict: 'header_missing',
  })
})

t.test('second_webhook=replaced: the webhook has the new url and secret', async (t) => {
  const [one, two] = ['one', 'two'].map((name) => ({
    url: `http://127.0.0.1:9/${name}`,
    webhook_secret: name,
  }))
  const replaced = await start(t, { assume: { second_webhook: 'replaced' } })
  const first = (await replaced.post('/v1/clientWebhook', one)).body
  const second = await replaced.post('/v1/clientWebhook', two)
  t.equal(second.status, 200)
  const { webhook_id } = first.updatedWebhook.response.data
  t.match((await replaced.get('/v1/clientWebhook')).body.data, { webhook_id, url: two!.url })
  t.equal(replaced.sandbox.default.webhooks.get().webhook_secret, 'two')
})
