import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { AdminCall } from './http/admin-call.ts'
import { type AppDeps, setDeps } from './http/app-deps.ts'
import { createClientResolver } from './http/clients.ts'
import { createGate } from './http/concurrency-limit.ts'
import { serveDocs } from './http/docs-page.ts'
import { type AppShape, createGuardedApp } from './http/guarded-app.ts'
import { createHostCheck } from './http/host-guard.ts'
import { createServers, type ServerLimits } from './http/listening.ts'
import type { McpHandler } from './http/mcp-request.ts'
import { serveAdminDocument, serveServiceDocument } from './http/openapi-routes.ts'
import type { Operation } from './http/operation.ts'
import { serveAdmin } from './http/serve-admin.ts'
import { serveMcp } from './http/serve-mcp.ts'
import { serveOperation } from './http/serve-operation.ts'
import { assumptionCalls } from './routes/admin/assumptions.ts'
import { clientCalls } from './routes/admin/clients.ts'
import { clockCalls } from './routes/admin/clock.ts'
import { serveConsole } from './routes/admin/console-page.ts'
import { dataCalls } from './routes/admin/data.ts'
import { eventCalls } from './routes/admin/events.ts'
import { healthCalls } from './routes/admin/health.ts'
import { inboxCalls } from './routes/admin/inbox.ts'
import { recordCalls } from './routes/admin/record.ts'
import { requestCalls } from './routes/admin/requests.ts'
import { resetCalls } from './routes/admin/reset.ts'
import { scenarioCalls } from './routes/admin/scenarios.ts'
import { simulateCalls } from './routes/admin/simulate.ts'
import { stateCalls } from './routes/admin/state.ts'
import { waitCalls } from './routes/admin/wait.ts'
import { webhookCalls } from './routes/admin/webhooks.ts'
import { bankAccountOperations } from './routes/v1/bank-accounts.ts'
import { clientOperations } from './routes/v1/client.ts'
import { historyOperations } from './routes/v1/history.ts'
import { kycOperations } from './routes/v1/kyc.ts'
import { transactionOperations } from './routes/v1/transactions.ts'
import { userOperations } from './routes/v1/users.ts'
import { webhookOperations } from './routes/v1/webhook.ts'
import type { RequestObserver } from './world/recorder.ts'
import type { Log, Sandbox } from './world/sandbox.ts'

/** Every endpoint of the service. */
export const OPERATIONS: readonly Operation[] = [
  ...userOperations,
  ...kycOperations,
  ...bankAccountOperations,
  ...transactionOperations,
  ...historyOperations,
  ...clientOperations,
  ...webhookOperations,
]

/** Every call of the admin API. */
export const ADMIN_CALLS = [
  ...healthCalls,
  ...clockCalls,
  ...resetCalls,
  ...scenarioCalls,
  ...assumptionCalls,
  ...simulateCalls,
  ...clientCalls,
  ...stateCalls,
  ...webhookCalls,
  ...inboxCalls,
  ...requestCalls,
  ...recordCalls,
  ...waitCalls,
  ...eventCalls,
  ...dataCalls,
] satisfies readonly AdminCall[]

export type AppOptions = Omit<AppShape, 'isWatched'> &
  ServerLimits & {
    allowHost: readonly string[]
    /** `undefined`: the admin API needs no token. */
    adminToken: string | undefined
    log: Log
    /** Answers agents; it is above the admin API, which it calls. */
    answerMcp: McpHandler
    /** How long the reader of a large response may take for its next chunk, real ms. */
    patienceMs?: number | undefined
    /** Called for every request and its response. */
    watch?: RequestObserver | undefined
  }

// Each retains one consistent state in memory while it is sent.
const MAX_LARGE_ANSWERS = 4

/** Creates the routes for any number of sandboxes: `setDeps` gives each request its own. */
async function createRoutes(shape: AppShape): Promise<FastifyInstance> {
  const { app, allow } = createGuardedApp(shape)
  await app.register(
    async (service) => {
      await allow?.(service)
      for (const op of OPERATIONS) serveOperation(service, op, shape)
    },
    { prefix: '/v1' },
  )
  await app.register(
    async (admin) => {
      // Health checks must still work.
      for (const call of shape.admin ? ADMIN_CALLS : healthCalls) serveAdmin(admin, call, shape)
      if (!shape.admin) return
      serveConsole(admin)
      serveMcp(admin)
      serveAdminDocument(admin, ADMIN_CALLS)
    },
    { prefix: '/__admin' },
  )
  serveServiceDocument(app, OPERATIONS)
  serveDocs(app, shape)
  await app.ready()
  return app
}

// It takes far longer to create the routes than to open a sandbox.
const shared = new Map<string, Promise<FastifyInstance>>()

/** Returns the routes of a shape, which are created once. */
function routesOf({ admin, cors, explain, isWatched }: AppShape): Promise<FastifyInstance> {
  const key = JSON.stringify([admin, cors, explain, isWatched])
  const routes = shared.get(key) ?? createRoutes({ admin, cors, explain, isWatched })
  shared.set(key, routes)
  return routes
}

function depsFor(sandbox: Sandbox, options: AppOptions): AppDeps {
  const { log, adminToken, allowHost, patienceMs, watch, answerMcp } = options
  const name = `The sandbox is sending ${MAX_LARGE_ANSWERS} large responses`
  return {
    sandbox,
    log,
    adminToken,
    watch,
    answerMcp,
    choice: createClientResolver(sandbox),
    isHostAllowed: createHostCheck(allowHost),
    largeBodies: createGate(1, 'The sandbox is reading another large body'),
    largeAnswers: { gate: createGate(MAX_LARGE_ANSWERS, name), patienceMs },
    hangingSockets: new Set(),
  }
}

/** The HTTP interface of one sandbox. */
export async function buildApp(sandbox: Sandbox, options: AppOptions) {
  const routes = await routesOf({ ...options, isWatched: options.watch !== undefined })
  const deps = depsFor(sandbox, options)
  let isClosing = false
  function handle(request: IncomingMessage, response: ServerResponse) {
    setDeps(request, deps)
    if (isClosing) response.setHeader('Connection', 'close')
    routes.routing(request, response)
  }
  const servers = createServers(handle, options, options.log)
  return {
    ...servers,
    /** Handles a request, of the server or of a test. */
    handle,
    /** Finishes requests in flight, and closes idle connections. */
    async close() {
      isClosing = true
      // Streams, waits and hanging connections would prevent the server from closing.
      for (const { feed } of sandbox.worlds.values()) feed.close()
      for (const socket of deps.hangingSockets) socket.destroy()
      await servers.close()
    },
  }
}

/** The HTTP interface of a sandbox, which listens if asked to. */
export type App = Awaited<ReturnType<typeof buildApp>>
