import t from 'tap'
import { pluck, start } from '../helper.ts'

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
