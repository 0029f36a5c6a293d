const { startSandbox } = require('payout-sandbox')
const { pay, statusOf } = require('./payouts.cjs')

// Asha pays Rohan. Both users are in the sandbox's example data, see fixtures/README.md.
const payout = {
  from: '00000000-0000-4000-8000-000000000001',
  to: '00000000-0000-4000-8000-000000000003',
  account: 'b0000000-0000-4000-8000-000000000003',
  amount: 100,
  reference: 'salary-2026-01',
}

let sandbox
beforeAll(async () => {
  sandbox = await startSandbox({ clock: 'frozen' })
})
beforeEach(() => sandbox.admin.reset())
afterAll(() => sandbox.close())

test('a payment arrives', async () => {
  await pay(sandbox, payout)
  expect(await statusOf(sandbox, payout)).toBe('PENDING')
  await sandbox.admin.clock.advance('1m')
  expect(await statusOf(sandbox, payout)).toBe('SUCCESS')
})

test('a payment of 100.92 fails: its bank is offline', async () => {
  await pay(sandbox, { ...payout, amount: 100.92 })
  await sandbox.admin.clock.advance('1h')
  expect(await statusOf(sandbox, payout)).toBe('FAILED')
})

test('a response is lost, and the money moves once', async () => {
  await sandbox.admin.snapshots.save('before')
  await sandbox.admin.scenario.use('lost-responses')
  await pay(sandbox, payout)
  const { tables } = await sandbox.admin.snapshots.diff('before')
  expect(tables.payments.added).toHaveLength(1)
  await sandbox.admin.requests.verify({ match: { operation: 'createTransaction' }, exactly: 1 })
})
