import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { type AppDeps, setDeps } from './http/app-deps.ts'
import { createClientResolver, rewriteClientPath } from './http/clients.ts'
import { type AppShape, createGuardedApp } from './http/guarded-app.ts'
import { createHostCheck } from './http/guards.ts'
import { serveOperation } from './http/serve-operation.ts'
import { createServers, type ServerLimits } from './http/server.ts'
import { OPERATIONS } from './routes/v1/operations.ts'
import type { Sandbox } from './world/sandbox.ts'

export type AppOptions = Omit<AppShape, 'isWatched'> &
  ServerLimits &
  Pick<AppDeps, 'adminToken' | 'log' | 'answerMcp'> & {
    allowHost: readonly string[]
    /** Called for every request and its response. */
    watch?: AppDeps['watch']
  }

// The only boundary of the server: the admin API, what agents call, the documents and the pages are loaded at the first
// call of one of them, as most of a start would be theirs.
const createSandboxApp = async (shape: AppShape): Promise<FastifyInstance> =>
  (await import('./sandbox-app.ts')).createSandboxApp(shape)

/** Creates the routes of the service; a request of any other path goes to the routes of the sandbox itself. */
export async function createServiceApp(shape: AppShape): Promise<FastifyInstance> {
  // A recorded call must take effect at once, so it waits for no routes.
  let loaded = shape.isWatched ? await createSandboxApp(shape) : undefined
  let loading: Promise<FastifyInstance> | undefined
  const { app, allow } = createGuardedApp(shape, {
    rewriteUrl: rewriteClientPath,
    elsewhere({ raw }, reply) {
      if (loaded) return loaded.routing(raw, reply.raw)
      loading ??= createSandboxApp(shape)
      void loading.then((routes) => {
        loaded = routes
        // The call of a caller that is gone would never end.
        if (!raw.destroyed) routes.routing(raw, reply.raw)
      })
    },
  })
  await app.register(
    async (service) => {
      await allow?.(service)
      for (const operation of OPERATIONS) serveOperation(service, operation, shape)
    },
    { prefix: '/v1' },
  )
  await app.ready()
  return app
}

// It takes far longer to create routes than to open a sandbox, so all sandboxes of a process share them.
const shared = new Map<string, Promise<FastifyInstance>>()

function routesOf({ admin, cors, explain, isWatched }: AppShape): Promise<FastifyInstance> {
  const key = JSON.stringify([admin, cors, explain, isWatched])
  const routes = shared.get(key) ?? createServiceApp({ admin, cors, explain, isWatched })
  shared.set(key, routes)
  return routes
}

/** The HTTP interface of one sandbox. */
export async function buildApp(sandbox: Sandbox, options: AppOptions) {
  const { log, adminToken, answerMcp, allowHost, watch } = options
  const { routing } = await routesOf({ ...options, isWatched: watch !== undefined })
  const deps: AppDeps = {
    sandbox,
    log,
    adminToken,
    answerMcp,
    watch,
    handle,
    choice: createClientResolver(sandbox),
    isHostAllowed: createHostCheck(allowHost),
    hangingSockets: new Set(),
  }
  let isClosing = false
  let received = 0
  function handle(request: IncomingMessage, response: ServerResponse) {
    received++
    setDeps(request, deps)
    if (isClosing) response.setHeader('Connection', 'close')
    routing(request, response)
  }
  const servers = createServers(handle, options, log)
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
