import t from 'tap'
import { HistoryRecord, Transaction } from '../../src/model/transaction.ts'
import { type Answer, ASHA, GUARDED, KABIR, PAYMENT, ROHAN, start, TOKEN } from '../helper.ts'

const _CLIENT = 'c0000000-0000-4000-8000-000000000001'
const UNKNOWN = '00000000-0000-4000-8000-000000000999'
const T0 = '2026-01-01T00:00:00.000Z'

t.test('one payment is seen in two views, field by field', async (t) => {
  const { pay, get } = await start(t, GUARDED)
  const made = await pay({ amount: 1500.5, reference_id: 'invoice-17', remark: 'Thanks' })
  t.equal(made.status, 200)
  const { transaction_id } = made.body.data[0]
  const read = await get(`/v1/transaction/${transaction_id}`)
  t.strictSame(read.body, { ...made.body, message: 'Transaction fetched successfully' })
  t.strictSame((await get('/v1/transaction?limit=1')).body.data.transactions, made.body.data)

  const [record] = (await get('/v1/transaction/history?limit=1', TOKEN)).body.data.transactions
  t.match(record.partner_transaction_id, /^PTX\d{15}$/)
  t.strictSame(Object.keys(read.body.data[0]), Object.keys(Transaction.shape), 'in its order')
  t.strictSame(Object.keys(record), Object.keys(HistoryRecord.shape))
  t.not(record.id, transaction_id, 'an id of its own')
  t.match(record, {
    client_transaction_id: 'invoice-17',
    user_id: ASHA,
    account_holder_name: 'ROHAN MEHTA',
    amount: '1500.50',
    status: 'PENDING',
    remark: 'Thanks',
  })
})

t.test('steps by the client’s clock, and stays where it ends', async (t) => {
  const { pay, get, advance } = await start(t, GUARDED)
  const [{ transaction_id }] = (await pay()).body.data
  const steps: [by: string, status: string, shown: string, updated: string][] = [
    ['999ms', 'PENDING', 'pending', T0],
    ['1ms', 'PROCESSING', 'pending', '2026-01-01T00:00:01.000Z'],
    ['1999ms', 'PROCESSING', 'pending', '2026-01-01T00:00:01.000Z'],
    ['1ms', 'SUCCESS', 'success', '2026-01-01T00:00:03.000Z'],
    ['3650d', 'SUCCESS', 'success', '2026-01-01T00:00:03.000Z'],
  ]
  for (const [by, status, transaction_status, updated_at] of steps) {
    await advance(by)
    const [shown] = (await get(`/v1/transaction/${transaction_id}`)).body.data
    const [record] = (await get('/v1/transaction/history?limit=1', TOKEN)).body.data.transactions
    t.match(shown, { transaction_status, updated_at }, `after ${by}`)
    t.match(record, { status, updated_at, metadata: null })
    if (status !== 'SUCCESS') {
      t.equal(shown.utr, null)
      t.equal(record.utr, null)
      continue
    }
    t.match(record.utr, /^6001\d{8}$/, 'the last digit of the year, the day of the year')
    t.equal(shown.utr, `XXXXXXXX${record.utr.slice(-4)}`)
  }
})

t.test('a failure has reason, description and source, and no UTR', async (t) => {
  const { sandbox, pay, get } = await start(t, GUARDED)
  const reasons: [string, string][] = [
    ['insufficient_funds', 'business'],
    ['beneficiary_bank_offline', 'beneficiary_bank'],
    ['gateway_down', 'gateway'],
    ['server_error', 'internal'],
    ['moon_in_the_wrong_house', 'gateway'],
  ]
  for (const [reason, source] of reasons) {
    const [{ transaction_id }] = (await pay()).body.data
    sandbox.default.payouts.payments.simulate(transaction_id, { status: 'FAILED', reason })
    const [record] = (await get('/v1/transaction/history?limit=1', TOKEN)).body.data.transactions
    t.match(record, { status: 'FAILED', utr: null, metadata: { reason, source } })
    t.ok(record.metadata.description.length > 5)
    t.strictSame(Object.keys(record.metadata), ['reason', 'description', 'source'])
    const [shown] = (await get(`/v1/transaction/${transaction_id}`)).body.data
    t.match(shown, { transaction_status: 'failed', utr: null })
    t.notOk('metadata' in shown)
  }
  t.strictSame(sandbox.default.clock.timers.pending(), [], 'what was planned is dropped')
})

t.test('only some moves are possible, and a refusal says which', async (t) => {
  const { pay, post, get } = await start(t, GUARDED)
  const [{ transaction_id }] = (await pay()).body.data
  const move = async (status: string) =>
    (await post(`/__admin/simulate/transactions/${transaction_id}`, { status })).body
  const utr = async () => (await get(`/v1/transaction/${transaction_id}`)).body.data[0].utr
  const all = ['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED']
  const cases: [from: string, to: string[], end: string][] = [
    [
      'PENDING',
      ['PROCESSING', 'SUCCESS', 'FAILED'],
      'It may become PROCESSING, SUCCESS or FAILED.',
    ],
    ['PROCESSING', ['SUCCESS', 'FAILED'], 'It may become SUCCESS or FAILED.'],
    ['SUCCESS', ['FAILED'], 'It may become FAILED.'],
    ['FAILED', [], 'This status is final.'],
  ]
  for (const [status, open, end] of cases) {
    if (status !== 'PENDING') t.match(await move(status), { status })
    if (status === 'FAILED') t.match(await utr(), /^X+\d{4}$/, 'late, it keeps its UTR')
    for (const to of all.filter((one) => !open.includes(one)))
      t.match(await move(to), {
        error: 'invalid_transition',
        message: `A ${status} transaction cannot become ${to}. ${end}`,
      })
  }
})

t.test('each precondition has its own word', async (t) => {
  const { post, get } = await start(t, GUARDED)
  const before = (await get('/v1/transaction')).text
  const user = (n: string) => `00000000-0000-4000-8000-000000000${n}`
  const account = (n: string) => `b0000000-0000-4000-8000-000000000${n}`
  const refused: [change: object, status: number, word: string][] = [
    [{ from_user_id: UNKNOWN }, 404, 'not_found'],
    [{ to_user_id: UNKNOWN }, 404, 'not_found'],
    [{ benif_bank_id: UNKNOWN }, 404, 'not_found'],
    [{ from_user_id: user('201') }, 404, 'not_found'],
    [{ benif_bank_id: account('072') }, 404, 'not_found'],
    [{ from_user_id: ROHAN, to_user_id: ROHAN }, 422, 'same_user'],
    [{ benif_bank_id: account('001') }, 422, 'bank_user_mismatch'],
    [{ to_user_id: user('012'), benif_bank_id: account('009') }, 422, 'bank_not_verified'],
    [{ to_user_id: user('013'), benif_bank_id: account('010') }, 422, 'bank_not_verified'],
    [{ reference_id: 'RENT-2025-02' }, 409, 'duplicate_reference'],
  ]
  for (const [change, status, word] of refused) {
    const answer = await post('/v1/transaction', { ...PAYMENT, ...change })
    t.equal(answer.status, status, JSON.stringify(change))
    t.equal(answer.body.error, word)
    t.match(answer.body.errors, [{ field: Object.keys(change).at(-1) }])
  }
  t.equal((await get('/v1/transaction')).text, before)
})

t.test('a client that checks KYC lets only those pay who have a successful record', async (t) => {
  const { post } = await start(t)
  const headers = { authorization: 'Bearer sbx_kyc_token' }
  const user = (n: number) => `00000000-0000-4000-8000-000000000${n}`
  const payers: [number, number][] = [
    [301, 200],
    [303, 422],
    [304, 422],
    [305, 422],
  ]
  for (const [from, status] of payers) {
    const body = {
      from_user_id: user(from),
      to_user_id: user(302),
      benif_bank_id: 'b0000000-0000-4000-8000-000000000076',
      amount: 10,
    }
    const answer = await post('/v1/transaction', body, headers)
    t.equal(answer.status, status, String(from))
    if (status === 422) t.equal(answer.body.error, 'kyc_required')
  }
})

t.test('a second payment with a reference is sent to read the first one', async (t) => {
  const { pay, advance, get } = await start(t, GUARDED)
  const { transaction_id } = (await pay({ reference_id: 'INV-7' })).body.data[0]
  for (const [by, status] of [
    ['0s', 'pending'],
    ['1s', 'pending'],
    ['2s', 'success'],
  ] as const) {
    await advance(by)
    const { body } = await pay({ reference_id: 'INV-7' })
    const place = `GET /transaction/${transaction_id}`
    t.equal(
      body.message,
      `This reference_id was used for transaction ${transaction_id}, which is ${status}. If you are retrying, do not pay again: read it with ${place}. Only a different payment may have a different reference_id.`,
    )
    t.notMatch(body.message, /new/)
    const read = await get(`/v1/transaction/${transaction_id}`)
    t.equal(read.body.data[0].transaction_status, status)
  }
})

t.test('a reference is used once per client, also after a failure', async (t) => {
  const { sandbox, pay, get } = await start(t, GUARDED)
  const made = await pay({ reference_id: 'twice' })
  const [{ transaction_id }] = made.body.data
  sandbox.default.payouts.payments.simulate(transaction_id, { status: 'FAILED' })
  const again = await pay({ reference_id: 'twice', amount: 200 })
  t.equal(again.status, 409)
  t.match(again.body, { error: 'duplicate_reference', errors: [{ field: 'reference_id' }] })
  t.match(again.body.message, 'which is failed')
  t.equal((await pay({ reference_id: 'TWICE' })).status, 200, 'case tells references apart')
  t.equal((await pay({}, { authorization: 'Bearer sbx_test_token' })).status, 200)
  const ids = (await get('/v1/transaction/history?limit=3', TOKEN)).body.data.transactions
  const [{ client_transaction_id }] = ids
  t.match(client_transaction_id, /^TXN\d{15}$/, 'made up where no reference was sent')
  t.equal((await pay({ reference_id: client_transaction_id })).status, 409, 'and nobody else’s')
})

t.test('takes and refuses amounts, and rounds none', async (t) => {
  const { post, get } = await start(t)
  const taken: [unknown, string][] = [
    [1, '1.00'],
    [1.5, '1.50'],
    [19.99, '19.99'],
    [1.1, '1.10'],
    // Numbers that times 100 are no whole number in binary.
    [1.15, '1.15'],
    [8.2, '8.20'],
    [4.35, '4.35'],
    [1_234_567.89, '1234567.89'],
    [9_999_999_999.99, '9999999999.99'],
    [1e3, '1000.00'],
    ['1', '1.00'],
    ['1.5', '1.50'],
    ['9999999999.99', '9999999999.99'],
    ['0000000001.00', '1.00'],
  ]
  for (const [amount, shown] of taken) {
    const answer = await post('/v1/transaction', { ...PAYMENT, amount })
    t.equal(answer.body.data?.[0].amount, shown, JSON.stringify(amount))
  }
  const before = (await get('/v1/transaction')).text
  const refused: unknown[] = [
    ...[0, 0.99, -1, 1.005, 1.1 + 2.2, 1e10, 9_999_999_999.995, 1e21, 1e-7, 1e308],
    ...['', '0', '0.99', '1.005', '1.000', '1.', '.5', '-1', '+1', '1e3', ' 1', '1 ', '1\n'],
    ...['1,000', '1_000', '1.2.3', '100 INR', '10000000000', 'NaN', 'Infinity', '0x10', '१'],
    ...[null, true, [], [1], {}, undefined],
  ]
  for (const amount of refused) {
    const answer = await post('/v1/transaction', { ...PAYMENT, amount })
    t.equal(answer.status, 400, JSON.stringify(amount))
    t.match(answer.body, { error: 'validation_failed', errors: [{ field: 'amount' }] })
    t.notMatch(answer.text, /pattern|regex/i, 'the message is for people')
  }
  const huge = await post('/v1/transaction', JSON.stringify(PAYMENT).replace('100', '1e999'), {
    'content-type': 'application/json',
  })
  t.equal(huge.status, 400)
  t.equal((await get('/v1/transaction')).text, before)
})

t.test('refuses other malformed fields', async (t) => {
  const { post, pay } = await start(t, GUARDED)
  const refused: [object, string, string][] = [
    [{ from_user_id: undefined }, 'from_user_id', 'required'],
    [{ to_user_id: 7 }, 'to_user_id', 'invalid_type'],
    [{ benif_bank_id: 'x' }, 'benif_bank_id', 'invalid_format'],
    [{ reference_id: '' }, 'reference_id', 'too_small'],
    [{ reference_id: 'r'.repeat(101) }, 'reference_id', 'too_big'],
    [{ reference_id: 7 }, 'reference_id', 'invalid_type'],
    [{ remark: 'r'.repeat(51) }, 'remark', 'too_big'],
    [{ remark: 'a\u0000b' }, 'remark', 'invalid_format'],
    [{ currency_code: 'USD' }, 'currency_code', 'invalid_value'],
  ]
  for (const [change, field, code] of refused) {
    const answer = await post('/v1/transaction', { ...PAYMENT, ...change })
    t.equal(answer.status, 400, JSON.stringify(change))
    t.match(answer.body.errors, [{ field, code }])
  }
  const longest = { reference_id: 'r'.repeat(100), remark: 'ष'.repeat(50), currency_code: 'INR' }
  t.equal((await pay(longest)).status, 200)
})

t.test('an unknown transaction is 404, a history id too', async (t) => {
  const { get } = await start(t)
  const ids: [string, number][] = [
    [UNKNOWN, 404],
    ['e0000000-0000-4000-8000-000000000001', 404],
    ['a0000000-0000-4000-8000-000000000049', 404],
    [KABIR, 404],
    ['1', 400],
    ['A0000000-0000-4000-8000-000000000001', 200],
  ]
  for (const [id, status] of ids) {
    const answer: Answer = await get(`/v1/transaction/${id}`)
    t.equal(answer.status, status, id)
  }
})
