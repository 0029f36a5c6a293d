import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { PACKAGE_ROOT } from '../../config/package-root.ts'

/** The console's files as `scripts/build-console.mjs` makes them, by the path that each is served at. */
const FILES = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/app.js': ['app.js', 'text/javascript; charset=utf-8'],
  '/app.css': ['app.css', 'text/css; charset=utf-8'],
} as const

// What the page loads is its own and what it calls is this server; nothing inline runs, nothing frames it.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "form-action 'none'",
].join('; ')

/** `GET /__admin/`: the console, a page over the admin API. Its files need no token and are read when first asked for. */
export function serveConsole(admin: FastifyInstance) {
  const kept = new Map<string, Buffer>()
  for (const [url, [name, type]] of Object.entries(FILES)) {
    admin.get(url, { prefixTrailingSlash: 'slash' }, (_request, reply) => {
      const content = kept.get(name) ?? readFileSync(join(PACKAGE_ROOT, 'dist/console', name))
      kept.set(name, content)
      return reply
        .header('content-type', type)
        .header('content-security-policy', POLICY)
        .header('referrer-policy', 'no-referrer')
        .header('cache-control', 'no-cache')
        .send(content)
    })
  }
  // Its files and calls are named from where it is, so its path has to end in a slash.
  admin.get('/', { prefixTrailingSlash: 'no-slash' }, (_request, reply) =>
    reply.redirect('__admin/', 308),
  )
}
