import t from 'tap'
import { ASHA, KABIR, ROHAN, ROHANS_ACCOUNT, start } from '../helper.ts'

type Box = Awaited<ReturnType<typeof start>>

const define = (box: Box, definition: object) => box.put('/__admin/scenario', { definition })
const down = (when: object, more: object = {}) => ({
  when,
  then: { respond: { status: 503 } },
  ...more,
})
const item = (document_type: 'tid' | 'pid') => ({
  document_type,
  document_name: document_type === 'tid' ? 'pan' : 'aadhar',
  document_number: document_type === 'tid' ? 'XXXPX1234A' : '999912341234',
  dateOfBirth: '01-02-1990',
  Nationality: 'IN',
  nameOnCard: 'A B',
})
const kyc = (box: Box, ...items: object[]) => box.post('/v1/kyc', { user_id: KABIR, kyc: items })
const bank = (box: Box, account_number: string) =>
  box.post('/v1/bank', { user_id: KABIR, account_number, ifsc_code: 'HDFC0001234' })

const PENDING = { status: 'pending', reason: undefined }

type Ask = (box: Box) => Promise<{ status: number }>

/** Each part of a call: a condition on it, calls that it holds for, and calls that it does not. */
const PARTS: Record<string, [when: object, yes: Ask[], no: Ask[]]> = {
  operation: [
    { operation: { in: ['getUser', 'getKyc'] } },
    [(box) => box.get(`/v1/user/${ASHA}`), (box) => box.get(`/v1/kyc/${ASHA}`)],
    [(box) => box.get('/v1/users')],
  ],
  params: [
    { params: { userId: ASHA } },
    [(box) => box.get(`/v1/user/${ASHA}`), (box) => box.get(`/v1/bank/${ASHA}`)],
    [(box) => box.get(`/v1/user/${ROHAN}`), (box) => box.get('/v1/users')],
  ],
  query: [
    { query: { page: 2 } },
    [(box) => box.get('/v1/users?page=2')],
    [(box) => box.get('/v1/users?page=1'), (box) => box.get('/v1/users')],
  ],
  headers: [
    { headers: { 'X-Test': { starts_with: 'lost' } } },
    [(box) => box.get('/v1/users', { 'x-test': 'lost-1' })],
    [(box) => box.get('/v1/users', { 'x-test': 'found' }), (box) => box.get('/v1/users')],
  ],
  body: [
    { body: { remark: { contains: 'rent' }, amount: { lt: 10 } } },
    [(box) => box.pay({ remark: 'my rent', amount: 9 })],
    [(box) => box.pay({ remark: 'my rent', amount: 10 }), (box) => box.pay({ amount: 9 })],
  ],
  item: [
    { operation: 'submitKyc', item: { document_type: 'tid' } },
    [(box) => kyc(box, item('tid')), (box) => kyc(box, item('pid'), item('tid'))],
    [(box) => kyc(box, item('pid'))],
  ],
  user: [
    { user: { email: 'asha.nair@example.com' } },
    [(box) => box.get(`/v1/user/${ASHA}`), (box) => box.pay()],
    [(box) => box.get(`/v1/user/${ROHAN}`), (box) => kyc(box, item('tid'))],
  ],
  account: [
    { account: { bank_id: ROHANS_ACCOUNT, account_number: { matches: '^[0-9]+$' } } },
    [(box) => box.pay()],
    [(box) => box.get(`/v1/bank/${ROHAN}`)],
  ],
}

t.test('each part of a call can be looked at, and decides', async (t) => {
  for (const [part, [when, yes, no]] of Object.entries(PARTS)) {
    const box = await start(t)
    t.equal((await define(box, { rules: [down(when)] })).status, 200, part)
    for (const ask of no) t.not((await ask(box)).status, 503, `${part} does not hold`)
    for (const ask of yes) t.equal((await ask(box)).status, 503, `${part} holds`)
    await box.close()
  }
})

t.test('every word of a step is seen in what it makes', async (t) => {
  const box = await start(t)
  const failing = (text: object) => [
    { status: 'PENDING' },
    { status: 'FAILED', after: '1m', reason: 'cat', source: 'internal', ...text },
  ]
  const transaction = failing({ message: 'The cat.' })
  const result = {
    panStatus: 'Deleted',
    name: 'NOT MATCHING',
    dateOfBirth: 'NOT MATCHING',
    aadhaarSeedingStatus: 'NA',
  }
  const checks = [
    { status: 'pending', message: 'Wait.' },
    { status: 'failed', after: '1m', message: 'No.', statusCode: 422, result },
  ]
  const accountName = 'K SINGH'
  const accounts = [
    { status: 'pending', message: 'Asking.', bankResponse: 'Slow' },
    { status: 'success', after: '1m', message: 'Good.', bankResponse: 'Fine', accountName },
  ]
  const tid = { operation: 'submitKyc', item: { document_type: 'tid' } }
  const rules = [
    { when: { operation: 'createTransaction' }, then: { transaction } },
    { when: tid, then: { kyc: checks } },
    { when: { operation: 'addBankAccount' }, then: { bank: accounts } },
  ]
  const parties = { from_user_id: KABIR, benif_bank_id: ROHANS_ACCOUNT }
  const own = { transaction: failing({ description: 'The cat.' }) }
  await define(box, { rules, timeline: [{ do: { payout: { amount: 7, ...parties, ...own } } }] })
  const rows = box.sandbox.default.tables.tables
  const { transaction_id } = [...rows.payments.rows()].at(-1)!
  const paid = (await box.pay()).body.data[0].transaction_id
  const checked = (await kyc(box, item('tid'))).body.data[0]
  t.match(checked, { message: 'Wait.', data: { kyc_status: 'pending' } })
  const added = (await bank(box, '123456789012')).body.data
  t.match(added, { data: { bank_status: 'pending' } })
  t.match(JSON.stringify(added), /Asking\./)
  t.match(JSON.stringify(added), /"Slow"/)
  await box.advance('59s')
  t.equal(rows.payments.get(paid)!.status, 'PENDING')
  await box.advance('1s')
  const failure = { reason: 'cat', description: 'The cat.', source: 'internal' }
  t.match(rows.payments.get(paid), { status: 'FAILED', failure })
  t.match(rows.payments.get(transaction_id), { status: 'FAILED', failure, ...parties })
  const [record] = (await box.get(`/v1/kyc/${KABIR}`)).body.data.response.data.kycData
  t.equal(record.kyc_status, 'failed')
  const jsonValues = JSON.stringify(record)
  for (const word of ['No.', '422', 'Deleted', 'NOT MATCHING', '"NA"'])
    t.ok(jsonValues.includes(word), `${word} in ${jsonValues}`)
  const [account] = (await box.get(`/v1/bank/${KABIR}`)).body.data
  t.match(account, { bank_status: 'success' })
  t.match(rows.bank_accounts.get(account.bank_id), { account_name: accountName })
})

t.test('the reason of a failed check is its message, where it has none', async (t) => {
  const box = await start(t)
  const said = async (step: object) => {
    const steps = [{ status: 'failed', reason: 'pan_on_fire', ...step }]
    await define(box, { rules: [{ when: { operation: 'submitKyc' }, then: { kyc: steps } }] })
    return (await kyc(box, item('tid'))).body.data[0]
  }
  t.equal((await said({})).message, 'pan_on_fire')
  t.equal((await said({ message: 'It burns.' })).message, 'It burns.')
  t.match((await said({ result: null })).data.metadata, { response: { data: { result: null } } })
  const [{ data }] = [await said(PENDING), await said(PENDING)]
  const simulate = { kyc: data.kyc_id, status: 'failed', reason: 'pan_on_ice' }
  const strike = [{ status: 'failed', reason: 'bank_on_strike' }]
  await define(box, {
    rules: [{ when: { operation: 'addBankAccount' }, then: { bank: strike } }],
    timeline: [{ at: '2026-01-01T00:00:05Z', do: { simulate } }],
  })
  t.equal((await bank(box, '123456789012')).body.data.message, 'bank_on_strike')
  const row = () => box.sandbox.default.tables.tables.kyc.get(data.kyc_id)!
  t.equal(row().kyc_status, 'pending', 'it has a time')
  await box.advance('5s')
  t.match(row().metadata, { response: { message: 'pan_on_ice' } })
})

t.test('base: none leaves the default out, extends puts another under', async (t) => {
  const magic = async (definition: object) => {
    const box = await start(t)
    await define(box, definition)
    const id = (await box.pay({ amount: '100.91' })).body.data[0].transaction_id
    await box.advance('1h')
    const users = (await box.get('/v1/users')).status
    const { status } = box.sandbox.default.payouts.payments.get(id).row
    await box.close()
    return [status, users]
  }
  const rules = [down({ operation: 'listUsers' })]
  t.strictSame(await magic({ rules }), ['FAILED', 503])
  t.strictSame(await magic({ rules, base: 'none' }), ['SUCCESS', 503])
  t.strictSame(await magic({ extends: 'stuck-transactions' }), ['PROCESSING', 200])
  t.strictSame(await magic({ rules, extends: 'stuck-transactions', base: 'none' }), [
    'PROCESSING',
    503,
  ])
})
