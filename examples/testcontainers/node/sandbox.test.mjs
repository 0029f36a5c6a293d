import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createAdminClient } from 'payout-sandbox'
import { startSandboxContainer } from './payout-sandbox-container.mjs'

/** @type {Awaited<ReturnType<typeof startSandboxContainer>>} */
let sandbox
before(async () => {
  sandbox = await startSandboxContainer()
})
after(() => sandbox.stop())

test('time is moved in the container', async () => {
  const admin = createAdminClient({ url: sandbox.origin, token: sandbox.adminToken })
  const { now } = await admin.clock.get()
  const advanced = await admin.clock.advance('2d')
  assert.equal(Date.parse(advanced.now) - Date.parse(now), 2 * 86_400_000)
})
