import type { FastifyRequest } from 'fastify'
import { SandboxError } from '../model/errors.ts'
import { isOfService } from './clients.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Rejects requests of pages of other sites, as all of `/v1` does. */
    sameSiteOnly?: true
  }
}

/**
 * Whether a browser sent a request for a page of another site. Browsers send `Sec-Fetch-Site`, older ones only
 * `Origin`; other callers send neither.
 */
function isCrossSite({ headers }: FastifyRequest): boolean {
  const { 'sec-fetch-site': site, origin, host } = headers
  if (site !== undefined && site !== 'none' && site !== 'same-origin') return true
  return origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`
}

/**
 * Rejects requests that a browser sent for a page of another site, before they have any effect: to the service, unless
 * `allowed` is the origin of the page, and to the admin API.
 */
export function createSiteGuard(allowed: string | undefined) {
  /** A Fastify `onRequest` hook. */
  return (request: FastifyRequest, _reply: unknown, done: (error?: Error) => void) => {
    if (!isCrossSite(request)) return done()
    const isService = isOfService(request)
    if (!isService && !request.routeOptions.config.sameSiteOnly) return done()
    if (isService && allowed !== undefined && request.headers.origin === allowed) return done()
    request.isForeign = true
    done(
      new SandboxError(
        'cross_site_rejected',
        isService
          ? 'A page of another site sent this request. Send it from a program, or start the sandbox with --cors ORIGIN to allow that page.'
          : 'A page of another site sent this admin request. Send it from a program, or use the console.',
      ),
    )
  }
}
