import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startSandbox } from 'payout-sandbox'
import { pay, statusOf } from './payouts.cjs'

const payout = {
  from: '00000000-0000-4000-8000-000000000001',
  to: '00000000-0000-4000-8000-000000000003',
  account: 'b0000000-0000-4000-8000-000000000003',
}
const payouts = [
  { ...payout, reference: 'paid', amount: 100 },
  { ...payout, reference: 'fails', amount: 100.91 },
  { ...payout, reference: 'comes back', amount: 300 },
]

/** What your code has booked; yours would read its database. */
const booksOf = (sandbox) =>
  Promise.all(
    payouts.map(async ({ reference, amount, ...rest }) => {
      const status = await statusOf(sandbox, { reference, amount, ...rest })
      return { reference, amount, status }
    }),
  )

test('the books agree after two days', async () => {
  const sandbox = await startSandbox({ clock: 'frozen' })
  const back = [
    { status: 'PENDING' },
    { status: 'SUCCESS', after: '3s' },
    { status: 'FAILED', after: '1d' },
  ]
  const when = { operation: 'createTransaction', body: { reference_id: 'comes back' } }
  await sandbox.admin.rules.push({ when, then: { transaction: back } })
  for (const one of payouts) await pay(sandbox, one)
  await sandbox.admin.clock.advance('2d')
  const { differences } = await sandbox.admin.reconcile(await booksOf(sandbox))
  assert.deepEqual(differences, [])
  await sandbox.close()
})
