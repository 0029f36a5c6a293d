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
  await define(box, {
    rules: [
      {
        when: { operation: 'createTransaction' },
        then: {
          transaction: [
            { status: 'PENDING' },
            {
              status: 'FAILED',
              after: '1m',
              reason: 'cat_on_keyboard',
              description: 'The cat.',
              source: 'internal',
            },
          ],
        },
      },
      {
        when: { operation: 'submitKyc', item: { document_type: 'tid' } },
        then: {
          kyc: [
            { status: 'pending', message: 'Wait.' },
            {
              status: 'failed',
              after: '1m',
              message: 'No.',
              statusCode: 422,
              result: {
                panStatus: 'Deleted',
                name: 'NOT MATCHING',
                dateOfBirth: 'NOT MATCHING',
                aadhaarSeedingStatus: 'NA',
              },
            },
          ],
        },
      },
      {
        when: { operation: 'addBankAccount' },
        then: {
          bank: [
            { status: 'pending', message: 'Asking.', bankResponse: 'Slow' },
            {
              status: 'success',
              after: '1m',
              message: 'Good.',
              bankResponse: 'Fine',
              accountName: 'K SINGH',
            },
          ],
        },
      },
    ],
  })
  const paid = (await box.pay()).body.data[0].transaction_id
  const checked = (await kyc(box, item('tid'))).body.data[0]
  t.match(checked, { message: 'Wait.', data: { kyc_status: 'pending' } })
  const added = (await bank(box, '123456789012')).body.data
  t.match(added, { data: { bank_status: 'pending' } })
  t.match(JSON.stringify(added), /Asking\./)
  t.match(JSON.stringify(added), /"Slow"/)
  await box.advance('59s')
  t.equal(box.sandbox.default.payouts.payments.get(paid).row.status, 'PENDING')
  await box.advance('1s')
  t.match(box.sandbox.default.payouts.payments.get(paid).row, {
    status: 'FAILED',
    failure: { reason: 'cat_on_keyboard', description: 'The cat.', source: 'internal' },
  })
  const [record] = (await box.get(`/v1/kyc/${KABIR}`)).body.data.response.data.kycData
  t.equal(record.kyc_status, 'failed')
  const jsonValues = JSON.stringify(record)
  for (const word of ['No.', '422', 'Deleted', 'NOT MATCHING', '"NA"'])
    t.ok(jsonValues.includes(word), `${word} in ${jsonValues}`)
  const [account] = (await box.get(`/v1/bank/${KABIR}`)).body.data
  t.match(account, { bank_status: 'success' })
  t.match([...box.sandbox.default.tables.tables.bank_accounts.rows()].at(-1), {
    bank_id: account.bank_id,
    account_name: 'K SINGH',
  })
})

t.test('the reason of a failed check is its message, where it has none', async (t) => {
  const box = await start(t)
  const said = async (step: object) => {
    const steps = [{ status: 'failed', reason: 'pan_on_fire', ...step }]
    await define(box, { rules: [{ when: { operation: 'submitKyc' }, then: { kyc: steps } }] })
    return (await kyc(box, item('tid'))).body.data[0].message
  }
  t.equal(await said({}), 'pan_on_fire')
  t.equal(await said({ message: 'It burns.' }), 'It burns.')
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
