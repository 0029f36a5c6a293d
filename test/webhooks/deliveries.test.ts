import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type StartOptions, start } from '../helper.ts'
import { receiver, SECRET, status } from '../receiver.ts'
import { faultyDisk } from '../store/faulty-disk.ts'

const DEADLINE_MS = 400
const quick = (more: object = {}): StartOptions => ({
  sandbox: {
    webhooks: { allow: [], time: 'wall', retries: 'fast', deadlineMs: DEADLINE_MS },
    ...more,
  },
})

/** A receiver that responds to each connection with the given bytes. */
async function rawReceiver(t: Test, answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => answer(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/`
}

t.test('a receiver that hangs costs an advance its deadline once', async (t) => {
  const url = await rawReceiver(t, () => {})
  const box = await start(t, quick())
  await box.post('/v1/clientWebhook', { url, webhook_secret: SECRET })
  for (let i = 0; i < 30; i++) await box.pay()
  const before = performance.now()
  await box.advance('0s')
  t.ok(performance.now() - before < 20 * DEADLINE_MS, 'thirty hang at the same time')
  const { body } = await box.get('/__admin/webhooks/deliveries?limit=100')
  t.equal(body.deliveries.length, 30)
  for (const { attempts } of body.deliveries)
    t.match(attempts, [{ error: { code: 'timeout_response' } }])
})

t.test('on a running clock a hanging receiver delays nothing else, nor a stop', async (t) => {
  const url = await rawReceiver(t, () => {})
  const box = await start(t, {
    begin: { clock: 'real', clockSpeed: 1_000 },
    sandbox: { webhooks: { allow: [], time: 'wall', retries: 'fast', deadlineMs: 60_000 } },
  })
  await box.post('/v1/clientWebhook', { url, webhook_secret: SECRET })
  const id = (await box.pay()).body.data[0].transaction_id
  for (;;) {
    const { body } = await box.get(`/v1/transaction/${id}`)
    if (body.data[0].transaction_status === 'success') break
    await new Promise(setImmediate)
  }
  const { body } = await box.get('/__admin/webhooks/deliveries')
  t.match(body.deliveries, [
    { event: 'transaction.success', status: 'pending', attempts: [] },
    { event: 'transaction.processing', status: 'pending' },
    { event: 'transaction.pending', status: 'pending' },
  ])
  const before = performance.now()
  await box.close()
  t.ok(performance.now() - before < 20_000, 'nor a stop')
})

t.test('what was being sent when the process ended is sent again after a restart', async (t) => {
  const hook = await receiver(t)
  const file = join(t.testdir(), 'db.json')
  const first = await start(t, { sandbox: { file } })
  await first.post('/v1/clientWebhook', { url: hook.url, webhook_secret: SECRET })
  const asked = new Promise<void>((resolve) => hook.respondWith(() => resolve()))
  await first.pay()
  const advance = first.advance('1s')
  await asked
  await first.close()
  await advance.catch(() => {})
  hook.respondWith(status(200))
  const second = await start(t, { sandbox: { file } })
  await second.advance('10s')
  const ids = hook.received.map(({ id }) => id)
  t.same(hook.types(), [
    'transaction.pending',
    'transaction.pending',
    'transaction.processing',
    'transaction.success',
  ])
  t.equal(ids[0], ids[1], 'under the same id')
  t.equal(hook.received[0]!.body, hook.received[1]!.body, 'with the same bytes')
  const { body } = await second.get('/__admin/webhooks/deliveries')
  t.ok(body.deliveries.every((one: { status: string }) => one.status === 'delivered'))
})

t.test('a result that the disk refuses is written later, and not sent again', async (t) => {
  const hook = await receiver(t)
  const { disk, state } = faultyDisk()
  const box = await start(t, { sandbox: { disk, file: join(t.testdir(), 'db.json') } })
  await box.post('/v1/clientWebhook', { url: hook.url, webhook_secret: SECRET })
  hook.respondWith((_, response) => {
    // From here on nothing can be written.
    state.fault = { from: 1, calls: Number.POSITIVE_INFINITY, errno: 'ENOSPC' }
    response.writeHead(204).end()
  })
  const { transaction_id } = (await box.pay()).body.data[0]
  await box.advance('0s')
  t.ok(state.failed.length > 0, 'the result was refused')
  const path = `/__admin/webhooks/deliveries?resource_id=${transaction_id}`
  t.match((await box.get(path)).body.deliveries, [{ status: 'pending', attempts: [] }])
  state.fault = undefined
  const { status } = await box.post('/__admin/wait', {
    for: 'delivery',
    match: { resource_id: transaction_id, status: 'delivered' },
    timeout_ms: 10_000,
  })
  t.equal(status, 200)
  t.match((await box.get(path)).body.deliveries, [{ attempts: [{ ok: true, status: 204 }] }])
  t.same(hook.types(), ['transaction.pending'])
})

t.test('an event whose change was rolled back is not published', async (t) => {
  const hook = await receiver(t)
  const box = await start(t)
  const { webhooks, tables, payouts } = box.sandbox.default
  await box.post('/v1/clientWebhook', { url: hook.url, webhook_secret: SECRET })
  const { row } = payouts.payments.get(
    (await box.get('/v1/transaction')).body.data.transactions[0].transaction_id,
  )
  t.throws(() =>
    tables.change(() => {
      webhooks.deliveries.publish('transaction.success', row.transaction_id)
      throw new Error('undone')
    }),
  )
  await box.advance('1h')
  t.same(hook.types(), [])
  t.same([...webhooks.deliveries.all()], [])
})

t.test('finished deliveries are kept up to 10,000, pending ones all', async (t) => {
  const box = await start(t)
  await box.post('/v1/clientWebhook', { url: 'http://127.0.0.1:1/', webhook_secret: SECRET })
  await box.put('/__admin/scenario', {
    definition: { webhooks: [{ when: { event: 'webhook.test' }, then: { drop: true } }] },
  })
  const { webhooks, tables } = box.sandbox.default
  const webhook = [...tables.tables.webhook.rows()][0]!.webhook_id
  await box.pay()
  tables.change(() => {
    for (let i = 0; i < 10_050; i++) webhooks.deliveries.publish('webhook.test', webhook)
  })
  const rows = [...webhooks.deliveries.all()]
  t.equal(rows.length, 10_001)
  t.equal(rows[0]!.event, 'transaction.pending', 'what is pending stays')
  t.equal([...tables.tables.events.rows()].length, 10_001)
})
