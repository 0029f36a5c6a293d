import type { FastifyInstance } from 'fastify'
import { type AppShape, createGuardedApp } from './http/guarded-app.ts'
import { OperationOnDemand } from './http/operation.ts'
import { serveAdmin } from './http/serve-admin.ts'
import { serveOperation } from './http/serve-operation.ts'
import { acceptTrailingSlash } from './http/trailing-slash.ts'
import { SERVICE_ROUTES } from './model/service-routes.ts'
import { healthCalls } from './routes/admin/health.ts'
import { loadOperation } from './routes/v1/load-operation.ts'
import { OPERATIONS } from './scenarios/operations-and-events.ts'

/** Creates the routes of the service and the health checks: those that the first call of most callers needs. */
export async function createServiceApp(shape: AppShape): Promise<FastifyInstance> {
  const { app, allow } = createGuardedApp(shape, acceptTrailingSlash)
  await app.register(
    async (service) => {
      await allow?.(service)
      for (const id of OPERATIONS) {
        const operation = new OperationOnDemand({ id, ...SERVICE_ROUTES[id] }, () =>
          loadOperation(id),
        )
        // Calls must take effect in the order of the recording, so none waits for its operation.
        if (shape.isWatched) await operation.load()
        serveOperation(service, operation, shape)
      }
    },
    { prefix: '/v1' },
  )
  await app.register(
    async (admin) => {
      for (const call of healthCalls) serveAdmin(admin, call, shape)
    },
    { prefix: '/__admin' },
  )
  await app.ready()
  return app
}
