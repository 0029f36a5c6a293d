import t from 'tap'
import { ASHA, GUARDED, ROHAN, start, TOKEN } from '../helper.ts'

type Sandbox = Awaited<ReturnType<typeof start>>
type HistoryRow = { id: string; user_id: string; status: string; created_at: string }

const history = async ({ get }: Sandbox, path = '', query = 'limit=100') =>
  (await get(`/v1/transaction/history${path}?${query}`, TOKEN)).body.data as {
    total_transactions: number
    transactions: (HistoryRow & { metadata: unknown; remark: unknown })[]
  }
const newest = async (sandbox: Sandbox) => (await history(sandbox)).transactions[0]!
const fail = async ({ pay, post }: Sandbox, more = {}) => {
  const { transaction_id } = (await pay(more)).body.data[0]
  const reason = 'bank_account_closed'
  await post(`/__admin/simulate/transactions/${transaction_id}`, { status: 'FAILED', reason })
}

t.test('history_metadata=null: no reason, and a later change brings it back', async (t) => {
  const sandbox = await start(t, { assume: { history_metadata: 'null' } })
  await fail(sandbox)
  for (const _ of [1, 2, 3])
    t.match(await newest(sandbox), { status: 'FAILED', metadata: null }, 'no memoized text')
  await sandbox.put('/__admin/assumptions', { history_metadata: 'reason' })
  for (const _ of [1, 2, 3])
    t.match(await newest(sandbox), { metadata: { reason: 'bank_account_closed' } })
  await sandbox.put('/__admin/assumptions', { history_metadata: 'null' })
  t.equal((await newest(sandbox)).metadata, null)
})

t.test('missing_remark: an empty text or null; a remark is shown in both', async (t) => {
  for (const [reading, shown] of [
    ['empty_text', ''],
    ['null', null],
  ] as const) {
    const sandbox = await start(t, { assume: { ...GUARDED.assume, missing_remark: reading } })
    await sandbox.pay()
    t.equal((await newest(sandbox)).remark, shown)
    await sandbox.pay({ remark: '' })
    t.equal((await newest(sandbox)).remark, shown)
    await sandbox.pay({ remark: 'Rent' })
    t.equal((await newest(sandbox)).remark, 'Rent')
  }
})

t.test('user_history=both_sides: payer and receiver have the payment', async (t) => {
  const sandbox = await start(t, { assume: { user_history: 'both_sides' } })
  await sandbox.pay()
  const { id } = await newest(sandbox)
  for (const user_id of [ASHA, ROHAN])
    for (const _ of [1, 2, 3])
      t.match((await history(sandbox, `/user/${user_id}`)).transactions[0], { id, user_id })
  t.match(await newest(sandbox), { id, user_id: ASHA }, 'the history of the client is the same')
})

t.test('history_utr: whole or masked; a transaction has it masked in both', async (t) => {
  for (const [reading, shown] of [
    ['whole', /^\d{12}$/],
    ['masked', /^X{8}\d{4}$/],
  ] as const) {
    const sandbox = await start(t, { assume: { ...GUARDED.assume, history_utr: reading } })
    const { transaction_id } = (await sandbox.pay()).body.data[0]
    await sandbox.advance('3s')
    for (const _ of [1, 2]) t.match(await newest(sandbox), { utr: shown }, reading)
    const { body } = await sandbox.get(`/v1/transaction/${transaction_id}`)
    t.match(body.data[0].utr, /^X{8}\d{4}$/)
  }
  const { pay, get } = await start(t, { assume: { history_utr: 'masked' } })
  await pay()
  const { transactions } = (await get('/v1/transaction/history?limit=1', TOKEN)).body.data
  t.equal(transactions[0].utr, null, 'null while pending')
})
