import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { createSender } from '../../src/webhooks/send.ts'
import { readRetryAfter } from '../../src/webhooks/send-errors.ts'
import { start } from '../helper.ts'
import { receiver, SECRET } from '../receiver.ts'

const TRIGGER = '/__admin/webhooks/trigger'
const DEADLINE_MS = 300
// Longer than any machine takes for a case that does not wait for the deadline.
const PATIENT_MS = 20_000
const OK = 'HTTP/1.1 200 OK\r\n'
const BOMB = gzipSync(Buffer.alloc(50_000_000))

/** A receiver does this with a connection when the head of a request has arrived. */
type Answer = (socket: Socket) => void
const writes =
  (...parts: (string | Buffer)[]): Answer =>
  (socket) =>
    parts.forEach((part) => void socket.write(part))
const ends =
  (text = ''): Answer =>
  (socket) =>
    socket.end(text)
const answers = (status: number) => ends(`HTTP/1.1 ${status} X\r\ncontent-length: 0\r\n\r\n`)
/** Writes a text, and another one repeatedly until the sender closes the connection. */
const drips =
  (head: string, piece: string, everyMs = 20): Answer =>
  (socket) => {
    socket.write(head)
    const timer = setInterval(() => socket.write(piece), everyMs)
    socket.on('close', () => clearInterval(timer))
  }

/** The code and message of the error, and what else is known of the attempt. */
type Case = [
  does: string,
  answer: Answer,
  code?: string | undefined,
  message?: RegExp | undefined,
  more?: object,
]

const HANGING: Case[] = [
  [
    'hangs',
    () => {},
    'timeout_response',
    /accepted the request, but did not respond within 300 ms/,
  ],
  ['never reads', (socket) => socket.pause(), 'timeout_response'],
  ['drips its headers', drips(OK, 'x-slow: 1\r\n'), 'timeout_response'],
  ['sends early hints for ever', drips('', 'HTTP/1.1 103 Hints\r\n\r\n'), 'timeout_response'],
  [
    'drips its body',
    drips(`${OK}content-length: 100000\r\n\r\n`, '.'),
    'timeout_body',
    /started to respond, but did not finish within 300 ms/,
    { status: 200 },
  ],
]
const HOSTILE: Case[] = [
  ['sends 100 Continue', writes('HTTP/1.1 100 Continue\r\n\r\n'), 'not_http', /unrequested 1xx/],
  [
    'answers 200 with an endless body',
    drips(`${OK}\r\n`, 'x'.repeat(50_000), 1),
    'response_too_large',
    /responded with 200 OK with more than 64 KiB/,
    { ok: true, status: 200 },
  ],
  [
    'answers 500 with an endless body',
    drips('HTTP/1.1 500 Oh\r\n\r\n', 'x'.repeat(50_000), 1),
    'status',
    /500 Internal Server Error; only a 2xx response counts as delivered/,
    { status: 500 },
  ],
  [
    'answers with a gzip bomb',
    writes(`${OK}content-encoding: gzip\r\ncontent-length: ${BOMB.length}\r\n\r\n`, BOMB),
    'response_compressed',
    /with gzip although the request did not allow compression; it was not decompressed/,
    { ok: true, status: 200, response: '' },
  ],
  [
    'redirects to a metadata address',
    ends('HTTP/1.1 307 Go\r\nlocation: http://169.254.169.254/x\r\ncontent-length: 0\r\n\r\n'),
    'redirect',
    /responded with 307 .* to http:\/\/169\.254\.169\.254.*; redirects are not followed/,
    { status: 307 },
  ],
  ['answers garbage', ends('\x00\x01 I am no web server\r\n\r\n'), 'not_http', /is not HTTP/],
  ['answers no chunk', writes(`${OK}transfer-encoding: chunked\r\n\r\nzzz\r\n`), 'not_http'],
  ['answers 20 KiB of headers', writes(`${OK}x: ${'x'.repeat(20_000)}\r\n`), 'headers_too_large'],
  ['ends inside its answer', ends(`${OK}content-length: 100\r\n\r\nabc`), 'reset_body'],
  [
    'resets inside its answer',
    (socket) => {
      socket.write(`${OK}content-length: 100\r\n\r\n12345`)
      setTimeout(() => socket.resetAndDestroy(), 20)
    },
    'reset_body',
    /broke after 5 bytes/,
    { status: 200 },
  ],
  ['resets', (socket) => void socket.resetAndDestroy(), 'reset', /before it responded/],
  ['closes without an answer', ends(), 'no_response', /without a response/],
  [
    'switches protocols',
    writes('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
    'no_response',
  ],
  ['answers 204', answers(204), undefined, undefined, { ok: true, status: 204 }],
  ['answers 299', answers(299), undefined, undefined, { ok: true, status: 299 }],
  ['answers 304', answers(304), 'redirect', undefined, { status: 304 }],
  ['answers 410', answers(410), 'gone', undefined, { status: 410 }],
]
const SECURE: Case[] = [['speaks no TLS', answers(204), 'tls', /no secure connection to/]]
const SECURE_HANGING: Case[] = [
  ['never ends the handshake', () => {}, 'timeout_connect', /no secure connection to .* 300 ms/],
]

async function listen(t: Test, answer: Answer) {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}))
    socket.once('data', () => answer(socket))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { server, port: (server.address() as AddressInfo).port }
}

/** A sandbox whose client has a webhook, and a function that has an event sent to a URL. */
async function sending(t: Test, deadlineMs: number) {
  const webhooks = { allow: [], time: 'wall', retries: 'fast', deadlineMs } as const
  const box = await start(t, { sandbox: { webhooks } })
  await box.post('/v1/clientWebhook', { url: 'http://127.0.0.1:1/', webhook_secret: SECRET })
  return async (url: string) => {
    await box.put('/v1/clientWebhook', { url })
    const { body } = await box.post(TRIGGER, { event: 'webhook.test' })
    return { ...body.deliveries[0], attempt: body.deliveries[0].attempts[0] }
  }
}

for (const [scheme, deadlineMs, cases] of [
  ['http', DEADLINE_MS, HANGING],
  ['http', PATIENT_MS, HOSTILE],
  ['https', PATIENT_MS, SECURE],
  ['https', DEADLINE_MS, SECURE_HANGING],
] as const)
  for (const [does, answer, code, message = /^/, more = {}] of cases)
    t.test(`a receiver that ${does} gives ${code ?? 'no error'}`, async (t) => {
      const { port } = await listen(t, answer)
      const send = await sending(t, deadlineMs)
      const before = process.memoryUsage().rss
      const begin = performance.now()
      const { status, attempt } = await send(`${scheme}://127.0.0.1:${port}/webhook`)
      const took = performance.now() - begin
      t.match({ ok: false, ...attempt }, { ok: false, ...more })
      t.equal(attempt.error?.code, code, attempt.error?.message)
      if (code) t.match(attempt.error.message, message)
      t.equal(status, attempt.ok ? 'delivered' : code === 'gone' ? 'failed' : 'pending')
      if (deadlineMs === DEADLINE_MS) t.ok(took >= deadlineMs - 5, 'it lasts until the deadline')
      else t.ok(took < deadlineMs, 'it does not wait for the deadline')
      t.ok(attempt.response.length <= 4_096)
      t.ok(process.memoryUsage().rss - before < 60_000_000, 'memory stays small')
    })

t.test('a receiver that does not listen gives refused', async (t) => {
  const { server, port } = await listen(t, () => {})
  server.close()
  await once(server, 'close')
  const send = await sending(t, PATIENT_MS)
  for (const host of ['127.0.0.1', 'localhost'])
    t.match((await send(`http://${host}:${port}/`)).attempt, {
      ok: false,
      error: { code: 'refused', message: /nothing listens on/ },
    })
})

t.test('the request has its length, and asks for no compression; 4 KiB are kept', async (t) => {
  const hook = await receiver(t, (_, response) => response.end(`x${'é'.repeat(3_000)}`))
  const send = await sending(t, PATIENT_MS)
  const { attempt } = await send(`http://127.0.0.1:${hook.port}/a/b?c=d`)
  const [{ headers, body }] = hook.received as [(typeof hook.received)[0]]
  t.match(headers, {
    host: `127.0.0.1:${hook.port}`,
    'content-length': String(Buffer.byteLength(body)),
    'content-type': 'application/json',
    'accept-encoding': 'identity',
  })
  t.match(attempt, { ok: true, error: null })
  t.equal(attempt.response, `x${'é'.repeat(2_047)}`, 'cut between characters')
})

t.test('Retry-After is read as ms from now', async (t) => {
  const cases: [string, number | undefined][] = [
    ['30', 30_000],
    [' 0 ', 0],
    ['Sun, 01 Mar 2026 10:02:00 GMT', 120_000],
    ['Sunday, 01-Mar-26 10:02:00 GMT', 120_000],
    ['Sun, 01 Mar 2026 09:00:00 GMT', 0],
    ['99999999999999999999', 365 * 86_400_000],
    ...['-5', '1.5', 'soon', 'Someday, GMT', '2026-03-01T10:02:00Z', ''].map(
      (text): [string, undefined] => [text, undefined],
    ),
  ]
  const now = Date.parse('2026-03-01T10:00:00Z')
  for (const [value, ms] of cases) t.equal(readRetryAfter(value, now), ms, JSON.stringify(value))
})

t.test('a name is resolved with the address rules, and failures are reported', async (t) => {
  const { port } = await listen(t, answers(200))
  const zone: Record<string, string> = {
    'here.test': '127.0.0.1',
    'evil.test': '169.254.169.254',
    'public.test': '93.184.216.34',
  }
  const asked: string[] = []
  const lookup = ((host: string, _options: unknown, done: (...args: unknown[]) => void) => {
    asked.push(host)
    const failure = { code: 'ENOTFOUND', syscall: 'getaddrinfo' }
    if (host === 'gone.test') done(Object.assign(new Error('not found'), failure))
    else if (zone[host]) done(null, [{ address: zone[host], family: 4 }])
    // The resolver never answers for slow.test.
  }) as never
  const sender = createSender({ allow: [], wall: Date.now, lookup })
  t.teardown(sender.close)
  const cases: [host: string, code: string | undefined, message?: RegExp][] = [
    ['here.test', undefined],
    ['evil.test', 'address_not_allowed', /evil\.test \(169\.254\.169\.254\) is a cloud metadata/],
    ['public.test', 'address_not_allowed', /--webhook-allow public\.test/],
    ['gone.test', 'dns', /the host name gone\.test can't be resolved \(ENOTFOUND\)/],
    ['slow.test', 'timeout_connect', /no connection to slow\.test:\d+ within 300 ms/],
  ]
  const request = { headers: {}, body: '{}', deadlineMs: DEADLINE_MS }
  for (const [host, code, message] of cases) {
    const { error } = await sender.send({ ...request, url: `http://${host}:${port}/` })
    t.equal(error?.code, code, host)
    if (message) t.match(error?.message, message)
  }
  t.same(asked, ['here.test', 'evil.test', 'public.test', 'gone.test', 'slow.test'])
})

t.test('8 attempts of a client run at once, and 64 of all beside the first of each', async (t) => {
  for (const [clients, limit] of [
    [1, 8],
    [16, 80],
  ] as const) {
    const held: (() => void)[] = []
    let most = 0
    const { url } = await receiver(t, (_, response) => {
      most = Math.max(
        most,
        held.push(() => response.end()),
      )
      // Long enough for one more to come, if there is one.
      if (most >= limit) setTimeout(() => held.splice(0).forEach((end) => void end()), 100)
    })
    const box = await start(t)
    const bases = Array.from({ length: clients }, (_, i) => `/@c-${i}`)
    for (const base of bases)
      await box.post(`${base}/v1/clientWebhook`, { url, webhook_secret: SECRET })
    const sent = await Promise.all(
      bases.flatMap((base) =>
        Array.from({ length: (2 * limit) / clients }, () =>
          box.post(`${base}${TRIGGER}`, { event: 'webhook.test' }),
        ),
      ),
    )
    t.ok(sent.every(({ body }) => body.deliveries[0].status === 'delivered'))
    t.equal(most, limit)
  }
})

/** Sends events to one receiver in bursts of ten; returns the codes of all attempts, and the connections of the receiver. */
async function bursts(t: Test, answer: (socket: Socket, n: number) => void, events = 60) {
  let connections = 0
  let requests = 0
  const server = createServer((socket) => {
    connections++
    socket.on('error', () => {})
    socket.on('data', () => answer(socket, ++requests))
    t.teardown(() => socket.destroy())
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const asked: string[] = []
  const lookup = ((host: string, _options: unknown, done: (...args: unknown[]) => void) => {
    asked.push(host)
    done(null, [{ address: '127.0.0.1', family: 4 }])
  }) as never
  const sender = createSender({ allow: [], wall: Date.now, lookup })
  t.teardown(sender.close)
  const url = `http://hook.test:${(server.address() as AddressInfo).port}/`
  const codes: (string | undefined)[] = []
  for (let sent = 0; sent < events; sent += 10) {
    const burst = Array.from({ length: 10 }, () => sender.send({ url, headers: {}, body: '{}' }))
    codes.push(...(await Promise.all(burst)).map(({ error }) => error?.code))
  }
  return { codes, connections, requests, looksUp: asked.length }
}
const NO_CONTENT = 'HTTP/1.1 204 X\r\n\r\n'

const BURSTS: [
  does: string,
  answer: Parameters<typeof bursts>[1],
  resets: number,
  more?: object,
][] = [
  [
    'responds: connections are shared, and the addresses are checked for each',
    (socket) => socket.write(NO_CONTENT),
    0,
    { connections: 10, looksUp: 10 },
  ],
  [
    'closes after each response, without saying so: no attempt fails',
    (socket) => socket.end(NO_CONTENT),
    0,
    { connections: 60 },
  ],
  [
    'resets every third request: that attempt alone fails, and nothing comes twice',
    (socket, n) => (n % 3 ? socket.write(NO_CONTENT) : socket.resetAndDestroy()),
    20,
  ],
]
for (const [does, answer, resets, more] of BURSTS)
  t.test(`a receiver that ${does}`, async (t) => {
    const { codes, ...found } = await bursts(t, answer)
    t.match(found, { requests: 60, ...more })
    t.strictSame(
      codes.filter((code) => code !== undefined),
      Array(resets).fill('reset'),
    )
  })

t.test('a connection that is idle is closed after a moment', async (t) => {
  const closed = new Promise<void>((resolve) => {
    void bursts(t, (socket) => socket.on('close', resolve).write(NO_CONTENT), 10)
  })
  const began = performance.now()
  await closed
  t.ok(performance.now() - began < 5_000)
})
