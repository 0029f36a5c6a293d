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

t.test('webhook_delivery at_most_once: a failed attempt is the only one', async (t) => {
  const { url, types } = await receiver(t, status(500))
  const sandbox = await startWithWebhook(t, url, { assume: { webhook_delivery: 'at_most_once' } })
  await sandbox.pay()
  await sandbox.advance('1d')
  const events = ['transaction.pending', 'transaction.processing', 'transaction.success']
  t.strictSame(types(), events)
  t.strictSame(
    await deliveriesOf(sandbox),
    events.map((event) => `${event} failed 1`),
  )
})

t.test(
  'webhook_delivery at_most_once: a restart does not repeat an attempt without a result',
  async (t) => {
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
  },
)

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

/** Sends the events of a payment to a receiver that rejects the first attempt of the first one. */
async function eventsAfterOneFailure(t: Test, webhook_order: string) {
  const { url, types } = await receiver(t, (_, response, count) =>
    response.writeHead(count === 1 ? 500 : 200).end(),
  )
  const sandbox = await startWithWebhook(t, url, { assume: { webhook_order } })
  const path = `/__admin/simulate/transactions/${(await sandbox.pay()).body.data[0].transaction_id}`
  for (const status of ['PROCESSING', 'SUCCESS']) await sandbox.post(path, { status })
  await sandbox.advance('10s')
  return types()
}

t.test('webhook_order: the retry of a failed event arrives late, or the others wait', async (t) => {
  t.strictSame(await eventsAfterOneFailure(t, 'independent'), [
    'transaction.pending',
    'transaction.processing',
    'transaction.success',
    'transaction.pending',
  ])
  t.strictSame(await eventsAfterOneFailure(t, 'per_resource'), [
    'transaction.pending',
    'transaction.pending',
    'transaction.processing',
    'transaction.success',
  ])
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

t.test(
  'webhook_order independent: an event that a scenario holds waits for the late one',
  async (t) => {
    const { url, types, respondWith } = await receiver(t)
    const sandbox = await startWithWebhook(t, url, { assume: {} })
    await sandbox.put('/__admin/scenario', {
      definition: {
        webhooks: [
          {
            when: { event: 'transaction.pending' },
            then: { hold_until: 'transaction.processing' },
          },
        ],
      },
    })
    respondWith(({ type, attempt }, response) =>
      response.writeHead(type === 'transaction.processing' && attempt < 3 ? 500 : 200).end(),
    )
    await sandbox.pay()
    await sandbox.advance('20s')
    t.strictSame(types(), [
      'transaction.processing',
      'transaction.processing',
      'transaction.success',
      'transaction.processing',
      'transaction.pending',
    ])
  },
)
