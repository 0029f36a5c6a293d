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
