import type { FastifyInstance } from 'fastify'
import { serveAdminDocument, serveServiceDocument } from './http/openapi-routes.ts'
import { serveConsole, serveDocs, serveRoot } from './http/pages.ts'
import { serveAdmin } from './http/serve-admin.ts'
import { ADMIN_CALLS } from './routes/admin/admin-calls.ts'
import { healthCalls } from './routes/admin/health.ts'
import { OPERATIONS } from './routes/v1/operations.ts'

/** Adds the routes of the sandbox itself: the admin API, the documents and the pages. */
export async function addSandboxRoutes(
  app: FastifyInstance,
  shape: { admin: boolean; explain: boolean },
) {
  serveRoot(app, shape)
  await app.register(
    async (admin) => {
      for (const call of shape.admin ? ADMIN_CALLS : healthCalls) serveAdmin(admin, call, shape)
      if (!shape.admin) return
      serveConsole(admin)
      serveAdminDocument(admin, ADMIN_CALLS)
    },
    { prefix: '/__admin' },
  )
  serveServiceDocument(app, OPERATIONS)
  serveDocs(app, shape)
}
