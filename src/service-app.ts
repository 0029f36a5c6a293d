import type { FastifyInstance } from 'fastify'
import { type AppShape, createGuardedApp } from './http/guarded-app.ts'
import { serveAdmin } from './http/serve-admin.ts'
import { serveOperation } from './http/serve-operation.ts'
import { healthCalls } from './routes/admin/health.ts'
import { OPERATIONS } from './routes/v1/operations.ts'

/** Creates the routes of the service and the health checks: those that the first call of most callers needs. */
export async function createServiceApp(shape: AppShape): Promise<FastifyInstance> {
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
      for (const call of healthCalls) serveAdmin(admin, call, shape)
    },
    { prefix: '/__admin' },
  )
  await app.ready()
  return app
}
