import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createAdminClient } from '../../src/admin/admin-client.ts'
import { PACKAGE_ROOT, VERSION } from '../../src/config/package.ts'
import { RecordingLine } from '../../src/model/recording.ts'
import { optionsOf, startServer } from '../../src/server.ts'
import { replayRun } from '../../src/tools/replay/replayer.ts'
import { ASHA, createLog, PAYMENT } from '../helper.ts'
import { receiver } from '../receiver.ts'
import { play } from '../repeat/play.ts'
import { startReceiver } from '../repeat/receiver.ts'

// Some wait for real time.
t.jobs = 8

const log = createLog()
/** A sandbox whose run is recorded; `stop` gives the recording. */
async function recorded(t: Test, values: Record<string, unknown> = {}, folder = t.testdir()) {
  const file = join(folder, 'run.ndjson')
  const options = optionsOf({ port: 0, memory: true, record: file, ...values })
  const server = await startServer(options, log)
  t.teardown(server.close)
  const { port } = new URL(server.url)
  const request = async (method: string, path: string, body?: unknown, headers = {}) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, text }
  }
  return {
    file,
    port: Number(port),
    origin: `http://127.0.0.1:${port}`,
    admin: createAdminClient({ url: server.adminUrl, token: server.adminToken }),
    get: (path: string) => request('GET', path),
    post: (path: string, body: unknown, headers = {}) => request('POST', path, body, headers),
    pay: (more = {}) => request('POST', '/v1/transaction', { ...PAYMENT, ...more }),
    async stop(): Promise<string> {
      await server.close()
      return readFileSync(file, 'utf8')
    },
  }
}

const idOf = ({ text }: { text: string }): string => JSON.parse(text).data[0].transaction_id

const linesOf = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

/** Replays a recording and wants every byte of it. */
async function same(t: Test, text: string) {
  const replayed = await replayRun(text, log)
  t.equal(replayed.difference, undefined)
  const lines = linesOf(text)
  const count = (kind: string) => lines.filter((line) => kind in line).length
  t.strictSame(
    [replayed.calls, replayed.webhooks, replayed.timers],
    [count('call'), count('send'), count('ran')],
    'all of it was played',
  )
  return { ...replayed, lines }
}

/** Sends bytes as they are, with something done after the first part; answers with what comes back. */
function raw(port: number, first: string | Buffer, more?: () => Promise<string | Buffer>) {
  return new Promise<string>((resolve) => {
    const socket = connect(port, '127.0.0.1', async () => {
      socket.write(first)
      if (more) socket.write(await more())
    })
    let text = ''
    socket.setEncoding('latin1').on('data', (chunk) => {
      text += chunk
      if (/\r\n\r\n/.test(text)) socket.end()
    })
    socket.on('error', () => {}).on('close', () => resolve(text))
  })
}

t.test('mixed calls of three at once, on a clock that ticks: each byte again', async (t) => {
  const webhooks = await startReceiver()
  t.teardown(webhooks.close)
  for (const clock of ['real', 'frozen']) {
    const box = await recorded(t, { clock, 'clock-speed': 20, 'random-seed': 7 })
    const one = async (seed: number) => {
      for await (const _ of play(box.origin, webhooks, { calls: 50, seed }));
    }
    await Promise.all([one(11), one(12), one(13)])
    const text = await box.stop()
    await webhooks.isIdle()
    webhooks.take()
    const { calls, webhooks: sent } = await same(t, text)
    t.ok(calls >= 150, `${calls} calls`)
    t.ok(sent > 8, `${sent} webhooks`)
    t.strictSame(webhooks.take(), [], 'and the receiver is left in peace')
  }
})

t.test('what ticks by itself runs at its own instants', async (t) => {
  // Only the first attempts fail: a slow machine may otherwise send every attempt of the awaited event as a third one.
  const { url, received } = await receiver(t, (_, response, count) =>
    response.writeHead(count % 3 === 0 && count < 10 ? 500 : 200).end('as it was'),
  )
  const box = await recorded(t, { 'clock-speed': 100, scenario: 'live-demo' })
  await box.post('/v1/clientWebhook', { url, webhook_secret: 'secret' })
  // The steps of the scenario take minutes.
  const quick = { 'x-sandbox-scenario': 'default' }
  const transaction_id = idOf(await box.post('/v1/transaction', PAYMENT, quick))
  await box.admin.wait({
    for: 'delivery',
    match: { resource_id: transaction_id, event: 'transaction.success', status: 'delivered' },
  })
  const late = await box.post('/__admin/wait', {
    for: 'request',
    match: { status: 599 },
    timeout_ms: 30,
  })
  t.equal(late.status, 408)
  // Of this payment alone: a slow machine may have sent more than a page of others since.
  const { text } = await box.get(`/__admin/webhooks/deliveries?resource_id=${transaction_id}`)
  t.match(text, 'as it was')
  const run = await box.stop()
  const { timers } = await same(t, run)
  t.ok(timers > 3, `${timers} timers`)
  const count = received.length
  await same(t, run)
  t.equal(received.length, count, 'a replay sends nothing')
})

t.test('calls of a timeline between those of callers: its timers make them again', async (t) => {
  const box = await recorded(t, { 'clock-speed': 10 })
  await box.admin.scenario.define({
    rules: [
      { when: { operation: 'getUser' }, then: { delay: '1ms..20ms' } },
      { when: { operation: 'getKyc' }, then: { fault: 'reset' } },
    ],
    timeline: ['createTransaction', 'createUser', 'submitKyc', 'getUser', 'getKyc'].map((call) => ({
      every: '200ms',
      times: 15,
      do: { call },
    })),
  } as never)
  const one = async () => {
    for (let i = 0; i < 30; i++) t.equal((await box.pay()).status, 200)
  }
  await Promise.all([one(), one(), one()])
  const { text } = await box.get('/__admin/requests?operation=submitKyc')
  t.ok(JSON.parse(text).requests.length > 3)
  const { lines } = await same(t, await box.stop())
  const recordedCalls = lines.filter((line) => line.call && line.url.startsWith('/v1'))
  t.equal(recordedCalls.length, 90, 'which the recording does not have as calls')
})

t.test('responses that are delayed, broken, hang, or are stored for a key', async (t) => {
  const box = await recorded(t, { 'clock-speed': 50 })
  const rule = (then: object) =>
    box.admin.rules.push({ when: { operation: 'listUsers' }, times: 1, then } as never)
  await rule({ delay: '40ms' })
  const slow = box.get('/v1/users')
  await box.admin.wait({ for: 'request', match: {}, timeout_ms: 1 }).catch(() => {})
  t.equal((await box.get('/v1/users?page=2')).status, 200, 'another comes in between')
  t.equal((await slow).status, 200)
  for (const fault of ['reset', 'empty', 'truncate']) {
    await rule({ fault })
    await t.rejects(box.get('/v1/users'), fault)
  }
  await rule({ fault: 'malformed' })
  await box.get('/v1/users')
  await rule({ fault: 'hang' })
  const gaveUp = fetch(`${box.origin}/v1/users`, { signal: AbortSignal.timeout(100) })
  await t.rejects(gaveUp)
  await box.admin.assumptions.set({ idempotency_key: 'honoured' })
  const key = { 'idempotency-key': 'one' }
  const [first, again] = [
    await box.post('/v1/transaction', PAYMENT, key),
    await box.post('/v1/transaction', PAYMENT, key),
  ]
  t.equal(again.text, first.text)
  const gone = { respond: { status: 504 }, effect: 'after_timeout', after: '1m' }
  const then = { ...gone, visible_after: '5s' }
  await box.post('/__admin/rules', { when: { operation: 'createTransaction' }, times: 1, then })
  t.equal((await box.post('/v1/transaction', { ...PAYMENT, amount: 7 }, {})).status, 504)
  await box.post('/__admin/clock/advance', { by: '62s' })
  await box.get('/v1/transaction')
  await box.get('/__admin/requests')
  const { lines } = await same(t, await box.stop())
  t.strictSame(
    lines.flatMap(({ fault }) => fault ?? []),
    ['reset', 'empty', 'truncate', 'hang'],
  )
})

t.test('requests as no client sends them are sent again as they were', async (t) => {
  const box = await recorded(t)
  const head = (line: string, ...headers: string[]) =>
    `${[line, 'Host: 127.0.0.1:4310', ...headers].join('\r\n')}\r\n\r\n`
  const user = '{"email":"split@example.com","mobile":"9876500001"}'
  const post = (...headers: string[]) =>
    head('POST /v1/user HTTP/1.1', 'Content-Type: application/json', ...headers)

  const split = await raw(box.port, post(`Content-Length: ${user.length}`), async () => {
    await box.get('/v1/users')
    return user
  })
  t.match(split, 'split@example.com', 'its body came after another call')
  t.match(
    await raw(box.port, `${post('Transfer-Encoding: chunked')}5\r\n{"ema\r\n3\r\nil"\r\n0\r\n\r\n`),
    '400 Bad Request',
  )
  const invalid = Buffer.concat([
    Buffer.from(post('Content-Length: 4')),
    Buffer.from('"\xff\xfe"', 'latin1'),
  ])
  t.match(await raw(box.port, invalid), 'not valid UTF-8')
  t.match(await raw(box.port, head('GET /v1/user/%zz HTTP/1.1')), 'The path is not valid')
  t.match(await raw(box.port, head('GET /v1/users HTTP/1.1', 'Host: two')), 'Host headers')
  t.match(await raw(box.port, head('PUT /v1/users HTTP/1.0')), '405')
  const large = Buffer.alloc(1_100_000, 'x')
  const chunk = `${large.length.toString(16)}\r\n`
  t.match(
    await raw(
      box.port,
      Buffer.concat([Buffer.from(post('Transfer-Encoding: chunked') + chunk), large]),
    ),
    'The maximum is 1 MiB',
  )
  t.match(await raw(box.port, post(`Content-Length: 2000000`)), 'The maximum is 1 MiB')
  // Cut off: it is never answered.
  await new Promise<void>((resolve) => {
    const socket = connect(box.port, '127.0.0.1', () => {
      socket.end(`${post('Content-Length: 100')}{"ema`)
      socket.on('close', () => resolve()).resume()
    })
  })
  const { text } = await box.get('/__admin/requests')
  t.match(text, '"status":413')
  const { lines } = await same(t, await box.stop())
  t.ok(
    lines.some(({ body_later: bodyLater }) => bodyLater),
    'a body came later',
  )
  t.ok(
    lines.some(({ partial }) => partial),
    'one came in part',
  )
  t.ok(
    lines.some(({ base64 }) => base64),
    'one is no text',
  )
})

// The sandbox waits two seconds for a body that does not come.
const BODIES_DROPPED = { timeout: 15_000 }

t.test('a body that is dropped unread delays no replay', BODIES_DROPPED, async (t) => {
  const box = await recorded(t)
  for (let i = 0; i < 12; i++) {
    const { status } = await box.post('/v1/users', { any: 'body' })
    t.equal(status, 405)
  }
  const { lines } = await same(t, await box.stop())
  const unread = lines.filter(({ body_later }) => body_later)
  t.equal(unread.length, 12)
  t.notOk(lines.some((line) => 'body' in line))
})

t.test('tokens that nobody could guess, ids of explore, other clients: each again', async (t) => {
  const { url } = await receiver(t)
  const probe = await receiver(t, (_, response) => response.end('{"status":"same"}'))
  const box = await recorded(t, {
    clock: 'frozen',
    auth: 'strict',
    explain: true,
    cors: 'http://localhost:3000',
  })
  const { access_token } = await box.admin.clients.create({ name: 'made', random_seed: 3 })
  const authorization = `Bearer ${access_token}`
  await box.post('/@made/v1/clientWebhook', { url, webhook_secret: 'secret' }, { authorization })
  const paid = await box.post('/v1/transaction', PAYMENT, { authorization })
  t.equal(paid.status, 200)
  const made = box.admin.forClient('made')
  await made.clock.advance('1h')
  await made.webhooks.explore({
    transaction_id: idOf(paid),
    probe: `http://127.0.0.1:${probe.port}/{transaction_id}`,
    max_orders: 3,
  })
  await box.post('/@by-path/v1/user', {}, { authorization: 'Bearer sbx_by-path' })
  t.equal((await box.get('/v1/users')).status, 401)
  await box.admin.health()
  const { lines } = await same(t, await box.stop())
  t.equal(lines.filter(({ secret }) => secret).length, 2)
  t.match(lines[0], { options: { auth: 'strict', explain: true, cors: 'http://localhost:3000' } })
})

t.test('a recording needs no other file', async (t) => {
  const folder = t.testdir({ scenarios: {} })
  const fixtures = join(folder, 'fixtures')
  cpSync(join(PACKAGE_ROOT, 'fixtures'), fixtures, { recursive: true })
  writeFileSync(
    join(folder, 'scenarios/mine.yaml'),
    '# mine\ntitle: Mine\nrules:\n  - name: no\n    when: { operation: getUser }\n    then: { respond: { status: 503 } }\n',
  )
  const box = await recorded(
    t,
    { fixtures, scenarios: join(folder, 'scenarios'), scenario: 'mine', 'admin-token': 's3cret' },
    folder,
  )
  t.equal((await box.get(`/v1/user/${ASHA}`)).status, 503)
  await box.admin.scenario.list()
  t.match((await box.admin.scenario.source('mine')).source, '# mine')
  await box.admin.scenario.source('slow')
  await box.get('/v1/users')
  const text = await box.stop()
  renameSync(fixtures, `${fixtures}-gone`)
  renameSync(join(folder, 'scenarios'), join(folder, 'gone'))
  const { lines } = await same(t, text)
  t.equal(lines[0].options.admin_token, 's3cret')
})

t.test('what only looks, or is the recording itself, is no part of it', async (t) => {
  const box = await recorded(t, { clock: 'frozen' })
  for (const path of ['/docs', '/openapi.json', '/__admin/', '/__admin/openapi.json'])
    t.equal((await box.get(path)).status, 200, path)
  const { text, lines } = await box.admin.recording()
  t.equal(text, readFileSync(box.file, 'utf8'))
  t.equal(lines, 1, 'the start alone')
  t.equal((await box.get('/@new/__admin/record')).status, 200)
  t.equal((await box.get('/@NO/__admin/record')).status, 404)
  await box.get('/__admin/clients')
  t.equal((await box.admin.recording()).lines, 3, 'a call and its answer')
  // Had the unrecorded call made a client, the replay would list one less.
  await same(t, await box.stop())
})

t.test('an event stream is recorded as a call that began', async (t) => {
  const box = await recorded(t, { clock: 'frozen' })
  const fresh = createAdminClient({ url: box.origin, client: 'new' })
  const lists: string[] = []
  for await (const { kind } of fresh.events({ lastEventId: 'none' })) {
    lists.push(kind)
    break
  }
  t.strictSame(lists, ['gap'])
  t.match((await box.get('/__admin/clients')).text, '"new"')
  t.equal((await box.get('/@NO/__admin/events')).status, 404, 'a refused one too')
  const { lines } = await same(t, await box.stop())
  const [stream] = lines.filter(({ url }) => url === '/@new/__admin/events')
  t.match(
    lines.find(({ response: answer }) => answer === stream?.call),
    { status: 200, headers: { 'content-type': /^text\/event-stream/ }, text: undefined },
  )
})

t.test('timers that run within a call that moves time are compared and counted', async (t) => {
  const { url } = await receiver(t)
  const box = await recorded(t, { clock: 'frozen', 'webhook-time': 'client' })
  await box.pay()
  await box.admin.clock.advance('10s')
  await box.post('/v1/clientWebhook', { url, webhook_secret: 'secret' })
  await box.pay()
  await box.admin.clock.freeze('2026-01-01T00:00:20.000Z')
  const { lines, ...replayed } = await same(t, await box.stop())
  t.match(replayed, {
    timers: 9,
    timer_kinds: { 'transaction.step': 4, 'transaction.utr': 2, 'webhook.attempt': 3 },
    webhooks: 3,
    webhook_events: {
      'transaction.pending': 1,
      'transaction.processing': 1,
      'transaction.success': 1,
    },
  })
  const textOf = (all: object[]) => all.map((line) => `${JSON.stringify(line)}\n`).join('')
  const ran = lines.findIndex((line) => 'ran' in line)
  const lacks = lines.filter((_, i) => i !== ran)
  t.match((await replayRun(textOf(lacks), log)).difference, {
    at: /^timer tmr_\d+ \(transaction.step\) of client default$/,
    what: 'is not the timer that ran in the recording',
  })
  const last = lines.findLastIndex((line) => 'ran' in line)
  t.match((await replayRun(textOf(lines.filter((_, i) => i !== last)), log)).difference, {
    what: 'ran in the replay, but not in the recording',
  })
  const other = lines.map((line, i) => (i === ran ? { ...line, due_at: line.due_at + 1 } : line))
  t.match((await replayRun(textOf(other), log)).difference, {
    what: 'is not the timer that ran in the recording',
    recorded: /"kind":"transaction.step"/,
    found: /"kind":"transaction.step"/,
  })
  await t.rejects(replayRun(textOf([{ ...lines[0], recording: 2 }, ...lines.slice(1)]), log), {
    message: `this is a recording of format 2, and this version replays format 3; use version ${lines[0].version} of payout-sandbox, which recorded it`,
  })
})

t.test('what a stop answers is no part of the run', async (t) => {
  const box = await recorded(t, { clock: 'frozen', scenario: 'slow' })
  const slow = box.get('/v1/users').catch(() => {})
  await box.admin.wait({ for: 'request', match: {}, timeout_ms: 1 }).catch(() => {})
  const text = await box.stop()
  await slow
  const { lines } = await same(t, text)
  t.strictSame(lines.flatMap(({ call, url }) => (url === '/v1/users' ? call : [])).length, 1)
  t.notOk(
    lines.some(
      ({ response: answer }) => lines.find(({ call }) => call === answer)?.url === '/v1/users',
    ),
    'the call got its response from the stop',
  )
})

/** A recording of two payments with a webhook and a made client. */
async function short(t: Test) {
  const { url } = await receiver(t)
  const box = await recorded(t, { clock: 'frozen', 'webhook-time': 'client' })
  await box.post('/v1/clientWebhook', { url, webhook_secret: 'secret' })
  await box.pay()
  await box.admin.clients.create({ name: 'made' })
  await box.admin.clock.advance('10s')
  await box.get('/v1/transaction')
  return linesOf(await box.stop())
}

t.test('the first difference is reported: where, what, and both sides', async (t) => {
  const lines = await short(t)
  await same(t, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const find = (kind: string, n: number) => lines.findIndex((line) => line[kind] === n)
  const changed = (at: number, change: object | undefined) =>
    lines
      .map((line, i) => (i === at ? change && { ...line, ...change } : line))
      .filter(Boolean)
      .map((line) => `${JSON.stringify(line)}\n`)
      .join('')
  const paid = find('response', 2)
  const table: [name: string, text: string, difference: object][] = [
    [
      'a byte of an answer',
      changed(paid, { text: lines[paid].text.replace('"100.00"', '"100.01"') }),
      {
        at: /^call 2, POST \/v1\/transaction, 2\d{3}-.*Z$/,
        what: 'body, data[0].amount',
        recorded: '"100.01"',
        found: '"100.00"',
      },
    ],
    [
      'the same JSON in other bytes',
      changed(paid, { text: lines[paid].text.replace('":', '" :') }),
      { what: /^body, from character \d+ on$/, recorded: /" :/, found: /":/ },
    ],
    ['a status', changed(paid, { status: 201 }), { what: 'status', recorded: '201', found: '200' }],
    [
      'a header',
      changed(paid, { headers: { ...lines[paid].headers, 'retry-after': '1' } }),
      { what: 'header retry-after', recorded: '"1"', found: 'nothing' },
    ],
    [
      'a call',
      changed(find('call', 2), {
        text: JSON.stringify({ ...PAYMENT, amount: 101 }),
        headers: lines[find('call', 2)].headers,
      }),
      { at: /^call 2,/, what: 'body, data[0].amount', recorded: '"100.00"', found: '"101.00"' },
    ],
    [
      'an instant',
      changed(0, { options: { ...lines[0].options, clock: '2026-01-01T00:00:01.000Z' } }),
      { at: /^call 2,/, what: 'body, data[0].created_at' },
    ],
    [
      'a seed',
      changed(0, { options: { ...lines[0].options, random_seed: 2 } }),
      { at: /^call 1,/, what: /webhook_id$/ },
    ],
    [
      'a webhook that was sent otherwise',
      changed(find('send', 2), { text: lines[find('send', 2)].text.replace('processing', 'pr') }),
      { at: /^webhook 2, POST http:/, what: 'body, type', recorded: '"transaction.pr"' },
    ],
    [
      'a webhook that was not sent',
      changed(find('send', 2), undefined),
      { at: /^webhook 2, POST/, what: 'was sent in the replay, but not in the recording' },
    ],
    [
      'an end of a webhook that is not sent',
      changed(find('sent', 2), { sent: 77 }),
      { at: 'webhook 77', what: 'was sent in the recording, but not in the replay' },
    ],
    [
      'how a webhook ended',
      changed(find('sent', 1), {
        result: { ...lines[find('sent', 1)].result, ok: false, status: 500 },
      }),
      { what: /./ },
    ],
    [
      'a secret',
      changed(
        lines.findIndex(({ secret }) => secret),
        { secret: 'other' },
      ),
      { at: /^call 3,/, what: 'body, access_token' },
    ],
  ]
  for (const [name, text, difference] of table)
    t.match((await replayRun(text, log)).difference, difference, name)
  const ring = [...lines.slice(0, paid + 1), { timer: 9, at: lines[0].at }]
  t.match(
    (await replayRun(ring.map((line) => `${JSON.stringify(line)}\n`).join(''), log)).difference,
    {
      at: 'timer 9',
      what: 'fired in the recording, but does not exist in the replay',
    },
  )
})

t.test(
  'a recording of another version, or with a torn end, is played with a warning',
  async (t) => {
    const box = await recorded(t, { clock: 'frozen' })
    await box.get('/v1/users')
    const text = await box.stop()
    const other = text.replace(`"version":"${VERSION}"`, '"version":"0.0.1"')
    t.match(await replayRun(`${other}{"call":2,"at`, log), {
      calls: 1,
      difference: undefined,
      notes: [
        'the last line is incomplete and was ignored',
        `recorded by version 0.0.1, replayed by ${VERSION}`,
      ],
    })
  },
)

t.test('what is no recording is refused by its line', async (t) => {
  const start = (await short(t))[0]
  const first = `${JSON.stringify(start)}\n`
  const table: [text: string, message: string][] = [
    ['', 'line 1 is not the start of a recording'],
    ['{}\n', 'line 1 is not the start of a recording'],
    [`${first}{"call":\n`, 'line 2 is not valid JSON'],
    [`${first}{"call":0}\n`, 'line 2 is not a valid line of a recording'],
    [`${first}{"response":3}\n`, 'the response to call 3 is recorded before the call'],
    [`${first}{"body":3,"at":1}\n`, 'the body of call 3 is recorded before the call'],
  ]
  for (const [text, message] of table) await t.rejects(replayRun(text, log), { message }, message)
})

const full = { skip: !existsSync('/dev/full') && 'there is no full device' }
t.test('where the file takes no more, the sandbox goes on, the recording ends', full, async (t) => {
  const own = createLog()
  const server = await startServer(optionsOf({ port: 0, memory: true, record: '/dev/full' }), own)
  t.teardown(server.close)
  t.match(own.lines.at(-1), 'The recording /dev/full cannot be written; it ends here')
  t.equal((await fetch(`${server.url}/users`)).status, 200)
  await t.rejects(createAdminClient({ url: server.adminUrl }).recording(), {
    status: 409,
    code: 'not_recorded',
    message: /stopped early: \/dev\/full cannot be written \(ENOSPC\)/,
  })
})

t.test('a recording that somebody deleted is an error that names the file', async (t) => {
  const box = await recorded(t, { clock: 'frozen' })
  rmSync(box.file)
  await t.rejects(box.admin.recording(), {
    status: 409,
    code: 'not_recorded',
    message: `The recording ${box.file} cannot be read (ENOENT)`,
  })
  t.equal((await box.get('/v1/users')).status, 200, 'the sandbox goes on')
})

t.test('a run that is not recorded can not be asked for', async (t) => {
  const server = await startServer(optionsOf({ port: 0, memory: true }), log)
  t.teardown(server.close)
  await t.rejects(createAdminClient({ url: server.adminUrl }).recording(), {
    status: 409,
    code: 'not_recorded',
    message: /--record FILE/,
  })
})

t.test('docs/record-and-conform.md has each kind of line', async (t) => {
  const kinds = RecordingLine.options.map(({ shape }) => Object.keys(shape)[0]!)
  const page = readFileSync(join(PACKAGE_ROOT, 'docs/record-and-conform.md'), 'utf8')
  const [, list = ''] = page.split('the others are:\n\n')
  const rows = list.split('\n\n')[0]!.split('\n')
  const shown = rows.flatMap((row) => row.split(': ')[0]!.match(/\w+/g) ?? [])
  t.strictSame(shown.sort(), kinds.sort())
})

t.test('what its caller left is left in the replay at the same place', async (t) => {
  let answer: (() => void) | undefined
  const { url } = await receiver(t, (_, response) => {
    answer = () => void response.writeHead(204).end()
  })
  const box = await recorded(t, { clock: 'frozen' })
  await box.post('/v1/clientWebhook', { url, webhook_secret: 'secret' })
  /** Sends a call, and hangs up when something is so. */
  async function leave(path: string, body: object | undefined, when: () => Promise<boolean>) {
    const gone = new AbortController()
    const sent = fetch(`${box.origin}${path}`, {
      signal: gone.signal,
      ...(body && {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    })
    sent.catch(() => {})
    while (!(await when())) await new Promise((resolve) => setTimeout(resolve, 5))
    gone.abort()
    await t.rejects(sent)
  }
  const clock = () => box.admin.clock.get()
  let looks = 0
  await leave('/__admin/wait', { for: 'request', match: { status: 599 } }, async () => {
    await clock()
    return ++looks > 2
  })
  await box.admin.rules.push({ when: { operation: 'listUsers' }, then: { delay: '30s' } } as never)
  const hits = async () => (await box.admin.rules.list()).rules[0]!.hits
  await leave('/v1/users', undefined, async () => (await hits()) === 1)
  await box.pay()
  await leave('/__admin/clock/advance', { by: '1h' }, async () => {
    await clock()
    return answer !== undefined
  })
  await box.admin.clock.get()
  answer!()
  const { now } = await box.admin.clock.advance('10ms')
  t.equal(now, '2026-01-01T00:00:00.010Z', 'time stood where its caller had left it')
  const text = await box.stop()
  const { lines } = await same(t, text)
  t.equal(lines.filter((line) => 'hang_up' in line).length, 3)
})

t.test('a rate that cannot be kept is recorded and replayed, and stops nobody', async (t) => {
  const box = await recorded(t, { 'clock-speed': 1_000_000 })
  const timeline = [{ every: '100ms', do: { trigger: 'webhook.test' as const } }]
  await box.admin.scenario.define({ title: 'x', timeline })
  for (let i = 0; i < 5; i++) t.equal((await box.get('/v1/users')).status, 200)
  await box.admin.clock.freeze()
  await box.admin.clock.advance('2m')
  const { timers } = await same(t, await box.stop())
  t.ok(timers > 10, `${timers} timers`)
})
