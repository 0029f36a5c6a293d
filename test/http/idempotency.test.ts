import t from 'tap'
import { ASHA, HONOURED, PAN, PAYMENT, ROHANS_ACCOUNT, start } from '../helper.ts'

const KEY = { 'idempotency-key': 'key-1' }
const USER = { email: 'nila@example.com', mobile: '9876500001' }

t.test('the same request again gets the same bytes and creates nothing', async (t) => {
  const { post, get, call } = await start(t, HONOURED)
  const requests: [string, object][] = [
    ['/v1/user', USER],
    ['/v1/kyc', { user_id: ASHA, kyc: [PAN] }],
    ['/v1/bank', { user_id: ASHA, account_number: '123456789012', ifsc_code: 'HDFC0000001' }],
    ['/v1/transaction', PAYMENT],
    ['/v1/clientWebhook', { url: 'http://127.0.0.1:1/', webhook_secret: 's' }],
  ]
  for (const [path, body] of requests) {
    const first = await post(path, body, KEY)
    t.ok(first.status < 300, path)
    t.notOk('idempotency-replayed' in first.headers)
    await call('POST', '/__admin/clock/advance', { by: '1h' })
    const state = (await get('/v1/users?limit=100')).text + (await get('/v1/transaction')).text
    const second = await post(path, body, KEY)
    t.equal(second.headers['idempotency-replayed'], 'true')
    t.equal(second.status, first.status)
    t.equal(second.text, first.text)
    t.equal((await get('/v1/users?limit=100')).text + (await get('/v1/transaction')).text, state)
    const other = await post(path, { ...body, more: 1 }, KEY)
    t.equal(other.status, 422)
    t.equal(other.body.error, 'idempotency_mismatch')
    t.match(other.body.message, 'If you are retrying, send the same body as before')
  }
})

t.test('a key belongs to one client, and works only for POST', async (t) => {
  const { post, get, put } = await start(t, HONOURED)
  const mine = await post('/v1/user', USER, KEY)
  const theirs = await post('/@other/v1/user', USER, KEY)
  t.equal(theirs.status, 201)
  t.not(theirs.body.data.client_id, mine.body.data.client_id)
  t.equal((await get('/v1/users', KEY)).status, 200)
  t.equal((await put('/v1/clientWebhook', { url: 'http://x/' }, KEY)).status, 404)
})

t.test('a response is stored for 24 hours of the client’s clock', async (t) => {
  const assume = { ...HONOURED.assume, duplicate_user: 'conflict' }
  const { post, advance } = await start(t, { assume })
  const first = await post('/v1/user', USER, KEY)
  await advance('86399999ms')
  t.equal((await post('/v1/user', USER, KEY)).text, first.text)
  await advance('1ms')
  const later = await post('/v1/user', USER, KEY)
  t.equal(later.status, 409)
  t.equal(later.body.error, 'user_exists')
})

t.test('an error is not stored, so the key stays free for the corrected request', async (t) => {
  const { post, sandbox } = await start(t, {
    assume: { ...HONOURED.assume, duplicate_user: 'conflict' },
  })
  const refused: [path: string, sent: object | string, status: number][] = [
    ['/v1/user', '{"email":', 400],
    ['/v1/transaction', { ...PAYMENT, to_user_id: ASHA }, 422],
    ['/v1/transaction', { ...PAYMENT, amount: 0 }, 400],
    ['/v1/transaction', { ...PAYMENT, to_user_id: ROHANS_ACCOUNT }, 404],
    ['/v1/user', { ...USER, email: 'asha.nair@example.com' }, 409],
  ]
  const kept = sandbox.default.tables.tables.idempotency
  for (const [path, sent, status] of refused) {
    const first = await post(path, sent, { ...KEY, 'content-type': 'application/json' })
    t.equal(first.status, status)
    t.notOk('idempotency-replayed' in (await post(path, sent, KEY)).headers)
    t.equal([...kept.rows()].length, 0)
  }
  t.equal((await post('/v1/user', USER, { ...KEY, authorization: 'Bearer nobody' })).status, 401)
  t.equal((await post('/v1/transaction', PAYMENT, KEY)).status, 200)
  t.equal((await post('/v1/user', USER, KEY)).status, 201)
})

t.test('bodies are compared as JSON values, not as bytes', async (t) => {
  const { post } = await start(t, HONOURED)
  const json = { ...KEY, 'content-type': 'application/json' }
  const { email, mobile } = USER
  const first = await post('/v1/user', JSON.stringify({ email, mobile }), json)
  const other = await post('/v1/user', JSON.stringify({ mobile, email }, null, 2), json)
  t.equal(other.text, first.text)
  t.equal(other.headers['idempotency-replayed'], 'true')
  const changed = await post('/v1/user', JSON.stringify({ email, mobile, x: [1, 2] }), json)
  t.equal(changed.body.error, 'idempotency_mismatch')
})

t.test('by default the header has no effect: each POST runs', async (t) => {
  const { pay, sandbox } = await start(t)
  const { payments } = sandbox.default.tables.tables
  const before = payments.count('all', 'all')
  for (const amount of [10, 10, 20]) {
    const answer = await pay({ amount }, KEY)
    t.equal(answer.status, 200)
    t.notOk('idempotency-replayed' in answer.headers)
  }
  t.equal(payments.count('all', 'all'), before + 3)
  t.equal((await pay({}, { 'idempotency-key': 'x'.repeat(500) })).status, 200)
})

t.test('many concurrent requests with one key create one payment', async (t) => {
  const { post, get } = await start(t, HONOURED)
  const answers = await Promise.all(Array.from({ length: 20 }, () => post('/v1/user', USER, KEY)))
  const made = answers.filter(({ status }) => status === 201)
  t.ok(made.length >= 1)
  t.ok(answers.every(({ status }) => status === 201 || status === 409))
  t.equal(new Set(made.map(({ text }) => text)).size, 1)
  t.equal((await get('/v1/users')).body.data.total_users, 111)
})

t.test('a key has 1 to 255 characters', async (t) => {
  const { post } = await start(t, HONOURED)
  const send = (key: string) => post('/v1/user', USER, { 'idempotency-key': key })
  for (const key of ['', '""', 'k'.repeat(256)])
    t.match((await send(key)).body, {
      code: 400,
      errors: [{ field: 'Idempotency-Key', message: /1 to 255 characters/ }],
    })
  t.equal((await send('k'.repeat(255))).status, 201)
  await post('/__admin/reset')
  t.equal((await send('abc')).status, 201)
  t.equal((await send('"abc"')).headers['idempotency-replayed'], 'true', 'quotes are no part of it')
})

t.test('new keys remove expired ones, so that they never accumulate', async (t) => {
  const { post, advance, sandbox, get } = await start(t, HONOURED)
  const { idempotency } = sandbox.default.tables.tables
  const kept = () => [...idempotency.rows()].map(({ key }) => key.split(' ').at(-1))
  const send = (key: string, mobile: string) =>
    post('/v1/user', { email: `u${mobile}@example.com`, mobile }, { 'idempotency-key': key })
  const mobiles = new Map<string, string>()
  const use = (key: string) => {
    const mobile = String(9_100_000_000 + users++)
    mobiles.set(key, mobile)
    return send(key, mobile)
  }
  let users = 0
  for (let i = 0; i < 20; i++) await use(`old-${i}`)
  await advance('12h')
  for (let i = 0; i < 3; i++) await use(`young-${i}`)
  t.equal(kept().length, 23)
  await advance('12h')
  await use('new-0')
  t.equal(kept().length, 22, 'two go for each that comes')
  t.notOk(kept().includes('old-0') || kept().includes('old-1'), 'the oldest first')
  for (let i = 1; i < 15; i++) await use(`new-${i}`)
  t.strictSame(
    kept().filter((key) => !key!.startsWith('new')),
    ['young-0', 'young-1', 'young-2'],
    'what is not expired stays',
  )
  t.equal((await send('young-0', mobiles.get('young-0')!)).headers['idempotency-replayed'], 'true')

  await advance('12h')
  await use('young-2')
  await advance('13h')
  for (let i = 0; i < 8; i++) await use(`last-${i}`)
  t.strictSame(
    kept().filter((key) => !key!.startsWith('last')),
    ['young-2'],
    'a key that was used anew is kept from then on, and holds no older one back',
  )
  await post('/__admin/reset')
  t.strictSame(kept(), [])
  t.equal((await get('/v1/users')).body.data.total_users, 110)
})
