/** What load balancers, proxies, clusters and wrong settings send, as bytes on a socket. */
import t from 'tap'
import { ALIASES } from '../../src/http/guards.ts'
import { optionsOf, startServer } from '../../src/server.ts'
import { createLog, HONOURED, PAYMENT, start } from '../helper.ts'
import { exchange as send } from '../listening.ts'

const statusOf = (response: string) => Number(response.slice(9, 12))

t.test('HTTP/1.0 without Host asks for health and readiness, and for nothing else', async (t) => {
  const { port } = await (await start(t)).listen()
  const statuses = async (path: string) =>
    Promise.all(
      ['1.0', '1.0\r\nHost:', '1.1', '1.1\r\nHost:'].map(async (version) =>
        statusOf(await send(port, `GET ${path} HTTP/${version}\r\nConnection: close\r\n\r\n`)),
      ),
    )
  for (const path of ['/__admin/health', '/__admin/ready'])
    t.strictSame(await statuses(path), [200, 200, 400, 400], path)
  for (const path of ['/v1/users', '/__admin/clock', '/', '/openapi.json'])
    t.strictSame(await statuses(path), [400, 400, 400, 400], path)
})

t.test('a request target in absolute form is answered, if its host is that of Host', async (t) => {
  const { port } = await (await start(t)).listen()
  for (const [target, host, status] of [
    ['http://localhost:4310/v1/users?limit=1', 'localhost:4310', 200],
    ['HTTP://LOCALHOST/v1/users', 'localhost', 200],
    ['http://localhost/@w/__admin/clock', 'localhost', 200],
    ['http://localhost', 'localhost', 200],
    ['http://localhost?x=1', 'localhost', 200],
    ['http://127.0.0.1:4310/v1/users', 'localhost:4310', 404],
    ['http://evil.example/v1/users', 'localhost', 404],
    ['http://evil.example/v1/users', 'evil.example', 403],
    ['http://a@localhost/v1/users', 'localhost', 404],
    ['https://localhost/v1/users', 'localhost', 404],
  ] as const) {
    const bytes = `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
    t.equal(statusOf(await send(port, bytes)), status, `${target} of ${host}`)
  }
})

t.test('a header that has one value is refused with two, and equal ones are one', async (t) => {
  const { listen, get } = await start(t, HONOURED)
  const { port } = await listen()
  const body = JSON.stringify(PAYMENT)
  const values = {
    authorization: ['Bearer sbx_test_token', 'Bearer other'],
    'content-type': ['application/json', 'text/plain'],
    'idempotency-key': ['a', 'b'],
    'last-event-id': ['1', '2'],
    origin: ['http://localhost', 'http://evil.example'],
    'sec-fetch-site': ['same-origin', 'cross-site'],
    'x-admin-token': ['a', 'b'],
    'x-sandbox-scenario': ['default', 'slow'],
  }
  const { total } = (await get('/v1/transaction')).body.data
  for (const [name, [one, other]] of Object.entries(values)) {
    const pay = (...sent: (string | undefined)[]) => {
      const more = sent.map((value) => `${name}: ${value}\r\n`).join('')
      const type = name === 'content-type' ? '' : 'Content-Type: application/json\r\n'
      return send(
        port,
        `POST /v1/transaction HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${type}${more}Content-Length: ${body.length}\r\n\r\n${body}`,
      )
    }
    for (const response of [await pay(one, other), await pay(other, one)]) {
      t.equal(statusOf(response), 400, name)
      t.match(response, `The request has the header ${name} 2 times. Send it once.`)
    }
    t.equal(statusOf(await pay(one, one)), 200, `${name} twice the same`)
    if (name === 'idempotency-key') t.match(await pay(one), /idempotency-replayed: true/)
  }
  t.equal((await get('/v1/transaction')).body.data.total, total)
})

t.test('a container reaches the sandbox by the names of its host', async (t) => {
  const { get } = await start(t)
  for (const name of [...ALIASES, 'localhost.', 'api.localhost.']) {
    t.equal((await get('/v1/users', { host: `${name}:4310` })).status, 200, name)
    t.equal((await get('/v1/users', { host: `${name}.evil.example` })).status, 403)
  }
})

t.test('TLS and HTTP/2 are in the log, each once, and in the response', async (t) => {
  const log = createLog()
  const { port } = await (await start(t, { app: { log } })).listen()
  const hello = Buffer.from('16030100c8010000c40303', 'hex')
  const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
  for (let i = 0; i < 2; i++) {
    t.match(await send(port, hello), /^HTTP\/1\.1 400 .*Use http:\/\/ and not https/s)
    t.match(await send(port, preface), /^HTTP\/1\.1 400 .*Use HTTP\/1\.1/s)
    t.match(await send(port, 'hello\r\n\r\n'), /not well-formed HTTP/)
  }
  t.strictSame(log.lines, [
    'A client spoke TLS to this port. Use http:// and not https://.',
    'A client spoke HTTP/2 to this port. Use HTTP/1.1.',
  ])
})

t.test('several origins may call, and each can read every error', async (t) => {
  const [one, other] = ['http://localhost:3000', 'http://localhost:5173']
  const { get, call, listen } = await start(t, { app: { cors: [one, other], explain: true } })
  const { port } = await listen()
  for (const origin of [one, other]) {
    for (const [method, url, status, allow] of [
      ['GET', '/v1/users', 200],
      ['GET', '/v1/user/x', 400],
      ['GET', '/v1/nope', 404],
      ['GET', '/v1', 404],
      ['OPTIONS', '/v1/nope', 404],
      ['OPTIONS', '/@w/v1/user', 405, 'POST'],
      ['DELETE', '/v1/users', 405, 'GET, HEAD'],
    ] as const) {
      const answer = await call(method, url, undefined, { origin })
      t.match(answer, { status }, `${method} ${url}`)
      t.match(answer.headers, { 'access-control-allow-origin': origin, vary: /Origin/ })
      const exposed = 'Idempotency-Replayed, Retry-After, X-Sandbox-Client, X-Sandbox-Rule'
      t.equal(answer.headers['access-control-expose-headers'], exposed)
      t.equal(answer.headers['allow'], allow)
    }
    for (const [path, more, status] of [
      ['users', `A: ${'a'.repeat(20_000)}`, 431],
      ['users', 'Expect: foo', 417],
      ['users', 'Content-Type: a/b\r\nContent-Type: c/d', 400],
      ['users', 'Host: other', 400],
      ['%ff', 'A: a', 400],
    ] as const) {
      const head = `GET /v1/${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close`
      const response = await send(port, `${head}\r\nOrigin: ${origin}\r\n${more}\r\n\r\n`)
      t.equal(statusOf(response), status, more)
      t.match(response, `access-control-allow-origin: ${origin}\r\n`)
    }
  }
  t.equal((await get('/v1/users', { origin: 'http://localhost:9999' })).status, 403)
  for (const url of ['/__admin/nope', '/nope', '/v1nope'])
    t.notOk('access-control-allow-origin' in (await get(url)).headers, url)
  t.equal((await get('/v1/nope')).headers['access-control-allow-origin'], one)
})

t.test('a path that is nearly one of the service names it', async (t) => {
  const { get, post } = await start(t)
  for (const [path, meant] of [
    ['/users', '/v1/users'],
    ['/@w/users?page=1', '/@w/v1/users'],
    ['/v1/@w/users', '/@w/v1/users'],
    ['/transaction/history', '/v1/transaction/history'],
    ['/v1/v1/users', '/v1/users'],
    ['/api/v1/users/', '/v1/users'],
    ['/v2/user/1', '/v1/user/:userId'],
    ['/transaction/history/user/1', '/v1/transaction/history/user/:userId'],
  ] as const)
    t.match((await get(path)).body.message, new RegExp(`\\. Did you mean ${meant}\\?$`), path)
  t.match((await post('/user')).body.message, /Did you mean \/v1\/user\?$/)
  for (const path of ['/v1/nothing', '/v1/myusers', '/nothing'])
    t.match((await get(path)).body.message, /See \/docs for all routes\.$/, path)
})

t.test('a port that browsers refuse is warned of', async (t) => {
  /** The log of a start, at the first of these ports that is free. */
  async function startedAt(ports: readonly number[]) {
    for (const port of ports) {
      const { lines, ...log } = createLog()
      const server = await startServer(optionsOf({ memory: true, port }), log).catch((error) => {
        if (error.code !== 'EADDRINUSE') throw error
      })
      await server?.close()
      if (server) return lines
    }
    throw new Error('no port is free')
  }
  t.match(await startedAt([4190, 6566, 6697, 10_080]), [/^Browsers and fetch refuse port \d+ /])
  t.strictSame(await startedAt([0]), [])
})
