import t from 'tap'
import { ASHA, GUARDED, pluck, ROHAN, ROHANS_ACCOUNT, start } from '../helper.ts'

const NAME = 'reference_id'

t.test('stored: several payments can have one reference', async (t) => {
  const { pay, get } = await start(t, { assume: { [NAME]: 'stored' } })
  const payments = [
    await pay({ reference_id: 'r' }),
    await pay({ reference_id: 'r', amount: 200 }),
    // The fixtures have a payment with this reference.
    await pay({ reference_id: 'RENT-2025-02' }),
  ]
  t.same(
    payments.map(({ body }) => body.data[0].reference_id),
    ['r', 'r', 'RENT-2025-02'],
  )
  const { body } = await get('/v1/transaction/history?limit=3', {
    authorization: 'Bearer sbx_test_token',
  })
  t.same(pluck(body.data.transactions, 'client_transaction_id'), ['RENT-2025-02', 'r', 'r'])
  t.equal((await pay({ reference_id: 7 })).status, 400, 'its format is still checked')
})

t.test('ignored: it is neither validated nor stored', async (t) => {
  const { pay, get } = await start(t, { assume: { [NAME]: 'ignored' } })
  for (const reference_id of ['r', 'r', 7, null, { a: 'b' }]) {
    const { status, body } = await pay({ reference_id })
    t.equal(status, 200)
    t.equal(body.data[0].reference_id, null)
  }
  const { body } = await get('/v1/transaction/history?limit=5', {
    authorization: 'Bearer sbx_test_token',
  })
  for (const { client_transaction_id } of body.data.transactions)
    t.match(client_transaction_id, /^TXN\d{15}$/)
})

t.test('unique again: the first of several payments with a reference counts', async (t) => {
  const { pay, put } = await start(t, { assume: { [NAME]: 'stored' } })
  const first = (await pay({ reference_id: 'r' })).body.data[0].transaction_id
  await pay({ reference_id: 'r' })
  await put('/__admin/assumptions', { [NAME]: 'unique' })
  const { status, body } = await pay({ reference_id: 'r' })
  t.equal(status, 409)
  t.match(body.message, first)
})

t.test('state documents and snapshots contain payments with the same reference', async (t) => {
  const { pay, get, put, post } = await start(t, { assume: { [NAME]: 'unique' } })
  await put('/__admin/assumptions', { [NAME]: 'stored' })
  const first = (await pay({ reference_id: 'r' })).body.data[0].transaction_id
  await post('/__admin/snapshots', { name: 's' })
  await pay({ reference_id: 'r' })
  const { body: state } = await get('/__admin/state')
  t.equal(state.assumptions[NAME], undefined, 'the default')
  const other = await start(t)
  t.equal((await other.put('/__admin/state', state)).status, 200)
  t.equal((await other.pay({ reference_id: 'r' })).status, 200)
  await other.put('/__admin/assumptions', { [NAME]: 'unique' })
  t.match((await other.pay({ reference_id: 'r' })).body.message, first)
  t.equal((await put('/__admin/state', { ...state, assumptions: {} })).status, 200)
  await post('/__admin/snapshots/s/restore')
  await put('/__admin/assumptions', { [NAME]: 'unique' })
  t.match((await pay({ reference_id: 'r' })).body.message, first)
})

t.test('fixtures can have payments with the same reference', async (t) => {
  const { get } = await start(t)
  const { body } = await get('/__admin/state')
  const at = '2025-06-01T00:00:00.000Z'
  const payment = (i: number) => ({
    transaction_id: `a1000000-0000-4000-8000-00000000000${i}`,
    id: `a2000000-0000-4000-8000-00000000000${i}`,
    reference_id: 'r',
    partner_transaction_id: `P${i}`,
    from_user_id: ASHA,
    to_user_id: ROHAN,
    benif_bank_id: ROHANS_ACCOUNT,
    amount: '10.00',
    status: 'PENDING',
    created_at: at,
  })
  const users = body.tables.users
    .filter(({ user_id }: { user_id: string }) => [ASHA, ROHAN].includes(user_id))
    .map(({ user_id, email, mobile }: Record<string, string>) => ({
      user_id,
      email,
      mobile,
      created_at: at,
    }))
  const bank_accounts = [
    {
      bank_id: ROHANS_ACCOUNT,
      user_id: ROHAN,
      account_number: '000011112222',
      ifsc_code: 'HDFC0000001',
      bank_status: 'success',
      account_holder_name: 'ROHAN',
      created_at: at,
    },
  ]
  const fixtures = { users, bank_accounts, transactions: [payment(1), payment(2)] }
  const { pay } = await start(t, { ...GUARDED, fixtures })
  t.match((await pay({ reference_id: 'r' })).body.message, payment(1).transaction_id)
})
