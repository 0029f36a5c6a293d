// What the caller sees late: a response in place of that of a call that is carried out, its effect, and its rows.
import { join } from 'node:path'
import t from 'tap'
import { ASHA, createLog, HONOURED, KABIR, PAN, pluck, ROHAN, start, TOKEN } from '../helper.ts'

type Box = Awaited<ReturnType<typeof start>>
const PAYMENTS = '/v1/transaction'
const HISTORY = '/v1/transaction/history'
const push = (box: Box, then: object, operation = 'createTransaction') =>
  box.post('/__admin/rules', { when: { operation }, times: 1, then })
const total = async (box: Box, base = '') =>
  (await box.get(`${base}${PAYMENTS}`)).body.data.total_transation
const GONE = { respond: { status: 504 }, effect: 'after_timeout', after: '30s' }

t.test('respond with at: after: the payment is made, and the 504 comes back', async (t) => {
  const box = await start(t, HONOURED)
  const before = await total(box)
  const transaction = [{ status: 'PENDING' }, { status: 'FAILED', after: '1s' }]
  await push(box, { respond: { status: 504 }, at: 'after', transaction })
  const key = { 'idempotency-key': 'k' }
  t.match(await box.pay({ reference_id: 'r' }, key), { status: 504, body: { code: 504 } })
  t.equal(await total(box), before + 1)
  const [made] = (await box.get(PAYMENTS)).body.data.transactions
  const { body } = await box.get(`/__admin/transactions/${made.transaction_id}`)
  t.match(body, { decided_by: { by: 'rule' }, requests: [{ status: 504 }] })
  const again = await box.pay({ reference_id: 'r' }, key)
  t.equal(again.body.data[0].transaction_id, made.transaction_id, 'the key has the response')
  await box.advance('1s')
  t.equal((await box.get(PAYMENTS)).body.data.transactions[0].transaction_status, 'failed')
  await push(box, { respond: { status: 502 }, effect: 'after_timeout' })
  t.equal((await box.pay()).status, 502)
  t.equal(await total(box), before + 2, 'an effect without a time comes at once')
})

t.test('a late effect comes at its time, also after a restart', async (t) => {
  const file = join(t.testdir({}), 'db.json')
  const first = await start(t, { ...HONOURED, sandbox: { file } })
  const before = await total(first)
  const key = { 'idempotency-key': 'k' }
  await push(first, { ...GONE, transaction: [{ status: 'PENDING' }], visible_after: '5s' })
  t.equal((await first.pay({}, key)).status, 504)
  const item = { ...PAN, document_number: 'ABCPE1234F' }
  await push(first, GONE, 'submitKyc')
  await first.post('/v1/kyc', { user_id: KABIR, kyc: [item] })
  const { text, body } = await first.get('/__admin/timers')
  t.same(pluck(body.timers, 'kind'), ['call.late', 'call.late'])
  t.notMatch(text, item.document_number)
  t.equal((await first.pay({}, key)).body.error, 'idempotency_in_flight')
  const { body: state } = await first.get('/__admin/state')
  await first.close()
  const box = await start(t, { ...HONOURED, sandbox: { file } })
  const records = async () => (await box.get(`/v1/kyc/${KABIR}`)).body.data.response.data.kycData
  const had = (await records()).length
  for (const run of ['restart', 'import']) {
    await box.advance('29s')
    t.equal(await total(box), before, run)
    const { text } = await box.advance('1s')
    t.notMatch(text, item.document_number)
    t.equal((await records()).length, had + 1)
    t.equal(await total(box), before, 'its row is late, too')
    await box.advance('1h')
    const [made] = (await box.get(PAYMENTS)).body.data.transactions
    t.equal(made.transaction_status, 'pending', 'with the steps of the rule')
    t.equal((await box.pay({}, key)).body.data[0].transaction_id, made.transaction_id)
    t.equal((await box.put('/__admin/state', state)).status, 200)
  }
})

t.test('a late effect that is impossible at its time is logged', async (t) => {
  const log = createLog()
  const assume = { ...HONOURED.assume, duplicate_user: 'conflict' }
  const box = await start(t, { assume, sandbox: { log } })
  const user = { email: 'a@example.com', mobile: '9876543210' }
  const key = { 'idempotency-key': 'k' }
  await push(box, GONE, 'createUser')
  t.equal((await box.post('/v1/user', user, key)).status, 504)
  t.equal((await box.post('/v1/user', user)).status, 201)
  t.strictSame((await box.advance('30s')).body.fired, [])
  t.match(log.lines.at(-1), /late effect of createUser is not possible any more: The email/)
  t.equal((await box.post('/v1/user', user, key)).status, 409, 'its key is free')
  await push(box, GONE, 'createUser')
  t.equal((await box.post('/v1/user', user)).status, 409, 'a bad call reaches no rule')
})

t.test('visible_after: reads lag behind writes', async (t) => {
  const file = join(t.testdir({}), 'db.json')
  const first = await start(t, { sandbox: { file } })
  const rule = { when: { operation: { in: ['createUser', 'submitKyc', 'addBankAccount'] } } }
  await first.post('/__admin/rules', { ...rule, then: { visible_after: '5s' } })
  const users = async (box: Box) => (await box.get('/v1/users')).body.data.total_users
  const had = await users(first)
  const user = { email: 'lag@example.com', mobile: '9876543210' }
  const { body, status } = await first.post('/v1/user', user)
  const id = body.data.user_id
  t.equal(status, 201)
  t.equal((await first.post('/v1/kyc', { user_id: id, kyc: [PAN] })).status, 201, 'writes see it')
  const account = { user_id: id, account_number: '123456789', ifsc_code: 'HDFC0000001' }
  const bank = (await first.post('/v1/bank', account)).body.data.data.bank_id
  await push(first, { visible_after: '7s' })
  const paid = await first.pay({ from_user_id: ROHAN, to_user_id: id, benif_bank_id: bank })
  const payment = `${PAYMENTS}/${paid.body.data[0].transaction_id}`
  t.equal((await first.get(`/__admin/users/${id}`)).body.bank_accounts.length, 1)
  await first.post('/v1/kyc', { user_id: ASHA, kyc: [PAN] })
  const { body: state } = await first.get('/__admin/state')
  await first.close()
  const box = await start(t, { sandbox: { file } })
  const paths = [`/v1/user/${id}`, `/v1/kyc/${id}`, `/v1/bank/${id}`, payment]
  const history = async () => (await box.get(HISTORY, TOKEN)).body.data.total_transactions
  const kyc = async () => (await box.get(`/v1/kyc/${ASHA}`)).body.data.response.data.kycData.length
  await box.post('/__admin/snapshots', { name: 's' })
  for (const back of ['snapshot', 'state', '']) {
    const [records, lines, payments] = [await kyc(), await history(), await total(box)]
    await box.advance('4s')
    for (const path of paths) t.equal((await box.get(path)).status, 404, path)
    t.equal((await box.get(`${HISTORY}/user/${ROHAN}`, TOKEN)).status, 200)
    t.equal((await box.get(`${HISTORY}/user/${id}`, TOKEN)).status, 404)
    t.equal(await users(box), had)
    await box.advance('1s')
    t.equal(await users(box), had + 1)
    t.equal((await box.get(paths[1]!)).body.data.response.data.kycData.length, 1)
    t.equal((await box.get(paths[2]!)).body.data.length, 1)
    t.equal(await kyc(), records + 1)
    t.equal(await total(box), payments, 'each has its own time')
    await box.advance('2s')
    for (const path of paths) t.equal((await box.get(path)).status, 200, path)
    t.same([await total(box), await history()], [payments + 1, lines + 1])
    if (back === 'snapshot') await box.post('/__admin/snapshots/s/restore')
    if (back === 'state') t.equal((await box.put('/__admin/state', state)).status, 200)
  }
})
