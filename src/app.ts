import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { type AppDeps, setDeps } from './http/app-deps.ts'
import { createClientResolver, isOfService, rewriteClientPath } from './http/clients.ts'
import type { AppShape } from './http/guarded-app.ts'
import { createHostCheck } from './http/host-guard.ts'
import { createServers, type ServerLimits } from './http/listening.ts'
import type { McpHandler } from './http/mcp-request.ts'
import { dropTrailingSlash } from './http/trailing-slash.ts'
import { healthCalls } from './routes/admin/health.ts'
import { createServiceApp } from './service-app.ts'
import type { RequestObserver } from './world/recorder.ts'
import type { Log, Sandbox } from './world/sandbox.ts'

export type AppOptions = Omit<AppShape, 'isWatched'> &
  ServerLimits & {
    allowHost: readonly string[]
    /** `undefined`: the admin API needs no token. */
    adminToken: string | undefined
    log: Log
    /** Answers agents; it is above the admin API, which it calls. */
    answerMcp: McpHandler
    /** Called for every request and its response. */
    watch?: RequestObserver | undefined
  }

// The routes of the sandbox itself are loaded when one of them is first called: most of a start would be theirs.
const CREATE = {
  service: createServiceApp,
  sandbox: async (shape: AppShape) => (await import('./sandbox-app.ts')).createSandboxApp(shape),
}

// It takes far longer to create routes than to open a sandbox.
const shared = new Map<string, Promise<FastifyInstance>>()

/** Returns routes of a shape, which are created once for any number of sandboxes: `setDeps` gives each request its own. */
function routesOf(
  part: keyof typeof CREATE,
  { admin, cors, explain, isWatched }: AppShape,
): Promise<FastifyInstance> {
  const key = JSON.stringify([part, admin, cors, explain, isWatched])
  const routes = shared.get(key) ?? CREATE[part]({ admin, cors, explain, isWatched })
  shared.set(key, routes)
  return routes
}

function depsFor(sandbox: Sandbox, options: AppOptions, handle: RequestListener): AppDeps {
  const { log, adminToken, allowHost, watch, answerMcp } = options
  return {
    sandbox,
    log,
    adminToken,
    watch,
    answerMcp,
    handle,
    choice: createClientResolver(sandbox),
    isHostAllowed: createHostCheck(allowHost),
    hangingSockets: new Set(),
  }
}

const HEALTH_CHECKS = new Set(healthCalls.map(({ url }) => `/__admin${url}`))

/** The HTTP interface of one sandbox. */
export async function buildApp(sandbox: Sandbox, options: AppOptions) {
  const shape = { ...options, isWatched: options.watch !== undefined }
  const service = await routesOf('service', shape)
  // Calls must take effect in the order of the recording, so none waits for its routes.
  let own = shape.isWatched ? Promise.resolve(await routesOf('sandbox', shape)) : undefined
  const deps = depsFor(sandbox, options, handle)
  let isClosing = false
  let received = 0
  function handle(request: IncomingMessage, response: ServerResponse) {
    received++
    setDeps(request, deps)
    if (isClosing) response.setHeader('Connection', 'close')
    const url = rewriteClientPath(request)
    const isService = isOfService({ url })
    if (isService) dropTrailingSlash(request)
    if (isService || HEALTH_CHECKS.has(url.split('?', 1)[0]!))
      return service.routing(request, response)
    own ??= routesOf('sandbox', shape)
    void own.then(({ routing }) => {
      // The call of a caller that is gone would never end.
      if (!request.destroyed) routing(request, response)
    })
  }
  const servers = createServers(handle, options, options.log)
  return {
    ...servers,
    /** Handles a request, of the server or of a test. */
    handle,
    /** The number of requests so far. */
    received: () => received,
    /** Finishes requests in flight, and closes idle connections. */
    async close() {
      isClosing = true
      // Streams, waits and hanging connections would prevent the server from closing.
      for (const { feed } of sandbox.clients.values()) feed.close()
      for (const socket of deps.hangingSockets) socket.destroy()
      await servers.close()
    },
  }
}

/** The HTTP interface of a sandbox, which listens if asked to. */
export type App = Awaited<ReturnType<typeof buildApp>>
