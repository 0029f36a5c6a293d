import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { startSandbox } from 'payout-sandbox'
import { pay, statusOf } from './payouts.cjs'

// Asha pays Rohan. Both users are in the sandbox's example data, see fixtures/README.md.
const payout = {
  from: '00000000-0000-4000-8000-000000000001',
  to: '00000000-0000-4000-8000-000000000003',
  account: 'b0000000-0000-4000-8000-000000000003',
  amount: 100,
  reference: 'salary-2026-01',
}

let sandbox
before(async () => {
  sandbox = await startSandbox({ clock: 'frozen' })
})
beforeEach(() => sandbox.admin.reset())
after(() => sandbox.close())

test('a payment arrives', async () => {
  await pay(sandbox, payout)
  assert.equal(await statusOf(sandbox, payout), 'PENDING')
  await sandbox.admin.clock.advance('1m')
  assert.equal(await statusOf(sandbox, payout), 'SUCCESS')
})

test('a payment of 100.92 fails: its bank is offline', async () => {
  await pay(sandbox, { ...payout, amount: 100.92 })
  await sandbox.admin.clock.advance('1h')
  assert.equal(await statusOf(sandbox, payout), 'FAILED')
})

test('a response is lost, and the money moves once', async () => {
  await sandbox.admin.snapshots.save('before')
  await sandbox.admin.scenario.use('lost-responses')
  await pay(sandbox, payout)
  const { tables } = await sandbox.admin.snapshots.diff('before')
  assert.equal(tables.payments.added.length, 1)
  await sandbox.admin.requests.verify({ match: { operation: 'createTransaction' }, exactly: 1 })
})
