import t from 'tap'
import { pluck, start, TOKEN } from '../helper.ts'

const SOME = { assume: { new_words: 'some' } }
type Row = { transaction_id: string; transaction_status: string; new_field?: string }

t.test('new_words=some: each object has a field that the contract does not list', async (t) => {
  const { pay, get, post } = await start(t, SOME)
  const { body } = await pay()
  t.match(body, {
    new_field: 'unknown',
    data: [{ new_field: 'unknown', benif_bank: { new_field: 'unknown' } }],
  })
  t.match((await get('/v1/client/profile', TOKEN)).body, { data: { new_field: 'unknown' } })
  t.notOk('new_field' in (await get('/v1/user/x')).body, 'an error has none')
  t.notOk('new_field' in (await post('/__admin/reset')).body, 'nor has the admin API')
})

t.test('new_words=some: each open payment shows a new word', async (t) => {
  const { pay, get, advance } = await start(t, SOME)
  const made: Row[] = []
  for (let i = 0; i < 20; i++) made.push((await pay()).body.data[0])
  const words = made.map((row) => row.transaction_status)
  t.strictSame([...new Set(words)].sort(), ['queued'])
  for (const { transaction_id, transaction_status } of made)
    t.equal(
      (await get(`/v1/transaction/${transaction_id}`)).body.data[0].transaction_status,
      transaction_status,
    )
  const { body } = await get('/v1/transaction/history?limit=20', TOKEN)
  const statuses = new Set(pluck(body.data.transactions, 'status'))
  t.strictSame([...statuses], ['PENDING'], 'the contract lists all words of the history')
  await advance('3s')
  const { transactions } = (await get('/v1/transaction?limit=20')).body.data
  t.ok(
    transactions.every((row: Row) => row.transaction_status === 'success'),
    'a final word stays',
  )
})

t.test('new_words=some: webhooks have new fields too', async (t) => {
  const { pay, post, get, advance } = await start(t, SOME)
  await post('/v1/clientWebhook', { url: 'http://127.0.0.1:9/', webhook_secret: 's' })
  await pay()
  await advance('0s')
  const { deliveries } = (await get('/__admin/webhooks/deliveries')).body
  const { body } = (await get(`/__admin/webhooks/deliveries/${deliveries.at(-1).delivery_id}`)).body
  t.match(JSON.parse(body), { data: { new_field: 'unknown', history: { new_field: 'unknown' } } })
})
