import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pay } from './payouts.mjs'

// The sweep starts a sandbox for each run, and says where it is.
const service = { url: process.env.PAYOUT_SANDBOX_URL, token: process.env.PAYOUT_SANDBOX_TOKEN }

test('Asha pays the salary of Rohan', async () => {
  const result = await pay(service, {
    from: '00000000-0000-4000-8000-000000000001',
    to: '00000000-0000-4000-8000-000000000003',
    account: 'b0000000-0000-4000-8000-000000000003',
    amount: 25_000,
    reference: 'salary-2026-01',
  })
  assert.equal(result, 'paid')
})
