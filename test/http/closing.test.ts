import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { start } from '../helper.ts'

// Some of these tests wait for real time, each with its own sandbox.
t.jobs = 8

const HEAD = 'POST /v1/user HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
const BODY = '{"email":"late@example.com","mobile":"9876500001"}'
const MAX_MS = 8_000

async function listening(t: Test, requestMs?: number) {
  const box = await start(t, { app: { requestMs } })
  const { port } = await box.listen()
  const open = () =>
    new Promise<number>((resolve) =>
      box.app.server.getConnections((_error, count) => resolve(count)),
    )
  /** Waits until the server has `wanted` connections. */
  async function held(wanted: number): Promise<number> {
    const until = performance.now() + MAX_MS
    while ((await open()) !== wanted && performance.now() < until)
      await new Promise((resolve) => setTimeout(resolve, 20))
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

/** Sends a whole request before it reads the response, as simple clients do. */
function sendAll(port: number, head: string, body: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => {
      socket.pause()
      const length = `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n`
      socket.write(Buffer.concat([Buffer.from(head + length), body]), () => socket.resume())
    })
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', reject).on('close', () => resolve(text.split('\r\n')[0]!))
  })
}

t.test('a client that sends a large body can read the error', async (t) => {
  const { port } = await listening(t)
  const table: [head: string, bytes: number, line: string][] = [
    [HEAD, 1_100_000, 'HTTP/1.1 413 Payload Too Large'],
    [HEAD, 8_000_000, 'HTTP/1.1 413 Payload Too Large'],
    [HEAD.replace('application/json', 'text/csv'), 900_000, 'HTTP/1.1 415 Unsupported Media Type'],
    [HEAD.replace('/v1/user', '/v1/nothing'), 900_000, 'HTTP/1.1 404 Not Found'],
    [HEAD.replace('localhost', 'evil.example'), 8_000_000, 'HTTP/1.1 403 Forbidden'],
  ]
  for (const [head, bytes, line] of table) {
    const body = Buffer.alloc(bytes, ' ')
    for (let i = 0; i < 10; i++) t.equal(await sendAll(port, head, body), line, `${bytes} bytes`)
  }
})

t.test('a client that sends a large body in chunks can read the error', async (t) => {
  const { port } = await listening(t)
  const chunk = Buffer.alloc(65_536, ' ')
  const size = Buffer.from(`${chunk.length.toString(16)}\r\n`)
  const end = Buffer.from('\r\n')
  const pieces = Array.from({ length: 120 }, () => [size, chunk, end]).flat()
  const body = Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')])
  for (let i = 0; i < 10; i++) {
    const text = await new Promise<string>((resolve, reject) => {
      let found = ''
      const socket = connect(port, '127.0.0.1', () => {
        socket.pause()
        const head = `${HEAD}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n`
        socket.write(Buffer.concat([Buffer.from(head), body]), () => socket.resume())
      })
      socket.setEncoding('utf8').on('data', (data) => {
        found += data
      })
      socket.on('error', reject).on('close', () => resolve(found))
    })
    t.match(text, /^HTTP\/1\.1 413 /)
    t.match(text, 'payload_too_large')
  }
})

t.test('a body that never ends does not delay its error', async (t) => {
  const { port } = await listening(t)
  const peer = await stubborn(t, port, `${HEAD}Content-Length: 8000000\r\n\r\n{`)
  await once(peer.socket, 'data')
  t.match(peer.text, /^HTTP\/1\.1 413 /)
})
