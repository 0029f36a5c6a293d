import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { PACKAGE_ROOT } from '../../config/package.ts'
import { basePathOf } from '../../http/clients.ts'
import { JSON_TYPE } from '../../http/errors.ts'

/** The files of the console that `scripts/build-console.mjs` builds, by the path that serves them. */
const FILES = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/app.js': ['app.js', 'text/javascript; charset=utf-8'],
  '/app.css': ['app.css', 'text/css; charset=utf-8'],
} as const

// The page loads only its own files and calls only this server; inline scripts and frames are forbidden.
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

/** Serves the console, a page that uses the admin API, at `GET /__admin/`. Its files need no token and are read on first use. */
export function serveConsole(admin: FastifyInstance) {
  const cache = new Map<string, Buffer>()
  for (const [url, [name, type]] of Object.entries(FILES)) {
    admin.get(url, { prefixTrailingSlash: 'slash' }, (_request, reply) => {
      const content = cache.get(name) ?? readFileSync(join(PACKAGE_ROOT, 'dist/console', name))
      cache.set(name, content)
      return reply
        .header('content-type', type)
        .header('content-security-policy', POLICY)
        .header('referrer-policy', 'no-referrer')
        .header('cache-control', 'no-cache')
        .send(content)
    })
  }
  // The page uses relative URLs, so its path must end with a slash.
  admin.get('/', { prefixTrailingSlash: 'no-slash' }, (_request, reply) =>
    reply.redirect('__admin/', 308),
  )
}

/** Leads a browser that opens the address of the sandbox to the console; a program learns the other addresses. */
export function serveRoot(app: FastifyInstance, { admin }: { admin: boolean }) {
  app.get('/', (request, reply) => {
    const base = basePathOf(request)
    if (admin && request.headers.accept?.includes('text/html'))
      return reply.redirect(`${base}/__admin/`, 302)
    const address = `${request.protocol}://${request.host}${base}`
    const addresses = {
      service: `${address}/v1`,
      docs: `${address}/docs`,
      ...(admin && { console: `${address}/__admin/` }),
      ready: `${address}/__admin/ready`,
    }
    return reply.header('content-type', JSON_TYPE).send(JSON.stringify(addresses))
  })
}
