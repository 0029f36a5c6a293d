import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { start, until } from '../helper.ts'

// Some of these tests wait for real time, each with its own sandbox.
t.jobs = 8

const HEAD = 'POST /v1/user HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
const BODY = '{"email":"late@example.com","mobile":"9876500001"}'

async function listening(t: Test, requestMs?: number) {
  const box = await start(t, { app: { requestMs } })
  const { port } = await box.listen()
  const open = () =>
    new Promise<number>((resolve) =>
      box.app.server.getConnections((_error, count) => resolve(count)),
    )
  /** Waits until the server has `wanted` connections. */
  async function held(wanted: number): Promise<number> {
    await until(async () => (await open()) === wanted)
    return open()
  }
  return { box, port, held }
}

/** A peer that never closes its own side; what it reads grows in `text`. */
async function stubborn(t: Test, port: number, bytes: string) {
  const socket: Socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const peer = { socket, text: '' }
  socket.setEncoding('utf8').on('data', (chunk) => {
    peer.text += chunk
  })
  socket.on('error', () => {})
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  if (bytes) socket.write(bytes)
  return peer
}

t.test('a silent peer is disconnected, although it leaves its side open', async (t) => {
  const { box, port, held } = await listening(t, 300)
  const begun = ['', `${HEAD}A: `, `${HEAD}Content-Length: ${BODY.length}\r\n\r\n{`]
  const peers = await Promise.all(
    begun.flatMap((bytes) => [1, 2, 3].map(() => stubborn(t, port, bytes))),
  )
  t.equal(await held(9), 9)
  t.equal(await held(0), 0, 'no descriptor is left')
  for (const { text } of peers) {
    t.match(text, /^HTTP\/1\.1 408 Request Timeout\r\n/)
    t.equal(text.match(/HTTP\/1\.1/g)!.length, 1)
  }
  t.equal((await box.get('/__admin/health')).status, 200)
})

t.test('the rest of a late request is not executed', async (t) => {
  const { box, port, held } = await listening(t, 300)
  const peer = await stubborn(t, port, `${HEAD}Content-Length: ${BODY.length}\r\n\r\n${BODY[0]}`)
  await once(peer.socket, 'data')
  peer.socket.write(BODY.slice(1))
  t.equal(await held(0), 0)
  t.match(peer.text, /request_timeout/)
  t.notMatch((await box.get('/v1/users?limit=100')).text, 'late@example.com')
})

t.test('malformed HTTP gets a response, and its connection is closed', async (t) => {
  const { port, held } = await listening(t)
  const table: [bytes: string, status: string][] = [
    ['hello\r\n\r\n', '400 Bad Request'],
    [`${HEAD}A: ${'a'.repeat(200_000)}`, '431 Request Header Fields Too Large'],
    [`GET /${'a'.repeat(200_000)} HTTP/1.1\r\n`, '431 Request Header Fields Too Large'],
  ]
  for (const [bytes, status] of table) {
    const peer = await stubborn(t, port, bytes)
    await once(peer.socket, 'end')
    peer.socket.write('more of it')
    t.ok(peer.text.startsWith(`HTTP/1.1 ${status}\r\n`), `${status}: ${peer.text.slice(0, 40)}`)
    t.equal(await held(0), 0)
  }
})

/** The response to a whole request that is sent before the response is read, as simple clients do. */
function sendAll(port: number, head: string, body: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => {
      socket.pause()
      const start = Buffer.from(`${head}Connection: close\r\n\r\n`)
      socket.write(Buffer.concat([start, body]), () => socket.resume())
    })
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', reject).on('close', () => resolve(text))
  })
}

t.test('a client that sends a large body can read the error', async (t) => {
  const { port } = await listening(t)
  const sized = (head: string, bytes: number): [string, Buffer] => [
    `${head}Content-Length: ${bytes}\r\n`,
    Buffer.alloc(bytes, ' '),
  ]
  const chunk = `${(65_536).toString(16)}\r\n${' '.repeat(65_536)}\r\n`
  const chunks = Buffer.from(`${chunk.repeat(120)}0\r\n\r\n`)
  const table: [request: [head: string, body: Buffer], status: string][] = [
    [sized(HEAD, 1_100_000), '413 Payload Too Large'],
    [sized(HEAD, 8_000_000), '413 Payload Too Large'],
    [[`${HEAD}Transfer-Encoding: chunked\r\n`, chunks], '413 Payload Too Large'],
    [sized(HEAD.replace('application/json', 'text/csv'), 900_000), '415 Unsupported Media Type'],
    [sized(HEAD.replace('/v1/user', '/v1/nothing'), 900_000), '404 Not Found'],
    [sized(HEAD.replace('localhost', 'evil.example'), 8_000_000), '403 Forbidden'],
  ]
  for (const [[head, body], status] of table)
    for (let i = 0; i < 10; i++) {
      const text = await sendAll(port, head, body)
      t.equal(text.split('\r\n')[0], `HTTP/1.1 ${status}`, `${body.length} bytes`)
      t.match(text, '"error":')
    }
})

t.test('a body that never ends does not delay its error', async (t) => {
  const { port } = await listening(t)
  const peer = await stubborn(t, port, `${HEAD}Content-Length: 8000000\r\n\r\n{`)
  await once(peer.socket, 'data')
  t.match(peer.text, /^HTTP\/1\.1 413 /)
})
