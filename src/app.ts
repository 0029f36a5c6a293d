// src/: a file here is a door. app.ts is the HTTP interface of a sandbox, server.ts starts one with options, index.ts is the
// library, bundle.ts and tools.ts are what the build bundles; CONTRIBUTING.md has the map of the folders.

import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Writable } from 'node:stream'
import Fastify, { type FastifyInstance } from 'fastify'
import type { ServiceCall } from './active-scenario/timeline-actions.ts'
import { type AppDeps, depsOf, setDeps } from './http/app-deps.ts'
import { createClientResolver, isOfService, rewriteClientPath } from './http/clients.ts'
import { COMMON_HEADERS, collectMethods, sendError } from './http/errors.ts'
import {
  corsOf,
  createHostCheck,
  createSiteGuard,
  guardHost,
  isPlainOptions,
} from './http/guards.ts'
import { acceptJsonOnly, BODY_LIMIT } from './http/json-body.ts'
import { serveOperation } from './http/serve-operation.ts'
import { createServers, type ServerLimits } from './http/server.ts'
import { validatorCompiler } from './http/validation.ts'
import { OPERATIONS } from './routes/v1/operations.ts'
import { oncePerBurst } from './runtime/real-time.ts'
import type { Sandbox } from './world/sandbox.ts'
import type { World } from './world/world.ts'

/** The options that decide which routes and hooks an app has. */
export type AppShape = {
  admin: boolean
  /** The origins whose pages may call the service. */
  cors: readonly string[]
  explain: boolean
}

/** Sees each request before it's routed, and may let it wait. */
export type Middleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: () => void,
) => void

export type AppOptions = AppShape &
  ServerLimits &
  Pick<AppDeps, 'adminToken' | 'log'> & {
    allowHost: readonly string[]
    middleware?: Middleware | undefined
  }

/** Creates a Fastify instance: before a route, each request passes these hooks in this order, and each error has this form. */
export async function createApp(
  shape: AppShape,
  prefix: string,
  addRoutes: (app: FastifyInstance, shape: AppShape) => Promise<void>,
): Promise<FastifyInstance> {
  const app = Fastify({
    rewriteUrl: (request) => rewriteClientPath(request as IncomingMessage),
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
      sendError(error, request as never, reply as never)
    },
  })
  app.setErrorHandler(sendError)
  acceptJsonOnly(app)
  // Fields that requests get later are not decorated: Fastify would set each of them on every request.
  app.addHook('onRequest', guardHost)
  app.addHook('onRequest', createSiteGuard(shape.cors))
  const noRouteError = collectMethods(app, OPERATIONS)
  // Not in a handler of requests without a route: Fastify would first read their body, and reject a malformed one.
  app.addHook('onRequest', (request, reply, done) => {
    const { headers } = request
    // Fastify rejects a Content-Type that names no type, even of an empty body.
    if (headers['content-type'] !== undefined && hasNoBody(headers) && !request.mediaType)
      delete headers['content-type']
    const hasRoute = !request.is404 && (shape.cors.length === 0 || !isPlainOptions(request))
    reply.headers(COMMON_HEADERS)
    request.startedAt = depsOf(request).sandbox.runtime.elapsed()
    done(hasRoute ? undefined : noRouteError(request))
  })
  if (shape.explain) addClientHeader(app)
  await app.register(addRoutes, { ...shape, prefix })
  await app.ready()
  return app
}

const hasNoBody = (headers: IncomingMessage['headers']) =>
  !Number(headers['content-length']) && headers['transfer-encoding'] === undefined

/** Adds the client's name to every response of a client's request, including errors. */
function addClientHeader(app: FastifyInstance) {
  app.addHook('onSend', async (request, reply) => {
    if (request.isForeign || !/^\/(?:v1|__admin)(?:[/?]|$)/.test(request.url)) return
    const world = request.world ?? depsOf(request).choice.ofRejected(request)
    if (world) reply.header('x-sandbox-client', world.name)
  })
}

async function addServiceRoutes(app: FastifyInstance, shape: AppShape) {
  const cors = corsOf(shape)
  if (cors) await app.register(import('@fastify/cors'), cors.options)
  for (const operation of OPERATIONS) serveOperation(app, operation, shape)
}

/** Creates the routes of the service; those of the sandbox itself are created when one of them is called. */
async function createRoutes(shape: AppShape): Promise<RequestListener> {
  const service = await createApp(shape, '/v1', addServiceRoutes)
  let sandbox: FastifyInstance | undefined
  let loading: Promise<FastifyInstance> | undefined
  return (request, response) => {
    if (isOfService({ url: rewriteClientPath(request) })) return service.routing(request, response)
    if (sandbox) return sandbox.routing(request, response)
    // The only boundary of the server: the admin API, the documents and the pages are loaded at the first
    // call of one of them, as most of a start would be theirs.
    loading ??= import('./sandbox-app.ts').then((app) => createApp(shape, '', app.addSandboxRoutes))
    void loading.then((loaded) => {
      sandbox = loaded
      // The call of a caller that is gone would never end.
      if (!request.destroyed) loaded.routing(request, response)
    })
  }
}

// It takes far longer to create routes than to open a sandbox, so all sandboxes of a process share them.
const shared = new Map<string, Promise<RequestListener>>()

function routesOf({ admin, cors, explain }: AppShape): Promise<RequestListener> {
  const key = JSON.stringify([admin, cors, explain])
  const routes = shared.get(key) ?? createRoutes({ admin, cors, explain })
  shared.set(key, routes)
  return routes
}

// How long calls in flight may take to end when the sandbox closes, real ms: SIGTERM is obeyed within two seconds.
const GRACE_MS = 1_500

export async function buildApp(sandbox: Sandbox, options: AppOptions) {
  const { log, adminToken, allowHost, middleware } = options
  const route = await routesOf(options)
  const corsHeaders = corsOf(options)?.headersFor
  const deps: AppDeps = {
    corsHeaders,
    sandbox,
    log,
    adminToken,
    choice: createClientResolver(sandbox),
    isHostAllowed: createHostCheck(allowHost),
    hangingSockets: new Set(),
    exporting: new Set(),
  }
  let isClosing = false
  let received = 0
  function handle(request: IncomingMessage, response: ServerResponse) {
    received++
    setDeps(request, deps)
    if (isClosing) response.setHeader('Connection', 'close')
    route(request, response)
  }
  const listener: RequestListener = middleware
    ? (request, response) => middleware(request, response, () => handle(request, response))
    : handle
  const servers = createServers(listener, { ...options, corsHeaders }, log)
  return {
    ...servers,
    handle,
    callService: createOwnCaller(deps, route),
    received: () => received,
    /** Finishes requests in flight, and closes idle connections. */
    async close() {
      isClosing = true
      // Streams, waits and hanging connections would prevent the server from closing.
      for (const { feed } of sandbox.clients.values()) feed.close()
      for (const socket of deps.hangingSockets) socket.destroy()
      // A response that nobody reads would never end.
      const timer = setTimeout(servers.closeAllConnections, GRACE_MS)
      await servers.close()
      clearTimeout(timer)
    },
  }
}

// While a client has this many delayed responses, its timeline makes no calls: each of them takes memory.
const MAX_WAITING = 1_000

/** Makes a timeline's calls as its app would, in this turn of the event loop: Fastify's `inject` would read the body later. */
function createOwnCaller(deps: AppDeps, route: RequestListener) {
  const warn = oncePerBurst(() =>
    deps.log.warn(
      `A timeline skips calls, because rules delay ${MAX_WAITING} others, the maximum.`,
    ),
  )
  function send(world: World, { method, path, body }: ServiceCall, onHandled: () => void) {
    const text = body ? JSON.stringify(body) : ''
    const headers = {
      host: 'localhost',
      'user-agent': 'payout-sandbox',
      authorization: `Bearer ${world.payouts.profile().access_token}`,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
    }
    const url = `/@${world.name}/v1${path}`
    const rawHeaders = Object.entries(headers).flat()
    const socket = new Writable({ write: (_chunk, _encoding, done) => done() }) as Socket
    const head = { method, url, headers, rawHeaders, httpVersion: '1.1', complete: true }
    const request = Object.assign(new IncomingMessage(socket), head)
    if (text) request.push(text)
    request.push(null)
    const response = new ServerResponse(request)
    response.assignSocket(socket)
    response.once('finish', onHandled)
    setDeps(request, { ...deps, hangingSockets: new Set(), onHandled })
    route(request, response)
  }
  return async (world: World, call: ServiceCall): Promise<void> => {
    // A client that was deleted meanwhile would be created again.
    if (deps.sandbox.clients.get(world.name) !== world) return
    if (world.requests.delayed.count >= MAX_WAITING) return warn()
    await new Promise<void>((resolve) => send(world, call, resolve))
  }
}
