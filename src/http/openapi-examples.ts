import { shippedFixtures } from '../content/shipped-fixtures.ts'
import { createLibrary, withInline } from '../scenarios/library.ts'
import { openSandbox } from '../world/sandbox.ts'
import type { Input } from './endpoint.ts'
import { SERVICE_REQUESTS } from './openapi-requests.ts'
import type { Operation } from './operation.ts'

// In an order in which each call has the rows that it needs.
const CALLS = [
  'createUser',
  'getUser',
  'listUsers',
  'submitKyc',
  'getKyc',
  'addBankAccount',
  'listBankAccounts',
  'createTransaction',
  'listTransactions',
  'getTransaction',
  'listTransactionHistory',
  'listUserTransactionHistory',
  'getClientProfile',
  'createWebhook',
  'getWebhook',
  'updateWebhook',
] as const

// biome-ignore lint/suspicious/noExplicitAny: each operation has a body of its own.
export type Examples = Record<(typeof CALLS)[number], any>

/** Makes the example responses: those of the example requests, one after the other, on the shipped fixtures. */
export async function exampleResponses(operations: readonly Operation[]): Promise<Examples> {
  const log = { info() {}, warn() {}, error() {} }
  const sandbox = await openSandbox({
    fixtures: await shippedFixtures(),
    // The operations are called directly, so no scenario decides.
    library: withInline(createLibrary(new Map()), 'default', { rules: [] }),
    start: { randomSeed: 1, clock: 'frozen', clockSpeed: 1, scenario: 'default', assume: {} },
    runLate: () => false,
    maxClients: 100,
    autoClients: false,
    webhooks: { allow: [], time: 'wall', retries: 'fast' },
    unref: true,
    log,
  })
  const world = sandbox.default
  const respond = (id: string) => {
    const { query, body, check, handle } = operations.find((op) => op.id === id)!
    const sent = SERVICE_REQUESTS[id] ?? {}
    const input = {
      params: sent.params,
      query: query?.parse({ limit: '2' }),
      body: body?.parse(sent.body),
    } as unknown as Input
    return world.tables.change(() => handle(world, input, {}, check?.(world, input)))
  }
  const examples = Object.fromEntries(CALLS.map((id) => [id, respond(id)]))
  await sandbox.close()
  return JSON.parse(JSON.stringify(examples))
}
