import { connect } from 'node:net'
import t from 'tap'
import { AADHAAR, ASHA, GUARDED, HONOURED, PAN, PAYMENT, start, until } from '../helper.ts'
import { manualTime } from '../manual-time.ts'
import { receiver, SECRET } from '../receiver.ts'

// Some of these tests wait for real time, each with its own sandbox.
t.jobs = 8

type Box = Awaited<ReturnType<typeof start>>

const START = Date.parse('2026-01-01T00:00:00.000Z')
const at = (ms: number) => new Date(START + ms).toISOString()
const rule = (then: object, more: object = {}) => ({
  when: { operation: 'createTransaction' },
  then,
  ...more,
})
const push = (box: Box, then: object, more?: object) => box.post('/__admin/rules', rule(then, more))
const payments = (box: Box) => box.sandbox.default.tables.tables.payments.count('all', 'all')
const turn = () => new Promise(setImmediate)
t.test('a delay passes in real time, on every clock; an advance ignores it', async (t) => {
  for (const clock of ['frozen', 'real'] as const) {
    const time = manualTime()
    const begin = { clock, clockSpeed: 60 }
    const box = await start(t, { sandbox: { runtime: time.runtime }, begin })
    await push(box, { delay: '2s' }, { times: 1 })
    const before = payments(box)
    let isAnswered = false
    const asked = box.pay().finally(() => {
      isAnswered = true
    })
    while (!time.left().includes(2_000)) await turn()
    t.strictSame((await box.get('/__admin/timers')).body.timers, [], 'no timer of the client')
    await box.advance('1h')
    time.pass('1999ms')
    await turn()
    t.notOk(isAnswered)
    t.equal(payments(box), before, 'the call is executed when its delay has passed')
    time.pass('1ms')
    const [paid] = (await asked).body.data
    if (clock === 'frozen') t.equal(paid.created_at, at(3_600_000), 'at the time of the client')
    t.equal(payments(box), before + 1)
    await box.close()
  }
})

t.test('delays in a range are drawn from the seed', async (t) => {
  async function run(randomSeed: number) {
    const time = manualTime()
    const box = await start(t, { sandbox: { runtime: time.runtime }, begin: { randomSeed } })
    await push(box, { delay: '200ms..2s' })
    const spans: number[] = []
    for (let i = 0; i < 8; i++) {
      const asked = box.pay({ amount: 100 + i })
      await time.waiting()
      spans.push(...time.left())
      time.pass('2s')
      t.equal((await asked).status, 200)
    }
    return spans
  }
  const spans = await run(1)
  t.equal(spans.length, 8)
  t.ok(spans.every((ms) => ms >= 200 && ms <= 2_000))
  t.ok(new Set(spans).size > 4)
  t.strictSame(await run(1), spans)
  t.notSame(await run(2), spans)
})

t.test('a call that became invalid during its delay is rejected', async (t) => {
  const time = manualTime()
  const assume = { ...HONOURED.assume, reference_id: 'unique' }
  const box = await start(t, { assume, sandbox: { runtime: time.runtime } })
  await push(box, { delay: '2s' }, { times: 1 })
  const late = box.pay({ reference_id: 'same' }, { 'idempotency-key': 'late' })
  await time.waiting()
  t.equal((await box.pay({ reference_id: 'same' })).status, 200)
  time.pass('2s')
  const { status, body } = await late
  t.equal(status, 409)
  t.equal(body.error, 'duplicate_reference')
})

t.test('respond sends its own body and headers, or the envelope of its status', async (t) => {
  const time = manualTime()
  const box = await start(t, { sandbox: { runtime: time.runtime } })
  const before = payments(box)
  const ask = async (respond: object) => {
    await push(box, { respond }, { times: 1 })
    const { body, headers, statusCode } = await box.app.inject({
      method: 'POST',
      url: '/v1/transaction',
      headers: { host: '127.0.0.1' },
      payload: PAYMENT,
    })
    return { status: statusCode, text: body, headers }
  }
  const own = await ask({
    status: 418,
    body: { tea: ['pot', 1, null] },
    headers: { 'Cache-Control': 'no-cache' },
  })
  t.equal(own.status, 418)
  t.equal(own.text, '{"tea":["pot",1,null]}')
  t.equal(own.headers['cache-control'], 'no-cache', 'its own goes first')
  t.equal(own.headers['content-type'], 'application/json; charset=utf-8')
  for (const [status, word] of [
    [401, 'unauthorized'],
    [404, 'not_found'],
    [429, 'rate_limited'],
    [500, 'injected_error'],
    [502, 'bad_gateway'],
    [503, 'service_unavailable'],
    [504, 'gateway_timeout'],
  ] as const) {
    const { text, status: sent } = await ask({ status })
    const body = JSON.parse(text)
    t.equal(sent, status)
    t.match(body, { status: false, code: status, error: word, data: null, errors: [] })
    t.ok(body.message)
  }
  t.equal((await ask({ status: 415 })).text.includes('"unsupported_media_type"'), true)
  t.equal((await ask({ status: 401 })).headers['www-authenticate'], 'Bearer')
  t.equal((await ask({ status: 503 })).headers['retry-after'], '1')
  const slow = await ask({ status: 429, headers: { 'Retry-After': '30' } })
  t.equal(slow.headers['retry-after'], '30', 'its own goes first')
  t.equal((await ask({ status: 200, body: { status: true } })).text, '{"status":true}')
  t.equal(payments(box), before, 'none was carried out')
  await push(box, { respond: { status: 503 }, delay: '1s' }, { times: 1 })
  const asked = box.pay()
  await time.waiting()
  time.pass('1s')
  t.equal((await asked).status, 503)
})

t.test('an invalid call is rejected before a rule decides', async (t) => {
  const box = await start(t)
  await push(box, { respond: { status: 503 } }, { times: 1 })
  t.equal((await box.pay({ amount: 'much' })).status, 400)
  t.equal((await box.pay({ to_user_id: ASHA })).status, 422)
  t.equal((await box.get('/__admin/rules')).body.rules[0].hits, 0)
  t.equal((await box.pay()).status, 503)
})

const CLOSE = 'Connection: close\r\n'

/** The bytes of a socket until it ends, or the error that ended it. */
function raw(port: number, body: object, headers = CLOSE) {
  const text = JSON.stringify(body)
  const socket = connect(port, '127.0.0.1')
  let got = ''
  const ended = new Promise<string>((resolve) => {
    socket.on('data', (bytes) => {
      got += bytes.toString('latin1')
    })
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)))
    socket.on('close', () => resolve(got))
  })
  socket.write(
    `POST /v1/transaction HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n${headers}\r\n${text}`,
  )
  return { socket, ended, got: () => got }
}

/** What each fault leaves of a response. */
const BROKEN = {
  reset: /^ECONNRESET$/,
  empty: /^$/,
  malformed: /^HTTP\/1\.1 200 OK\r\n[\s\S]*,\]$/,
  truncate: /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n\{/,
}

t.test('faults break the response, before or after the operation is executed', async (t) => {
  const time = manualTime()
  const box = await start(t, { sandbox: { runtime: time.runtime } })
  const { port } = await box.listen()
  // More bytes than characters.
  const body = { ...PAYMENT, reference_id: 'संदर्भ' }
  for (const at of ['before', 'after']) {
    let count = payments(box)
    for (const [fault, wanted] of Object.entries(BROKEN)) {
      await push(box, { fault, at }, { times: 1 })
      const text = await raw(port, body).ended
      t.match(text, wanted, `${fault} ${at}`)
      const [, length, sent] = /content-length: (\d+)[\s\S]*?\r\n\r\n([\s\S]*)$/i.exec(text) ?? []
      if (fault === 'truncate') t.ok(sent!.length < Number(length), `${text} ${at}`)
      if (at === 'after') count++
      t.equal(payments(box), count, `${fault} ${at}`)
    }
    await push(box, { fault: 'hang', at }, { times: 1 })
    const { socket, got } = raw(port, body)
    while ((await box.get('/__admin/rules')).body.rules[0].hits === 0) await turn()
    for (let i = 0; i < 20; i++) await turn()
    t.strictSame([socket.destroyed, got()], [false, ''])
    socket.destroy()
    t.equal(payments(box), at === 'after' ? count + 1 : count, `hang ${at}`)
  }
  // A delayed fault occurs at its own time.
  const before = payments(box)
  await push(box, { fault: 'reset', at: 'after', delay: '5s' }, { times: 1 })
  const { ended } = raw(port, PAYMENT)
  await time.waiting()
  t.equal(payments(box), before)
  time.pass('5s')
  t.equal(await ended, 'ECONNRESET')
  t.equal(payments(box), before + 1)
  t.equal((await box.pay()).status, 200)
})

t.test('the response of a rule can also have a fault', async (t) => {
  const box = await start(t)
  const { port } = await box.listen()
  const respond = { status: 503, body: { a: '0123456789' }, headers: { 'x-own': 'y' } }
  await push(box, { respond, fault: 'truncate' }, { times: 1 })
  const cut = await raw(port, PAYMENT).ended
  t.match(cut, /^HTTP\/1\.1 503 /)
  t.match(cut, /\r\n\r\n\{"a":"012$/)
  await push(box, { respond, fault: 'malformed' }, { times: 1 })
  const broken = await raw(port, PAYMENT).ended
  t.match(broken, /^HTTP\/1\.1 503 /)
  t.match(broken, '{"a":"0123456789",]')
  for (const answer of [cut, broken]) {
    t.match(answer, /^retry-after: 1\r$/im)
    t.match(answer, /^x-own: y\r$/im)
  }
})

t.test('rules see what was sent: ignored fields, and no defaults', async (t) => {
  const box = await start(t)
  const seen = async (operation: string, when: object, call: () => Promise<{ status: number }>) => {
    const then = { respond: { status: 418 } }
    await box.post('/__admin/rules', { when: { operation, ...when }, times: 1, then })
    const { status } = await call()
    await box.post('/__admin/reset', { parts: ['scenario'] })
    return status
  }
  const pay = (more: object = {}) => box.post('/v1/transaction', { ...PAYMENT, ...more })
  t.equal(await seen('createTransaction', { body: { test_case: 'lost' } }, pay), 200)
  const lost = () => pay({ test_case: 'lost' })
  t.equal(await seen('createTransaction', { body: { test_case: 'lost' } }, lost), 418)
  const absent = { body: { currency_code: { absent: true } } }
  t.equal(await seen('createTransaction', absent, pay), 418)
  const list = (query: string) => () => box.get(`/v1/users${query}`)
  t.equal(await seen('listUsers', { query: { page: { absent: true } } }, list('')), 418)
  t.equal(await seen('listUsers', { query: { tag: 'a b' } }, list('?limit=1&tag=a%20b')), 418)
  t.equal(await seen('listUsers', { query: { tag: 'a b' } }, list('?limit=1')), 200)
  const matches = { operation: { matches: '^list' } }
  t.equal(await seen('listUsers', matches, list('')), 418)

  const keyed = { when: { operation: 'createTransaction' }, key: 'body.order_id', times: 1 }
  await box.post('/__admin/rules', { ...keyed, then: { respond: { status: 418 } } })
  const statuses = []
  for (const order_id of [1, 1, 2]) statuses.push((await pay({ order_id })).status)
  t.same(statuses, [418, 200, 418])
})

t.test('a document whose rule answers the call spends no rules of the others', async (t) => {
  const box = await start(t, { ...GUARDED, app: { explain: true } })
  const when = { operation: 'submitKyc' }
  await box.post('/__admin/rules', {
    name: 'fails',
    when,
    times: 1,
    then: { kyc: [{ status: 'failed' }] },
  })
  await box.post('/__admin/rules', {
    name: 'down',
    when: { ...when, item: { document_type: 'tid' } },
    times: 1,
    then: { respond: { status: 500 } },
  })
  const kyc = [PAN, AADHAAR]
  const send = () => box.post('/v1/kyc', { user_id: ASHA, kyc })
  const down = await send()
  t.equal(down.status, 500)
  t.match(down.headers['x-sandbox-rule'], /^rule:rul_\d+: down$/)
  const { body } = await send()
  t.match(body.data, [{ status: false }, { status: true }], 'the other rule was still there')
})

t.test('a lost response is replayed for its idempotency key', async (t) => {
  const box = await start(t, HONOURED)
  const { port } = await box.listen()
  for (const [fault, at, replayed] of [
    ['reset', 'after', 'true'],
    ['empty', 'after', 'true'],
    ['truncate', 'after', 'true'],
    // What was not carried out is not kept.
    ['reset', 'before', undefined],
  ] as const) {
    const before = payments(box)
    const key = `${fault} ${at}`
    await push(box, { fault, at }, { times: 1 })
    await raw(port, PAYMENT, `Idempotency-Key: ${key}\r\n${CLOSE}`).ended
    t.equal(payments(box), at === 'after' ? before + 1 : before, key)
    const again = await box.pay({}, { 'idempotency-key': key })
    t.strictSame([again.status, again.headers['idempotency-replayed']], [200, replayed], key)
    t.ok(box.sandbox.default.payouts.payments.get(again.body.data[0].transaction_id))
    t.equal(payments(box), before + 1, 'the money moved once')
  }
})

t.test('injected responses are not stored for a key', async (t) => {
  const box = await start(t, HONOURED)
  for (const status of [400, 404, 409, 429, 503]) {
    const key = { 'idempotency-key': `k${status}` }
    await push(box, { respond: { status } }, { times: 1 })
    t.equal((await box.pay({}, key)).status, status)
    const next = await box.pay({}, key)
    t.equal(next.status, 200)
    t.notOk(next.headers['idempotency-replayed'])
  }
})

t.test('a replay counts no hit of a rule', async (t) => {
  const box = await start(t, HONOURED)
  await push(box, { delay: '0s' })
  const key = { 'idempotency-key': 'k' }
  await box.pay({}, key)
  await box.pay({}, key)
  t.equal((await box.get('/__admin/rules')).body.rules[0].hits, 1)
})

t.test('a delayed request gets an error when its client is reset or deleted', async (t) => {
  for (const replace of ['reset', 'restore', 'delete'] as const) {
    const time = manualTime()
    const { post, call } = await start(t, { sandbox: { runtime: time.runtime } })
    const base = '/@late/__admin'
    await post(`${base}/snapshots`, { name: 'before' })
    await post(`${base}/rules`, { when: { operation: 'createTransaction' }, then: { delay: '1h' } })
    const waiting = post('/@late/v1/transaction', PAYMENT)
    await time.waiting()
    await post(`${base}/reset`, { parts: ['requests'] })
    t.equal(time.left().length, 1, 'the reset of another part changes nothing')
    if (replace === 'delete') await call('DELETE', '/__admin/clients/late')
    else if (replace === 'reset') await post(`${base}/reset`)
    else await post(`${base}/snapshots/before/restore`)
    t.match(await waiting, { status: 503, body: { error: 'not_ready' } }, replace)
    t.strictSame(time.left(), [])
  }
})

t.test(
  'a delay after the operation: its event is there before its response, on any clock',
  async (t) => {
    for (const clock of ['frozen', 'real'] as const) {
      const time = manualTime()
      const hook = await receiver(t)
      const sandbox = { runtime: time.runtime }
      const box = await start(t, { sandbox, begin: { clock }, ...HONOURED })
      await box.post('/v1/clientWebhook', { url: hook.url, webhook_secret: SECRET })
      const before = payments(box)
      await push(box, { delay: '3s', at: 'after' }, { times: 1 })
      const late = box.pay({}, { 'idempotency-key': 'late' })
      await until(() => hook.received.length > 0)
      t.equal(payments(box), before + 1)
      t.equal(hook.received[0]!.type, 'transaction.pending')
      t.equal((await box.get(`/v1/transaction/${hook.received[0]!.resource}`)).status, 200)
      t.equal((await box.get('/__admin/requests')).body.requests[0].operation, 'getTransaction')
      time.pass('3s')
      const { status, body } = await late
      t.strictSame([status, body.data[0].transaction_id], [200, hook.received[0]!.resource])
      const [logged] = (await box.get('/__admin/requests?operation=createTransaction')).body
        .requests
      t.match(logged, { status: 200 })
      t.notOk(logged.made, 'what it returned is what the caller got')
      const again = await box.pay({}, { 'idempotency-key': 'late' })
      t.equal(again.headers['idempotency-replayed'], 'true')
      t.equal(payments(box), before + 1)
      await box.close()
    }
  },
)

t.test('who leaves during a delay after the operation has paid, and the log says so', async (t) => {
  const time = manualTime()
  const box = await start(t, { sandbox: { runtime: time.runtime } })
  const { port } = await box.listen()
  const before = payments(box)
  await push(box, { delay: '3s', at: 'after' }, { times: 1 })
  const { socket } = raw(port, PAYMENT)
  await time.waiting()
  socket.destroy()
  await until(async () => (await box.get('/__admin/requests')).body.total > 0)
  t.equal(payments(box), before + 1)
  const [logged] = (await box.get('/__admin/requests')).body.requests
  t.match(logged, { status: null, made: { data: [{ amount: '100.00' }] } })
})
