// Testcontainers: a container of its own for one test file. Needs Docker, and npm install --save-dev testcontainers.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createAdminClient } from 'payout-sandbox'
import { GenericContainer, Wait } from 'testcontainers'

const PORT = 4310
const ADMIN_TOKEN = 'for-this-run-only'

let container
let url
before(async () => {
  container = await new GenericContainer('payout-sandbox:latest')
    .withExposedPorts(PORT)
    .withEnvironment({ PAYOUT_SANDBOX_ADMIN_TOKEN: ADMIN_TOKEN, PAYOUT_SANDBOX_CLOCK: 'frozen' })
    .withWaitStrategy(Wait.forHttp('/__admin/ready', PORT))
    .start()
  url = `http://${container.getHost()}:${container.getMappedPort(PORT)}`
})
after(() => container.stop())

test('time is moved in the container', async () => {
  const admin = createAdminClient({ url, token: ADMIN_TOKEN })
  const { now } = await admin.clock.get()
  const advanced = await admin.clock.advance('2d')
  assert.equal(Date.parse(advanced.now) - Date.parse(now), 2 * 86_400_000)
})
