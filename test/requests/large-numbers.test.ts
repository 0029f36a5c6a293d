import t from 'tap'
import { PAYMENT, start, TOKEN } from '../helper.ts'

const SENT = '12345678901234567890'
const NEXT = '12345678901234567891'
const HONOURED = { assume: { idempotency_key: 'honoured', unknown_request_fields: 'ignored' } }

/** A box that takes bodies as texts: an object of JavaScript has no such number. */
async function box(t: Parameters<typeof start>[0]) {
  const { app, ...rest } = await start(t, HONOURED)
  const send = async (url: string, payload: string, headers = {}) => {
    const response = await app.inject({
      method: 'POST',
      url,
      payload,
      headers: { 'content-type': 'application/json', ...TOKEN, ...headers },
    })
    return { status: response.statusCode, headers: response.headers, body: response.json() }
  }
  return { ...rest, send }
}
const bodyOf = (number: string) => JSON.stringify(PAYMENT).replace('{', `{"x_order":${number},`)

t.test('a number above 2^53 is logged, found and verified as it was received', async (t) => {
  const { send, get } = await box(t)
  t.equal((await send('/v1/transaction', bodyOf(SENT))).status, 200)
  const { body: list } = await get('/__admin/requests')
  const { body } = await get(`/__admin/requests/${list.requests[0].request_id}`)
  t.equal(body.body.x_order, `XXXXXXXXXXXXXXXX${SENT.slice(-4)}`, 'masked, and its own last digits')
  const count = async (x_order: unknown) =>
    (await send('/__admin/requests/count', JSON.stringify({ match: { body: { x_order } } }))).body
  t.match(await count(SENT), { count: 1 })
  t.match(await count(NEXT), { count: 0 })
  t.match(await count({ lt: 1000 }), { count: 0 })
  for (const [url, body] of [
    ['requests/verify', `{"match":{"body":{"x_order":${SENT}}}}`],
    ['requests/count', `{"match":{"body":{"x_order":{"gt":${SENT}}}}}`],
    ['requests/count', '{"match":{"body":{"x_order":{"in":[0.12345678901234567891]}}}}'],
    ['rules', `{"then":{"respond":{"status":200,"body":{"id":${SENT}}}}}`],
    ['webhooks/trigger', `{"event":"user.created","override":{"x":${SENT}}}`],
  ])
    t.match(await send(`/__admin/${url}`, body!), {
      status: 400,
      body: { message: /number .*891?0?, which JSON rounds: put its digits in quotes/ },
    })
  t.match(await count({ gte: SENT }), { message: /decimal text of at most 15 digits/ })
  const missed = await send('/__admin/requests/verify', `{"match":{"body":{"x_order":"${NEXT}"}}}`)
  t.match(missed, { status: 409, body: { message: new RegExp(`X${SENT.slice(-4)}`) } })
  await send('/v1/transaction', bodyOf('{"toString":1}'))
  t.match(await count({ gt: 1000 }), { count: 1 })
})

t.test('two numbers that JavaScript takes for one are two bodies for one key', async (t) => {
  const { send } = await box(t)
  const key = { 'idempotency-key': 'a' }
  t.equal((await send('/v1/transaction', bodyOf(SENT), key)).status, 200)
  const again = await send('/v1/transaction', bodyOf(SENT), key)
  t.match(again, { status: 200, headers: { 'idempotency-replayed': 'true' } })
  for (const other of [NEXT, `"${SENT}"`])
    t.match(await send('/v1/transaction', bodyOf(other), key), {
      body: { error: 'idempotency_mismatch' },
    })
})

t.test('an error invents no digits, and a number that a double holds stays one', async (t) => {
  const { send, get } = await box(t)
  for (const [field, number, status] of [
    ['remark', SENT, 200],
    ['reference_id', SENT, 400],
    ['amount', SENT, 400],
    ['benif_bank_id', SENT, 400],
    ['amount', '250.0000000000000000001', 400],
    ['amount', '250.00000000000000000', 200],
  ] as const) {
    const payment = JSON.stringify({ ...PAYMENT, [field]: '@' }).replace('"@"', number)
    const answer = await send('/v1/transaction', payment)
    t.equal(answer.status, status, `${field} ${number}`)
    t.notMatch(JSON.stringify(answer.body).replaceAll(number, ''), /\d{16}/, field)
  }
  await send(
    '/v1/user',
    `{"email":1.50,"mobile":9007199254740992,"a":[1e2,"1e2",-5,""],
    "b":[0.1234567890123456789,123456789012345678.00,12345678901234567.5,0.30000000000000004]}`,
  )
  const { body: list } = await get('/__admin/requests')
  const { body } = await get(`/__admin/requests/${list.requests[0].request_id}`)
  t.strictSame(body.body.a, [100, '1e2', -5, ''])
  t.strictSame(body.body.b, [
    '0.XXXXXXXXXXXXXXX6789',
    'XXXXXXXXXXXXXX5678.00',
    'XXXXXXXXXXXXX4567.5',
    '0.XXXXXXXXXXXXX0004',
  ])
  t.equal(body.body.email, 1.5)
})
