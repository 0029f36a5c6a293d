import t from 'tap'
import { GUARDED, start, TOKEN } from '../helper.ts'

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
  const sandbox = await start(t, GUARDED)
  t.match(await utrOf(sandbox, 500_000), /^6001\d{8}$/)
  t.match(await utrOf(sandbox, 500_000.01), /^N00126\d{10}$/)
  t.match(await utrOf(sandbox, 1_000_000), /^N00126\d{10}$/)
  const utr = await utrOf(sandbox, 1_000_000.01)
  t.match(utr, /^HDFCR520260101\d{8}$/)
  const { body } = await sandbox.get('/v1/transaction?limit=1')
  t.equal(body.data.transactions[0].utr, `${'X'.repeat(18)}${utr.slice(-4)}`)
})

t.test('utr_form: each form has the day in India', async (t) => {
  const sandbox = await start(t, GUARDED)
  // 18:30 UTC is midnight in India.
  await sandbox.call('POST', '/__admin/clock/advance', { to: '2026-03-01T18:29:56.999Z' })
  t.match(await utrOf(sandbox, 1), /^6060/)
  t.match(await utrOf(sandbox, 1), /^6061/)
  t.match(await utrOf(sandbox, 600_000), /^N06126/)
  t.match(await utrOf(sandbox, 2_000_000), /^HDFCR520260302/)
  await sandbox.call('POST', '/__admin/clock/advance', { to: '2028-12-31T18:29:56.999Z' })
  t.match(await utrOf(sandbox, 1), /^8366/)
  const utrs = []
  for (let i = 0; i < 20; i++) utrs.push(await utrOf(sandbox, 1))
  t.equal(utrs.filter((utr) => utr.startsWith('9001')).length, 20)
  t.equal(new Set(utrs).size, 20, 'none comes twice')
})

const LATER = { utr_of_success: 'later' }
const at = (ms: number) => new Date(Date.parse('2026-01-01T00:00:00.000Z') + ms).toISOString()

/** Makes a payment that is SUCCESS without a UTR. */
async function succeed(sandbox: Sandbox): Promise<string> {
  const { transaction_id } = (await sandbox.pay()).body.data[0]
  await sandbox.advance('3s')
  t.match(await newest(sandbox), { status: 'SUCCESS', utr: null, updated_at: at(3_000) })
  return transaction_id
}

t.test('utr_of_success=later: a step sets the UTR and sends no event', async (t) => {
  const sandbox = await start(t, { assume: LATER })
  await sandbox.post('/v1/clientWebhook', { url: 'http://127.0.0.1:9/', webhook_secret: 'secret' })
  const id = await succeed(sandbox)
  const events = () => [...sandbox.sandbox.default.tables.tables.events.rows()].length
  const before = events()
  await sandbox.advance('4999ms')
  t.equal((await newest(sandbox)).utr, null)
  const { body } = await sandbox.advance('1ms')
  const later = body.fired.filter(({ kind }: { kind: string }) => kind === 'transaction.utr')
  t.match(later, [{ resource_id: id }])
  t.match(await newest(sandbox), { status: 'SUCCESS', utr: /^6001\d{8}$/, updated_at: at(8_000) })
  t.equal(events(), before)
  const { steps } = (await sandbox.get(`/__admin/transactions/${id}`)).body
  t.strictSame(steps.at(-1), { status: 'SUCCESS', at: at(3_000) })
  await sandbox.post(`/__admin/simulate/transactions/${id}`, { status: 'FAILED' })
  const reversed = (await sandbox.get(`/__admin/transactions/${id}`)).body.steps
  t.strictSame(reversed.slice(-2), [
    { status: 'SUCCESS', at: at(3_000) },
    { status: 'FAILED', at: at(8_000) },
  ])
})

t.test('utr_of_success=later: a payment that is reversed before gets no UTR', async (t) => {
  const sandbox = await start(t, { assume: LATER })
  const id = await succeed(sandbox)
  await sandbox.post(`/__admin/simulate/transactions/${id}`, { status: 'FAILED' })
  await sandbox.advance('1h')
  t.match(await newest(sandbox), { status: 'FAILED', utr: null })
})

t.test('utr_of_success=later: a state has the step, without which a UTR is required', async (t) => {
  const first = await start(t, { assume: LATER })
  await succeed(first)
  const { body: state } = await first.get('/__admin/state')
  const other = await start(t, GUARDED)
  t.equal((await other.put('/__admin/state', state)).status, 200)
  await other.advance('5s')
  t.match(await newest(other), { status: 'SUCCESS', utr: /^\d{12}$/ })
  state.tables.timers = []
  const refused = await other.put('/__admin/state', state)
  t.match(refused.body.errors, [{ message: /is required for status SUCCESS/ }])
})
