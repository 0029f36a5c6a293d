import t from 'tap'
import { start, TOKEN } from '../helper.ts'

type Sandbox = Awaited<ReturnType<typeof start>>

/** The newest history record. */
const newest = async ({ get }: Sandbox) =>
  (await get('/v1/transaction/history?limit=1', TOKEN)).body.data.transactions[0]

/** The UTR of a payment of this amount. */
async function utrOf(sandbox: Sandbox, amount: number): Promise<string> {
  await sandbox.pay({ amount })
  await sandbox.advance('3s')
  return (await newest(sandbox)).utr
}

t.test('utr_form=by_amount: IMPS up to 5 lakh, NEFT up to 10 lakh, RTGS above it', async (t) => {
  const sandbox = await start(t)
  t.match(await utrOf(sandbox, 500_000), /^6001\d{8}$/)
  t.match(await utrOf(sandbox, 500_000.01), /^N00126\d{10}$/)
  t.match(await utrOf(sandbox, 1_000_000), /^N00126\d{10}$/)
  const utr = await utrOf(sandbox, 1_000_000.01)
  t.match(utr, /^HDFCR520260101\d{8}$/)
  const { body } = await sandbox.get('/v1/transaction?limit=1')
  t.equal(body.data.transactions[0].utr, `${'X'.repeat(18)}${utr.slice(-4)}`)
})

t.test('utr_form=imps: 12 digits for every amount', async (t) => {
  const sandbox = await start(t, { assume: { utr_form: 'imps' } })
  for (const amount of [1, 500_000.01, 9_999_999_999.99])
    t.match(await utrOf(sandbox, amount), /^6001\d{8}$/)
})

t.test('utr_form: each form has the day in India', async (t) => {
  const sandbox = await start(t)
  // 18:30 UTC is midnight in India.
  await sandbox.call('POST', '/__admin/clock/advance', { to: '2026-03-01T18:29:56.999Z' })
  t.match(await utrOf(sandbox, 1), /^6060/)
  t.match(await utrOf(sandbox, 1), /^6061/)
  t.match(await utrOf(sandbox, 600_000), /^N06126/)
  t.match(await utrOf(sandbox, 2_000_000), /^HDFCR520260302/)
})

t.test('utr_form: an imported state never repeats a UTR of any form', async (t) => {
  for (const amount of [100, 600_000, 2_000_000]) {
    const sandbox = await start(t)
    const utr = await utrOf(sandbox, amount)
    const { body: state } = await sandbox.get('/__admin/state')
    for (const table of ['events', 'deliveries', 'timers']) state.tables[table] = []
    state.tables.payments = state.tables.payments.slice(-1)
    t.equal(state.tables.payments[0].utr, utr)
    const refused = await sandbox.put('/__admin/state', { ...state, draws: 0 })
    t.match(refused.body.message, /at least \d+, .*tables\.payments\[0\]\.utr/)
  }
})
