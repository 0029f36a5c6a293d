import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { ASHA, createLog, GUARDED, pluck, start, until } from '../helper.ts'
import { manualTime } from '../manual-time.ts'

/** A sandbox behind a port, and a connection that sends bytes and reads what comes back. */
async function connected(t: Test, more: Parameters<typeof start>[1] = {}) {
  const box = await start(t, { ...GUARDED, ...more })
  const { port } = await box.listen()
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  const read = { text: '' }
  socket.setEncoding('utf8').on('data', (chunk) => {
    read.text += chunk
  })
  socket.on('error', () => {})
  const statuses = () => [...read.text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => +status!)
  /** A call of another connection. */
  const health = async () => (await fetch(`http://127.0.0.1:${port}/__admin/health`)).status
  return { ...box, port, socket, read, statuses, health }
}

const GET = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
const POST = (path: string, value: object) => {
  const body = JSON.stringify(value)
  const head = `Host: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`
  return `POST ${path} HTTP/1.1\r\n${head}\r\n\r\n${body}`
}
const user = (i: number, more: object = {}) =>
  POST('/v1/user', { email: `u${i}@example.com`, mobile: String(9_876_500_000 + i), ...more })

t.test('pipelined calls are answered in their order, with bodies of any size', async (t) => {
  const { socket, read, statuses, get } = await connected(t)
  const calls = Array.from({ length: 200 }, (_, i) => {
    if (i % 3 === 0) return user(i, i % 30 === 0 ? { pad: 'x'.repeat(200_000) } : {})
    return GET(i % 3 === 1 ? '/v1/users?limit=1' : '/__admin/clock')
  })
  for (const round of [1, 2]) {
    read.text = ''
    socket.write(calls.join(''))
    await until(() => statuses().length === calls.length)
    const wanted = calls.map((_, i) => (i % 3 > 0 ? 200 : round === 1 ? 201 : 409))
    t.strictSame(statuses(), wanted, `round ${round} in one connection`)
  }
  const { requests } = (await get('/__admin/requests?limit=4')).body
  t.strictSame(
    pluck(requests, 'operation'),
    ['listUsers', 'createUser', 'listUsers', 'createUser'],
    'they were handled in this order, too',
  )
})

t.test('who sends and reads nothing takes no time of others', async (t) => {
  const { socket, health, sandbox } = await connected(t)
  const { requests } = sandbox.default
  socket.pause()
  const count = 900
  socket.write(GET('/v1/users?limit=100').repeat(count))
  await until(() => requests.count > 0)
  for (let i = 0; i < 20; i++) t.equal(await health(), 200)
  // The buffers of the two sockets have room for some responses.
  let before = -1
  await until(async () => {
    const isSame = before === requests.count
    before = requests.count
    await health()
    return isSame
  })
  t.ok(requests.count < count, `${requests.count} of ${count} calls had a response`)
  socket.destroy()
  for (let i = 0; i < 20; i++) await health()
  t.ok(requests.count <= before + 1, 'the rest is dropped with its connection')
})

t.test('a call that waits is dropped when its caller is gone', async (t) => {
  const time = manualTime()
  const { socket, post, get, sandbox, health } = await connected(t, {
    sandbox: { runtime: time.runtime },
  })
  await post('/__admin/rules', { when: { operation: 'getUser' }, then: { delay: '1h' } })
  socket.write(GET(`/v1/user/${ASHA}`) + user(1) + user(2))
  await time.waiting()
  socket.destroy()
  await until(() => sandbox.default.requests.count === 1)
  for (let i = 0; i < 10; i++) await health()
  t.match((await get('/__admin/requests')).body, { total: 1, requests: [{ status: null }] })
  t.equal((await get('/__admin/users?search=u1@example.com')).body.total, 0)
})

t.test('a call behind one that hangs waits, and neither holds up a stop', async (t) => {
  const { socket, post, statuses, sandbox, health, close } = await connected(t)
  await post('/__admin/rules', { when: { operation: 'getUser' }, then: { fault: 'hang' } })
  socket.write(GET('/v1/users') + GET(`/v1/user/${ASHA}`) + user(1))
  await until(() => sandbox.default.requests.count === 2)
  for (let i = 0; i < 10; i++) await health()
  t.strictSame(statuses(), [200])
  const closed = once(socket, 'close')
  await close()
  await closed
  t.strictSame(statuses(), [200])
})

t.test('a response that closes the connection is the last one', async (t) => {
  const { socket, statuses, sandbox } = await connected(t)
  const last = GET('/v1/users').replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')
  socket.write(GET('/v1/users') + last)
  await once(socket, 'close')
  t.strictSame(statuses(), [200, 200])
  t.equal(sandbox.default.requests.count, 2)
})

t.test('more calls than may wait close their connection, and the log says why', async (t) => {
  const time = manualTime()
  const log = createLog()
  const { socket, post, health } = await connected(t, { sandbox: { runtime: time.runtime, log } })
  await post('/__admin/rules', { when: { operation: 'getUser' }, then: { delay: '1h' } })
  const closed = once(socket, 'close')
  socket.write(GET(`/v1/user/${ASHA}`) + GET('/v1/users').repeat(1_500))
  await closed
  t.match(log.lines, [/1000 of its pipelined requests were waiting/])
  t.equal(await health(), 200)
})
