// One caller, receiver or client never stops the others.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { Duplex } from 'node:stream'
import t, { type Test } from 'tap'
import { PAYMENT, start, until } from '../helper.ts'
import { manualTime } from '../manual-time.ts'
import { receiver, SECRET } from '../receiver.ts'

const FOR_OTHERS = '/@other'

/** A receiver that accepts and says nothing, and how many connections it has. */
async function hanging(t: Test) {
  const sockets = new Set<{ destroy(): void }>()
  const server = createServer((socket) => void sockets.add(socket.on('error', () => {})))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, sockets }
}

t.test('receivers that hang delay only their own clients', async (t) => {
  const { url, sockets } = await hanging(t)
  const good = await receiver(t)
  const webhooks = { allow: [], time: 'wall', retries: 'fast', deadlineMs: 60_000 } as const
  const box = await start(t, { sandbox: { webhooks } })
  await box.post(`${FOR_OTHERS}/v1/clientWebhook`, { url: good.url, webhook_secret: SECRET })
  const hung: Promise<unknown>[] = []
  for (let client = 0; client < 20; client++) {
    await box.post(`/@${client}/v1/clientWebhook`, { url, webhook_secret: SECRET })
    for (let i = 0; i < 10; i++)
      hung.push(box.post(`/@${client}/__admin/webhooks/trigger`, { event: 'webhook.test' }))
    hung.push(box.post(`/@${client}/__admin/clock/advance`, { by: '1h' }))
  }
  while (sockets.size < 64 + 20) await new Promise(setImmediate)
  for (let i = 0; i < 10; i++) await box.post(`${FOR_OTHERS}/v1/transaction`, PAYMENT)
  const moved = await box.post(`${FOR_OTHERS}/__admin/clock/advance`, { by: '1h' })
  t.equal(moved.status, 200)
  const sent = await box.post(`${FOR_OTHERS}/__admin/webhooks/trigger`, { event: 'webhook.test' })
  t.match(sent.body.deliveries, [{ status: 'delivered' }])
  t.equal(sockets.size, 64 + 20, 'of the 200 attempts')
  await box.close()
  await Promise.allSettled(hung)
})

const PATTERN = { path: { matches: 'x' } }
const when = { operation: '*', headers: { 'x-a': { matches: 'a' } } }
const rule = { when, then: { respond: { status: 503 } } }

t.test('a body has at most 20 patterns', async (t) => {
  const box = await start(t)
  const calls: [method: 'POST' | 'PUT', url: string, of: (count: number) => object][] = [
    ['POST', '/requests/verify', (count) => ({ sequence: Array(count).fill(PATTERN) })],
    ['PUT', '/scenario', (count) => ({ definition: { rules: Array(count).fill(rule) } })],
    [
      'POST',
      '/clients',
      (count) => ({
        name: `c-${count}`,
        scenarios: Object.fromEntries(
          Array.from({ length: count }, (_, i) => [`s-${i}`, { rules: [rule] }]),
        ),
      }),
    ],
  ]
  for (const [method, url, of] of calls) {
    const send = (count: number) => box.call(method, `/__admin${url}`, of(count))
    t.match((await send(21)).body, {
      error: 'validation_failed',
      errors: [{ field: 'body', code: 'too_big', message: /has 21 patterns .* maximum is 20/ }],
    })
    t.not((await send(20)).body.error, 'validation_failed', url)
  }
})

t.test('a search of a full log lets others run', async (t) => {
  const box = await start(t)
  const headers = { 'x-a': 'ab'.repeat(256) }
  for (let i = 0; i < 300; i++) await box.call('GET', '/v1/user/x', undefined, headers)
  const match = { headers: { 'x-a': { matches: 'a[ab]{40}(?:a?b?){14}c$' } } }
  const order: string[] = []
  await Promise.all([
    box.post('/__admin/requests/count', { match }).then(() => order.push('search')),
    ...Array.from({ length: 3 }, () => box.get('/__admin/health').then(() => order.push('health'))),
  ])
  t.equal(order.at(-1), 'search', order.join())
})

t.test('two exports run at a time, and nothing is made for a caller who has left', async (t) => {
  const box = await start(t)
  for (const path of ['/__admin/state', '/__admin/snapshots/s']) {
    await box.post('/__admin/snapshots', { name: 's' })
    const sent = await Promise.all(Array.from({ length: 3 }, () => box.get(path)))
    t.same(sent.map(({ status }) => status).sort(), [200, 200, 429], path)
    t.match(sent.find(({ status }) => status === 429)!.body, { error: 'too_many_exports' })
    t.equal((await box.get(path)).status, 200, 'later there is room again')
  }
})

/** Gives a client rules of 1 MB. */
async function fill({ post }: Awaited<ReturnType<typeof start>>) {
  const then = { respond: { status: 503, body: { x: 'x'.repeat(50_000) } } }
  for (let i = 0; i < 20; i++) await post('/__admin/rules', { when: { operation: '*' }, then })
}

t.test('a response that nobody reads ends after 30 s; for a slow reader it goes on', async (t) => {
  const { runtime, left, pass, waiting } = manualTime()
  const box = await start(t, { sandbox: { runtime } })
  await fill(box)
  function connection() {
    const peer = { read() {} }
    const socket = new Duplex({
      read() {},
      write(_chunk, _encoding, done) {
        peer.read = () => {
          peer.read = () => {}
          done()
        }
      },
    })
    box.app.server.emit('connection', socket)
    socket.push('GET /__admin/state HTTP/1.1\r\nHost: localhost\r\n\r\n')
    return { socket, peer }
  }
  const { socket: unread } = connection()
  await waiting(1)
  const { socket: slow, peer } = connection()
  await waiting(2)
  for (const [time, hasLeft] of [
    ['29s', false],
    ['2s', true],
    ['27s', true],
  ] as const) {
    pass(time)
    t.strictSame([unread.destroyed, slow.destroyed], [hasLeft, false], time)
    const status = hasLeft ? 200 : 429
    await until(async () => (await box.get('/__admin/state')).status === status)
    await until(() => {
      peer.read()
      return left().at(-1) === 30_000
    })
  }
  pass('31s')
  t.ok(slow.destroyed)
})

t.test('a message for a client that does not exist is 404, and makes none', async (t) => {
  const box = await start(t)
  const inbox = '/@nobody/__admin/webhooks/inbox'
  t.match(await box.post(inbox, {}), {
    status: 404,
    body: { error: 'not_found', message: /no inbox/ },
  })
  const { body } = await box.get('/__admin/clients')
  t.notMatch(JSON.stringify(body), 'nobody')
  await box.get('/@nobody/v1/users')
  t.equal((await box.post(inbox, {})).status, 200)
})

t.test('a sandbox closes within two seconds, whatever hangs', async (t) => {
  const box = await start(t)
  const { port } = await box.listen()
  await fill(box)
  // It asks for much, and reads nothing.
  const socket = connect(port, '127.0.0.1').pause()
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  socket.write('GET /__admin/rules HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(200))
  for (let turn = 0; turn < 1_000; turn++) await new Promise(setImmediate)
  const began = performance.now()
  await box.close()
  t.ok(performance.now() - began < 2_000)
})
