// The sandbox as its program serves it, but for the size from which it makes its document anew.
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buildApp } from '../../../src/app.ts'
import { PACKAGE_ROOT } from '../../../src/config/package.ts'
import { fixturesOf } from '../../../src/content/fixtures.ts'
import { runLate } from '../../../src/routes/v1/operations.ts'
import { shippedLibrary } from '../../../src/scenarios/library.ts'
import { openSandbox } from '../../../src/world/sandbox.ts'

const [file, fixtures, compactFrom] = process.argv.slice(2) as [string, string, string]
const tell = (message: string) => void process.stderr.write(`${message}\n`)
const log = { info() {}, warn: tell, error: tell }

const sandbox = await openSandbox({
  file,
  fixtures: fixturesOf(JSON.parse(fixtures)),
  compactFrom: Number(compactFrom),
  start: { randomSeed: 1, clock: 'real', clockSpeed: 20, scenario: 'default' },
  library: shippedLibrary(join(PACKAGE_ROOT, 'dist/scenarios.json'))!,
  runLate,
  maxClients: 100,
  autoClients: true,
  webhooks: { allow: [], time: 'wall', retries: 'fast' },
  log,
})
const app = await buildApp(sandbox, {
  allowHost: [],
  adminToken: undefined,
  admin: true,
  cors: [],
  explain: false,
  log,
})
await app.listen({ port: 0, host: '127.0.0.1' })
process.send!((app.server.address() as AddressInfo).port)
