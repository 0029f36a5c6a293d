import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { array, assert, asyncProperty, constantFrom } from 'fast-check'
import t, { type Test } from 'tap'
import type { SendErrorCode } from '../../src/model/delivery.ts'
import { createSender, type SenderDeps } from '../../src/webhooks/send.ts'
import { readRetryAfter } from '../../src/webhooks/send-errors.ts'

const WALL = Date.parse('2026-03-01T10:00:00Z')
const DEADLINE_MS = 300
// How much later than the deadline an attempt may end on a busy machine.
const SLACK_MS = 5_000
const PATIENT_MS = 20_000

function senderFor(t: Test, deps: Partial<SenderDeps> = {}) {
  const sender = createSender({ allow: [], wall: () => WALL, ...deps })
  t.teardown(sender.close)
  return sender
}

/** Starts a receiver on a free port of 127.0.0.1; its sockets are cut when the test ends. */
async function listen(t: Test, server: Server | ReturnType<typeof createTcpServer>) {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return (server.address() as AddressInfo).port
}

/** A receiver that speaks raw TCP: `onRequest` is called for each request's head on a connection. */
const raw = (onRequest: (socket: Socket, nth: number) => void) =>
  createTcpServer((socket) => {
    let nth = 0
    socket.on('data', () => onRequest(socket, ++nth))
  })

/** Writes `text` again and again until the socket ends. */
function drip(socket: Socket, text: () => string, everyMs: number) {
  const timer = setInterval(() => socket.write(text()), everyMs)
  socket.on('close', () => clearInterval(timer))
}

const OK = 'HTTP/1.1 200 OK\r\n'
const bomb = Buffer.concat(Array.from({ length: 10 }, () => gzipSync(Buffer.alloc(10_000_000))))

type Case = {
  name: string
  server: () => Server | ReturnType<typeof createTcpServer>
  code: SendErrorCode | undefined
  message?: RegExp
  ok?: boolean
  status?: number
  secure?: boolean
  /** Lasts until the deadline; others end well before it. */
  hangs?: boolean
}

const CASES: Case[] = [
  {
    name: 'hangs before the answer',
    server: () => raw(() => {}),
    code: 'timeout_response',
    message: /accepted the request, but did not respond within 300 ms/,
    hangs: true,
  },
  {
    name: 'never reads',
    server: () => createTcpServer((socket) => socket.pause()),
    code: 'timeout_response',
    hangs: true,
  },
  {
    name: 'drips its headers',
    server: () =>
      raw((socket) => {
        socket.write(OK)
        drip(socket, () => 'x-slow: 1\r\n', 20)
      }),
    code: 'timeout_response',
    hangs: true,
  },
  {
    name: 'drips its body',
    server: () =>
      raw((socket) => {
        socket.write(`${OK}content-length: 100000\r\n\r\n`)
        drip(socket, () => '.', 20)
      }),
    code: 'timeout_body',
    message: /started to respond, but did not finish within 300 ms/,
    status: 200,
    hangs: true,
  },
  {
    name: 'sends 100 Continue that nobody asked for',
    server: () => raw((socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n')),
    code: 'not_http',
    message: /sent an unrequested 1xx response, such as 100 Continue/,
  },
  {
    name: 'sends early hints for ever',
    server: () => raw((socket) => drip(socket, () => 'HTTP/1.1 103 Early Hints\r\n\r\n', 20)),
    code: 'timeout_response',
    hangs: true,
  },
  {
    name: 'answers 200 with an endless body',
    server: () =>
      raw((socket) => {
        socket.write(`${OK}\r\n`)
        drip(socket, () => 'x'.repeat(50_000), 1)
      }),
    code: 'response_too_large',
    message: /responded with 200 OK with more than 64 KiB/,
    ok: true,
    status: 200,
  },
  {
    name: 'answers 500 with an endless body',
    server: () =>
      raw((socket) => {
        socket.write('HTTP/1.1 500 Oh\r\n\r\n')
        drip(socket, () => 'x'.repeat(50_000), 1)
      }),
    code: 'status',
    status: 500,
  },
  {
    name: 'ends the connection inside its answer',
    server: () =>
      raw((socket) => {
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc')
      }),
    code: 'reset_body',
    status: 200,
  },
  {
    name: 'answers with a gzip bomb',
    server: () =>
      createServer((_request, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'text/plain' })
        response.end(bomb)
      }),
    code: 'response_compressed',
    message:
      /compressed with gzip although the request did not allow compression; it was not decompressed/,
    ok: true,
    status: 200,
  },
  {
    name: 'redirects to a metadata address',
    server: () =>
      createServer((_request, response) => {
        response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data/' }).end()
      }),
    code: 'redirect',
    message: /responded with 307 .* to http:\/\/169\.254\.169\.254.*; redirects are not followed/,
    status: 307,
  },
  {
    name: 'answers garbage',
    server: () => raw((socket) => socket.end('\x00\x01 I am no web server\r\n\r\n')),
    code: 'not_http',
    message: /is not HTTP/,
  },
  {
    name: 'answers a body that is no chunked body',
    server: () => raw((socket) => socket.write(`${OK}transfer-encoding: chunked\r\n\r\nzzz\r\n`)),
    code: 'not_http',
    status: 200,
  },
  {
    name: 'answers 20 KiB of headers',
    server: () => raw((socket) => socket.write(`${OK}x-big: ${'x'.repeat(20_000)}\r\n\r\n`)),
    code: 'headers_too_large',
  },
  {
    name: 'resets before the answer',
    server: () => raw((socket) => socket.resetAndDestroy()),
    code: 'reset',
    message: /reset the connection before it responded/,
  },
  {
    name: 'closes without an answer',
    server: () => raw((socket) => socket.end()),
    code: 'no_response',
    message: /closed the connection without a response/,
  },
  {
    name: 'resets inside the body',
    server: () =>
      raw((socket) => {
        socket.write(`${OK}content-length: 100\r\n\r\n12345`)
        setTimeout(() => socket.resetAndDestroy(), 20)
      }),
    code: 'reset_body',
    message: /broke after 5 bytes/,
    status: 200,
  },
  {
    name: 'switches to another protocol',
    server: () =>
      raw((socket) =>
        socket.write('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
      ),
    code: 'no_response',
  },
  {
    name: 'speaks no TLS',
    server: () => createServer((_request, response) => response.end()),
    code: 'tls',
    message: /no secure connection to/,
    secure: true,
  },
  {
    name: 'never finishes the TLS handshake',
    server: () => raw(() => {}),
    code: 'timeout_connect',
    message: /no secure connection to .* within 300 ms/,
    secure: true,
    hangs: true,
  },
  { name: 'answers 204', server: () => answering(204), code: undefined, ok: true, status: 204 },
  { name: 'answers 299', server: () => answering(299), code: undefined, ok: true, status: 299 },
  { name: 'answers 304', server: () => answering(304), code: 'redirect', status: 304 },
  { name: 'answers 410', server: () => answering(410), code: 'gone', status: 410 },
  {
    name: 'answers 500',
    server: () => answering(500),
    code: 'status',
    message: /responded with 500 Internal Server Error; only a 2xx response counts as delivered/,
    status: 500,
  },
]

const answering = (status: number, headers: Record<string, string> = {}, body = '') =>
  createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(status, headers).end(body))
  })

for (const { name, server, code, message, ok = false, status, secure, hangs = false } of CASES) {
  t.test(`a receiver that ${name} gives ${code ?? 'no error'}`, async (t) => {
    const port = await listen(t, server())
    const before = process.memoryUsage().rss
    // Whoever need not wait gets more time than any machine takes: only a wait would last so long.
    const deadlineMs = hangs ? DEADLINE_MS : PATIENT_MS
    const result = await senderFor(t).send({
      url: `${secure ? 'https' : 'http'}://127.0.0.1:${port}/webhook`,
      headers: { 'content-type': 'application/json' },
      body: '{"id":"evt_1"}',
      deadlineMs,
    })
    t.equal(result.error?.code, code, result.error?.message ?? '')
    if (message) t.match(result.error?.message, message)
    t.equal(result.ok, ok)
    t.equal(result.status, status)
    if (hangs)
      t.ok(
        result.duration_ms >= deadlineMs - 5,
        `lasts until the deadline (${result.duration_ms} ms)`,
      )
    t.ok(
      result.duration_ms < (hangs ? deadlineMs + SLACK_MS : deadlineMs),
      `ends ${hangs ? 'then' : 'without waiting for it'} (${result.duration_ms} ms)`,
    )
    t.ok(process.memoryUsage().rss - before < 60_000_000, 'memory stays small')
  })
}

t.test(
  'the same bytes and headers arrive, with the length set and no compression asked',
  async (t) => {
    const seen: {
      headers: Record<string, unknown>
      body: string
      url: string | undefined
      method: string | undefined
    }[] = []
    const port = await listen(
      t,
      createServer(async (request, response) => {
        const chunks: Buffer[] = []
        for await (const chunk of request) chunks.push(chunk)
        const { headers, url, method } = request
        seen.push({ headers, url, method, body: Buffer.concat(chunks).toString() })
        response.end('thanks')
      }),
    )
    const sender = senderFor(t)
    const body = '{"name":"Priya ₹"}'
    const url = `http://127.0.0.1:${port}/a/b?c=d`
    for (const bytes of [body, Buffer.from(body)]) {
      const result = await sender.send({ url, headers: { 'webhook-id': 'evt_1' }, body: bytes })
      t.match(result, {
        ok: true,
        status: 200,
        response: 'thanks',
        truncated: false,
        error: undefined,
      })
    }
    t.equal(seen.length, 2)
    for (const request of seen)
      t.match(request, {
        method: 'POST',
        url: '/a/b?c=d',
        body,
        headers: {
          host: `127.0.0.1:${port}`,
          'content-length': String(Buffer.byteLength(body)),
          'accept-encoding': 'identity',
          connection: 'keep-alive',
          'webhook-id': 'evt_1',
        },
      })
  },
)

t.test('4 KiB of the answer are kept, cut between characters', async (t) => {
  const port = await listen(t, answering(200, {}, `x${'é'.repeat(3_000)}`))
  const result = await senderFor(t).send({
    url: `http://127.0.0.1:${port}/`,
    headers: {},
    body: '{}',
  })
  t.equal(result.response, `x${'é'.repeat(2_047)}`)
  t.match(result, { ok: true, truncated: true, error: undefined })
})

t.test('Retry-After is read as ms from now', async (t) => {
  const cases: [string, number | undefined][] = [
    ['30', 30_000],
    [' 0 ', 0],
    ['Sun, 01 Mar 2026 10:02:00 GMT', 120_000],
    ['Sunday, 01-Mar-26 10:02:00 GMT', 120_000],
    ['Sun, 01 Mar 2026 09:00:00 GMT', 0],
    ['99999999999999999999', 365 * 86_400_000],
    ['-5', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['Someday, GMT', undefined],
    ['2026-03-01T10:02:00Z', undefined],
    ['', undefined],
  ]
  for (const [value, ms] of cases) t.equal(readRetryAfter(value, WALL), ms, JSON.stringify(value))

  const port = await listen(t, answering(429, { 'retry-after': 'Sun, 01 Mar 2026 10:00:07 GMT' }))
  const result = await senderFor(t).send({
    url: `http://127.0.0.1:${port}/`,
    headers: {},
    body: '{}',
  })
  t.match(result, { ok: false, status: 429, retryAfterMs: 7_000, error: { code: 'status' } })
})

t.test('a receiver that does not listen gives refused', async (t) => {
  const server = createTcpServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  await new Promise((done) => server.close(done))
  for (const host of ['127.0.0.1', 'localhost']) {
    const result = await senderFor(t).send({
      url: `http://${host}:${port}/`,
      headers: {},
      body: '{}',
      deadlineMs: DEADLINE_MS,
    })
    t.match(result, { ok: false, error: { code: 'refused', message: /nothing listens on/ } }, host)
  }
})

t.test('a name is resolved with the address rules, and failures are reported', async (t) => {
  const port = await listen(t, answering(200))
  const asked: string[] = []
  const lookup = ((host: string, _options: unknown, done: (...args: unknown[]) => void) => {
    asked.push(host)
    if (host === 'here.test') return done(null, [{ address: '127.0.0.1', family: 4 }])
    if (host === 'evil.test') return done(null, [{ address: '169.254.169.254', family: 4 }])
    if (host === 'public.test') return done(null, [{ address: '93.184.216.34', family: 4 }])
    if (host === 'gone.test')
      return done(
        Object.assign(new Error('not found'), { code: 'ENOTFOUND', syscall: 'getaddrinfo' }),
      )
    return undefined // slow.test: the resolver never answers
  }) as never
  const sender = senderFor(t, { lookup })
  const cases: [string, SendErrorCode | undefined, RegExp?][] = [
    ['here.test', undefined],
    [
      'evil.test',
      'address_not_allowed',
      /evil\.test \(169\.254\.169\.254\) is a cloud metadata address/,
    ],
    ['public.test', 'address_not_allowed', /--webhook-allow public\.test/],
    ['gone.test', 'dns', /the host name gone\.test can't be resolved \(ENOTFOUND\)/],
    ['slow.test', 'timeout_connect', /no connection to slow\.test:\d+ within 300 ms/],
    ['169.254.169.254', 'address_not_allowed'],
    ['2852039166', 'address_not_allowed'],
    ['[::ffff:169.254.169.254]', 'address_not_allowed'],
    ['metadata.google.internal', 'address_not_allowed'],
    ['8.8.8.8', 'address_not_allowed'],
  ]
  for (const [host, code, message] of cases) {
    const result = await sender.send({
      url: `http://${host}:${port}/`,
      headers: {},
      body: '{}',
      deadlineMs: DEADLINE_MS,
    })
    t.equal(result.error?.code, code, host)
    if (message) t.match(result.error?.message, message)
  }
  t.same(
    asked,
    ['here.test', 'evil.test', 'public.test', 'gone.test', 'slow.test'],
    'literals are not looked up',
  )
})

t.test('what cannot be sent ends as a result, never as a rejection', async (t) => {
  const sender = senderFor(t)
  const cases: [string, Record<string, string>][] = [
    ['nonsense', {}],
    ['ftp://127.0.0.1/', {}],
    ['http://u:p@127.0.0.1/', {}],
    ['http://127.0.0.1:1/', { 'x-bad': 'a\nb' }],
    ['http://127.0.0.1:1/', { 'bad name': 'x' }],
  ]
  for (const [url, headers] of cases)
    t.match(
      await sender.send({ url, headers, body: '{}' }),
      { ok: false, response: '', error: { code: 'bad_request' } },
      url,
    )
})

t.test(
  'whatever comes back, an attempt has a result, and the next one its connection',
  async (t) => {
    const pieces = [
      ...[OK, 'HTTP/1.1 204 No Content\r\n', 'HTTP/1.0 200 OK\r\n'],
      ...['HTTP/1.1 100 Continue\r\n\r\n', `${OK}content-length: 0\r\n\r\n`],
      ...['content-length: 3\r\n', 'content-length: 0\r\n', 'transfer-encoding: chunked\r\n'],
      ...['connection: close\r\n', 'connection: upgrade\r\n', 'upgrade: x\r\n', '\r\n', 'abc'],
      ...['3\r\nabc\r\n', '0\r\n\r\n', 'keep-alive: timeout=0\r\n', '\0', 'HTTP', ' '],
    ]
    let answers: readonly string[] = []
    let ends: 'end' | 'reset' = 'end'
    const hostile = raw((socket) => {
      for (const answer of answers) socket.write(answer)
      if (ends === 'end') socket.end()
      else setTimeout(() => socket.resetAndDestroy(), 1)
    })
    const [port, kindPort] = [await listen(t, hostile), await listen(t, answering(204))]
    const sender = senderFor(t)
    const send = (to: number) =>
      sender.send({
        url: `http://127.0.0.1:${to}/`,
        headers: {},
        body: '{}',
        deadlineMs: PATIENT_MS,
      })
    let whole = 0
    await assert(
      asyncProperty(
        array(constantFrom(...pieces), { maxLength: 7 }),
        constantFrom('end' as const, 'reset' as const),
        async (written, end) => {
          answers = written
          ends = end
          const result = await send(port)
          if (result.ok) whole++
          return result.ok || result.error !== undefined
        },
      ),
      { numRuns: 400, seed: 1 },
    )
    t.ok(whole > 0 && whole < 400, `${whole} of them were whole`)
    t.match(await send(kindPort), { ok: true })
  },
)

t.test('closing ends what runs and refuses what comes after', async (t) => {
  const port = await listen(
    t,
    raw(() => {}),
  )
  const sender = senderFor(t)
  const request = { url: `http://127.0.0.1:${port}/`, headers: {}, body: '{}', deadlineMs: 5_000 }
  const running = sender.send(request)
  setTimeout(sender.close, 30)
  t.match(await running, { ok: false, error: { code: 'closed' } })
  t.match(await sender.send(request), { ok: false, error: { code: 'closed' } })
})

t.test('at most 64 attempts run at once; the others wait in order', async (t) => {
  const held: (() => void)[] = []
  let most = 0
  const port = await listen(
    t,
    createServer((_request, response) => {
      most = Math.max(
        most,
        held.push(() => response.end()),
      )
      if (held.length < 64) return
      // Long enough for one more to come, if there is one.
      setTimeout(() => {
        for (const end of held.splice(0)) end()
      }, 100)
    }),
  )
  const sender = senderFor(t)
  const url = `http://127.0.0.1:${port}/`
  const attempts = Array.from({ length: 128 }, () =>
    sender.send({ url, headers: {}, body: '{}', deadlineMs: PATIENT_MS }),
  )
  t.ok((await Promise.all(attempts)).every(({ ok }) => ok))
  t.equal(most, 64)
})
