import fc from 'fast-check'
import t from 'tap'
import { paiseOf } from '../../../src/model/payment.ts'
import { PAYMENT, start, TOKEN } from '../../helper.ts'

type Row = Record<string, string>
type Box = Awaited<ReturnType<typeof start>>

const RUNS = 500

/** What a run does: payments and what becomes of them, time, resets and forks. */
const Step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ pay: fc.constantFrom(1, 99.5, 100.91, 100.96, 250.07) }) },
  { weight: 3, arbitrary: fc.record({ advance: fc.constantFrom('2s', '1h', '1d') }) },
  { weight: 2, arbitrary: fc.record({ flip: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.constantFrom({ fork: true }, { reset: true }) },
)
const BREAKS = {
  missing_in_statement: { omit: true },
  twice: { repeat: 2 },
  amount: { amount: '+0.01' },
  utr: { utr: 'missing' },
} as const
const Run = fc.record({
  steps: fc.array(Step, { minLength: 5, maxLength: 25 }),
  breaks: fc.array(fc.constantFrom(...(Object.keys(BREAKS) as (keyof typeof BREAKS)[])), {
    maxLength: 4,
  }),
})

/** All rows of the history, oldest first. */
async function historyOf({ get }: Box, base: string): Promise<Row[]> {
  const rows: Row[] = []
  for (let page = 1; ; page++) {
    const query = `type=debit&limit=100&page=${page}`
    const token = base ? { authorization: `Bearer sbx_${base.slice(2)}` } : TOKEN
    const { body } = await get(`${base}/v1/transaction/history?${query}`, token)
    rows.unshift(...body.data.transactions.toReversed())
    if (page >= body.data.total_pages) return rows
  }
}

async function play(box: Box, steps: readonly object[]) {
  let [base, forks, references] = ['', 0, 0]
  for (const step of steps) {
    if ('pay' in step) {
      const more = { amount: step.pay, reference_id: `r${++references}` }
      const { status } = await box.post(`${base}/v1/transaction`, { ...PAYMENT, ...more })
      if (status !== 200) throw new Error(`paid: ${status}`)
    } else if ('advance' in step)
      await box.post(`${base}/__admin/clock/advance`, { by: step.advance })
    else if ('flip' in step) {
      // What settled comes back, and what failed settles after all.
      const { transactions } = (await box.get(`${base}/__admin/transactions?outcome=any`)).body
      const one = transactions[Number(step.flip) % Math.max(1, transactions.length)]
      const status = { SUCCESS: 'FAILED', FAILED: 'SUCCESS' }[one?.history.status as string]
      if (status && one.reference_id)
        await box.post(`${base}/__admin/simulate/transactions/${one.transaction_id}`, { status })
    } else if ('fork' in step) {
      const name = `fork-${++forks}`
      const client = base.slice(2) || 'default'
      await box.post('/__admin/clients', { name, from: { client }, access_token: `sbx_${name}` })
      base = `/@${name}`
    } else await box.post(`${base}/__admin/reset`, { parts: ['data', 'clock'] })
  }
  await box.post(`${base}/__admin/clock/advance`, { by: '2d' })
  return base
}

const net = (rows: readonly Row[]) =>
  rows.reduce((sum, { direction, amount }) => {
    const paise = paiseOf(amount!)!
    return direction === 'debit' ? sum + paise : sum - paise
  }, 0)

t.test(
  'the statements add up to the payments, and reconcile finds each break and no other',
  async (t) => {
    let planted = 0
    await fc.assert(
      fc.asyncProperty(Run, async ({ steps, breaks }) => {
        const teardowns: (() => unknown)[] = []
        const box = await start({ teardown: (end) => void teardowns.push(end) })
        const base = await play(box, steps)
        const history = await historyOf(box, base)
        // The second way: what the service says has settled in the end.
        const settled = history.filter(({ status }) => status === 'SUCCESS')
        const paid = settled.reduce((sum, { amount }) => sum + paiseOf(amount!)!, 0)
        const all = (await box.get(`${base}/__admin/statement`)).body
        const days: string[] = all.rows.map(({ booked_at }: Row) =>
          new Date(Date.parse(booked_at!) + 19_800_000).toISOString().slice(0, 10),
        )
        const daily: Row[] = []
        for (const day of new Set(days))
          daily.push(...(await box.get(`${base}/__admin/statement?date=${day}`)).body.rows)
        t.strictSame([net(all.rows), net(daily), daily.length], [paid, paid, all.rows.length])

        const books = history.map(({ client_transaction_id: reference, amount, status, utr }) => ({
          reference,
          amount,
          status,
          ...(status === 'SUCCESS' && { utr: utr ?? '' }),
        }))
        const reconcile = async (more: object) =>
          (await box.post(`${base}/__admin/reconcile`, { rows: books, ...more })).body
        t.strictSame((await reconcile({})).differences, [])
        t.strictSame((await reconcile({ from: '2000-01-01' })).differences, [])

        const mine = settled.filter(({ client_transaction_id: id }) => /^r\d+$/.test(id!))
        const wrong = breaks.slice(0, mine.length).map((kind, i) => ({
          kind,
          reference: mine[i]!['client_transaction_id']!,
        }))
        planted += wrong.length
        const statement = wrong.map(({ kind, reference }) => ({
          when: { reference, direction: 'debit' },
          times: 1,
          then: BREAKS[kind],
        }))
        await box.put(`${base}/__admin/scenario`, { definition: { statement } })
        const { differences } = await reconcile({ from: '2000-01-01' })
        t.strictSame(
          differences
            .map((one: { kind: string; books: Row }) => `${one.kind} ${one.books['reference']}`)
            .sort(),
          wrong.map(({ kind, reference }) => `${kind} ${reference}`).sort(),
        )
        t.strictSame((await reconcile({})).differences, [], 'the payments are as before')
        for (const end of teardowns) await end()
      }),
      { numRuns: RUNS, seed: 49 },
    )
    t.ok(planted > RUNS / 2, `${planted} breaks`)
  },
)
