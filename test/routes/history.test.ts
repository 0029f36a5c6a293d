import t from 'tap'
import { ASHA, GUARDED, KABIR, pluck, ROHAN, start, TOKEN } from '../helper.ts'

const MEERA = '00000000-0000-4000-8000-000000000002'

type Row = Record<string, string>

t.test('lists what is in the fixtures, newest first', async (t) => {
  const { get } = await start(t, GUARDED)
  const { body } = await get('/v1/transaction/history?limit=100', TOKEN)
  t.match(body.data, { total_transactions: 48, page: 1, limit: 100, total_pages: 1 })
  const times = pluck(body.data.transactions, 'created_at')
  t.strictSame(times, [...times].sort().reverse())
  const late = body.data.transactions.find((row: Row) => row['id']!.endsWith('31'))
  t.match(late, {
    status: 'FAILED',
    utr: '523003141911',
    metadata: { reason: 'bank_account_closed' },
  })
  t.match(
    body.data.transactions.find((row: Row) => row['id']!.endsWith('08')),
    { status: 'FAILED', utr: null, amount: '61250.75', remark: 'Silk yarn, 35 kg' },
  )
})

t.test('type=debit leaves the credits out, and no other type is known', async (t) => {
  const { get } = await start(t, GUARDED)
  const all = (await get('/v1/transaction/history?limit=100', TOKEN)).body.data
  const debits = (await get('/v1/transaction/history?limit=100&type=debit', TOKEN)).body.data
  const shown = (await get('/v1/transaction?limit=100')).body.data.transactions
  const expected = shown.filter((row: Row) => row['transaction_type'] === 'debit').length
  t.ok(expected < all.total_transactions)
  t.equal(debits.total_transactions, expected)
  t.equal(debits.transactions.length, expected)
  for (const type of ['credit', 'DEBIT', 'all', 'debit&type=debit', 'debit,credit']) {
    const { status, body } = await get(`/v1/transaction/history?type=${type}`, TOKEN)
    t.equal(status, 400, type)
    t.match(body, { error: 'validation_failed', errors: [{ field: 'type' }] })
  }
})

t.test('a user’s history holds what they paid and what came in', async (t) => {
  const { get } = await start(t)
  const url = `/v1/transaction/history/user/${MEERA}`
  const { body } = await get(`${url}?limit=100`, TOKEN)
  t.match(body.data, { total_transactions: 35, total_pages: 1 })
  t.ok(body.data.transactions.every((row: Row) => row['user_id'] === MEERA))
  t.equal((await get(url, TOKEN)).body.data.total_pages, 4)
  t.strictSame([...new Set(pluck(body.data.transactions, 'status'))].sort(), [
    'FAILED',
    'PENDING',
    'PROCESSING',
    'SUCCESS',
  ])
  const none = (await get(`/v1/transaction/history/user/${KABIR}`, TOKEN)).body.data
  t.strictSame(none, {
    total_transactions: 0,
    page: 1,
    limit: 10,
    total_pages: 0,
    transactions: [],
  })
})

t.test('a debit is in the payer’s history and not in the receiver’s', async (t) => {
  const { get, pay } = await start(t)
  const count = async (user: string) =>
    (await get(`/v1/transaction/history/user/${user}`, TOKEN)).body.data.total_transactions
  const before = [await count(ASHA), await count(ROHAN)]
  await pay()
  t.strictSame([await count(ASHA), await count(ROHAN)], [before[0] + 1, before[1]])
})
