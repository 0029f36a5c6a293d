import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { depsOf } from './app-deps.ts'
import { isOfService, type rewriteClientPath } from './clients.ts'
import { COMMON_HEADERS, sendError } from './errors.ts'
import { allowOrigin, createSiteGuard, guardHost } from './guards.ts'
import { acceptJsonOnly, BODY_LIMIT } from './json-body.ts'
import { collectMethods } from './no-route.ts'
import { validatorCompiler } from './validation.ts'
import { watchRequests } from './watch-calls.ts'

/** The options that decide which routes and hooks an app has. */
export type AppShape = {
  admin: boolean
  cors: string | undefined
  explain: boolean
  isWatched: boolean
}

type RoutingOptions = {
  rewriteUrl?: typeof rewriteClientPath
  /** Answers a request that is not for the service, in place of this app. */
  elsewhere?: (request: FastifyRequest, reply: FastifyReply) => void
}

/**
 * Creates a Fastify instance with what every request passes, in this order, and the headers and errors of every response.
 * Also returns the plugin that allows the pages of another site to read the responses of the service.
 */
export function createGuardedApp(
  { cors: origin, explain, isWatched }: AppShape,
  { rewriteUrl, elsewhere }: RoutingOptions = {},
) {
  const app = Fastify({
    ...(rewriteUrl && { rewriteUrl }),
    bodyLimit: BODY_LIMIT,
    // The maximum length of Node's request line: an invalid id of any length reaches its own validation.
    routerOptions: { maxParamLength: 16_384 },
    // Otherwise Fastify loads its own compilers at each start.
    schemaController: {
      compilersFactory: {
        buildValidator: () => validatorCompiler as never,
        buildSerializer: () => () => JSON.stringify,
      },
    },
    frameworkErrors(error, request, reply) {
      watchRequest?.(request as never, reply as never)
      sendError(error, request as never, reply as never)
    },
  })
  app.setErrorHandler(sendError)
  acceptJsonOnly(app)
  // Fields that requests get later are not decorated: Fastify would set each of them on every request.
  if (elsewhere)
    app.addHook('onRequest', (request, reply, done) => {
      if (!request.is404 || isOfService(request)) return done()
      reply.hijack()
      elsewhere(request, reply)
    })
  const watchRequest = isWatched ? watchRequests(app) : undefined
  app.addHook('onRequest', guardHost)
  app.addHook('onRequest', createSiteGuard(origin))
  const noRouteError = collectMethods(app)
  const exposedHeaders = ['Idempotency-Replayed', 'Retry-After']
  if (explain) exposedHeaders.push('X-Sandbox-Client', 'X-Sandbox-Rule')
  const allow =
    origin === undefined ? undefined : allowOrigin(app, { origin, exposedHeaders, noRouteError })
  // Not in a handler of requests without a route: Fastify would first read their body, and reject a malformed one.
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(COMMON_HEADERS)
    request.startedAt = depsOf(request).sandbox.runtime.elapsed()
    done(request.is404 ? noRouteError(request) : undefined)
  })
  if (explain) addClientHeader(app)
  return { app, allow }
}

/** Adds the client's name to every response of a client's request, including errors. */
function addClientHeader(app: FastifyInstance) {
  app.addHook('onSend', async (request, reply) => {
    if (request.isForeign || !/^\/(?:v1|__admin)(?:[/?]|$)/.test(request.url)) return
    const world = request.world ?? depsOf(request).choice.ofRejected(request)
    if (world) reply.header('x-sandbox-client', world.name)
  })
}
