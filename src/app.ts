import Fastify, { type FastifyInstance } from 'fastify'
import type { AdminCall } from './http/admin-call.ts'
import { type ClientResolver, createClientResolver, rewriteClientPath } from './http/clients.ts'
import { createGate } from './http/concurrency-limit.ts'
import { allowOrigin } from './http/cors.ts'
import { serveDocs } from './http/docs-page.ts'
import {
  COMMON_HEADERS,
  createErrorHandler,
  rejectExpectation,
  sendClientError,
} from './http/errors.ts'
import { destroyHangingSockets } from './http/hang.ts'
import { createHostGuard } from './http/host-guard.ts'
import { acceptJsonOnly, SMALL_BODY } from './http/json-body.ts'
import { createErrorLogger } from './http/log-request.ts'
import { collectMethods } from './http/methods.ts'
import { serveAdminDocument, serveServiceDocument } from './http/openapi-routes.ts'
import type { Operation } from './http/operation.ts'
import { serveAdmin } from './http/serve-admin.ts'
import { serveOperation } from './http/serve-operation.ts'
import { createSiteGuard } from './http/site-guard.ts'
import { validatorCompiler } from './http/validation.ts'
import { watchRequests } from './http/watch-calls.ts'
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
import { oncePerBurst } from './runtime/once-per-burst.ts'
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

export type AppOptions = {
  allowHost: readonly string[]
  /** `undefined`: the admin API needs no token. */
  adminToken: string | undefined
  admin: boolean
  cors: string | undefined
  explain: boolean
  log: Log
  /** How long the reader of a large response may take for its next chunk, real ms. */
  patienceMs?: number | undefined
  /** Called for every request and its response. */
  watch?: RequestObserver | undefined
  /** Maximum of open connections (default: 4,096). */
  maxConnections?: number | undefined
  /** How long a request may take to arrive, real ms (default: 10 s). */
  requestMs?: number | undefined
}

// Long enough for a slow laptop, short enough that a stuck client frees its socket, real ms.
const REQUEST_MS = 10_000

// Each retains one consistent state in memory while it is sent.
const MAX_LARGE_ANSWERS = 4

/** Builds the Fastify app of a sandbox: guards, error handling and routes, without behaviour of its own. */
export async function buildApp(sandbox: Sandbox, options: AppOptions): Promise<FastifyInstance> {
  const { log, requestMs = REQUEST_MS, maxConnections = 4_096 } = options
  const choice = createClientResolver(sandbox)
  const largeBodies = createGate(1, 'The sandbox is reading another large body')
  const largeAnswers = {
    gate: createGate(
      MAX_LARGE_ANSWERS,
      `The sandbox is sending ${MAX_LARGE_ANSWERS} large responses`,
    ),
    patienceMs: options.patienceMs,
  }
  const sendError = createErrorHandler(log, choice.errorForm, createErrorLogger(choice))
  const app = Fastify({
    bodyLimit: SMALL_BODY,
    requestTimeout: requestMs,
    keepAliveTimeout: 5_000,
    // Without both of these a slow request stays open forever.
    http: {
      headersTimeout: requestMs,
      connectionsCheckingInterval: 1_000,
      requireHostHeader: false,
    },
    // The maximum length of Node's request line: an invalid id of any length reaches its own validation.
    routerOptions: { maxParamLength: 16_384 },
    rewriteUrl: rewriteClientPath,
    clientErrorHandler: sendClientError,
    frameworkErrors(error, request, reply) {
      watchRequest?.(request as never, reply as never)
      sendError(error, request as never, reply as never)
    },
    return503OnClosing: false,
  })
  app.server.maxConnections = maxConnections
  app.server.on(
    'drop',
    oncePerBurst(() =>
      log.warn(
        `A connection was rejected because ${maxConnections} connections are open, the maximum. Close some, or raise the limit on open files (ulimit -n).`,
      ),
    ),
  )
  destroyHangingSockets(app)
  app.setErrorHandler(sendError)
  app.setValidatorCompiler(validatorCompiler as never)
  app.decorateRequest('watched', undefined)
  const watchRequest = options.watch && watchRequests(app, options.watch)
  app.addHook('onRequest', createHostGuard(options.allowHost))
  app.addHook('onRequest', createSiteGuard(options.cors))
  const noRouteError = collectMethods(app)
  app.server.on('checkExpectation', rejectExpectation)
  const exposedHeaders = ['Idempotency-Replayed', 'Retry-After']
  if (options.explain) exposedHeaders.push('X-Sandbox-Client', 'X-Sandbox-Rule')
  const { cors: origin } = options
  const allow =
    origin === undefined ? undefined : allowOrigin(app, { origin, exposedHeaders, noRouteError })
  // Before the body is read: it does not matter if the path or the method does not exist.
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(COMMON_HEADERS)
    request.startedAt = sandbox.runtime.elapsed()
    done(request.is404 ? noRouteError(request) : undefined)
  })
  app.decorateRequest('bodyText', '')
  app.decorateRequest('sentBody', undefined)
  app.decorateRequest('releaseGate', undefined)
  app.decorateRequest('startedAt', undefined)
  app.decorateRequest('receivedAt', undefined)
  app.decorateRequest('isForeign', false)
  app.decorateRequest('isDecided', false)
  app.decorateRequest('rule', undefined)
  app.decorateRequest('world', null as never)
  acceptJsonOnly(app)
  if (options.explain) addClientHeader(app, choice)

  await app.register(
    async (service) => {
      await allow?.(service)
      for (const op of OPERATIONS) serveOperation(service, op, { choice, explain: options.explain })
    },
    { prefix: '/v1' },
  )
  if (!options.admin) {
    // Health checks must still work.
    await app.register(
      async (admin) => {
        for (const call of healthCalls)
          serveAdmin(admin, call, {
            sandbox,
            largeBodies,
            largeAnswers,
            choice,
            adminToken: undefined,
            explain: options.explain,
          })
      },
      { prefix: '/__admin' },
    )
  }
  if (options.admin) {
    await app.register(
      async (admin) => {
        // Streams and waits would prevent the server from closing.
        admin.addHook('preClose', async () => {
          for (const { feed } of sandbox.worlds.values()) feed.close()
        })
        serveConsole(admin)
        serveAdminDocument(admin, ADMIN_CALLS)
        for (const call of ADMIN_CALLS) {
          serveAdmin(admin, call, {
            sandbox,
            largeBodies,
            largeAnswers,
            choice,
            adminToken: options.adminToken,
            explain: options.explain,
          })
        }
      },
      { prefix: '/__admin' },
    )
  }
  serveServiceDocument(app, OPERATIONS, choice)
  serveDocs(app, { admin: options.admin })
  return app
}

/** Adds the client's name to every response of a client's request, including errors. */
function addClientHeader(app: FastifyInstance, choice: ClientResolver) {
  app.addHook('onSend', async (request, reply) => {
    if (request.isForeign || !/^\/(?:v1|__admin)(?:[/?]|$)/.test(request.url)) return
    const world = request.world ?? choice.ofRejected(request)
    if (world) reply.header('x-sandbox-client', world.name)
  })
}
