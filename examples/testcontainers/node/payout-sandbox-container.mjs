// A container of the sandbox for tests. Needs a container engine, and npm install --save-dev testcontainers.
import { randomUUID } from 'node:crypto'
import { GenericContainer, Wait } from 'testcontainers'

const PORT = 4310

/**
 * Starts a sandbox with a frozen clock, and resolves when it is ready. More options are variables, such as
 * `{ PAYOUT_SANDBOX_SCENARIO: 'slow' }`.
 *
 * @param {Record<string, string>} [variables]
 */
export async function startSandboxContainer(variables = {}) {
  const adminToken = randomUUID()
  const container = await new GenericContainer('payout-sandbox:latest')
    .withExposedPorts(PORT)
    .withEnvironment({
      PAYOUT_SANDBOX_ADMIN_TOKEN: adminToken,
      PAYOUT_SANDBOX_CLOCK: 'frozen',
      ...variables,
    })
    .withWaitStrategy(Wait.forHttp('/__admin/ready', PORT))
    .start()
  const origin = `http://${container.getHost()}:${container.getMappedPort(PORT)}`
  return { origin, url: `${origin}/v1`, adminToken, stop: () => container.stop() }
}
