import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { SandboxError } from '../model/errors.ts'
import { depsOf } from './app-deps.ts'
import { isOfService } from './clients.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Rejects requests of pages of other sites, as all of `/v1` does. */
    sameSiteOnly?: true
  }
}

/** `Host` without its port, in lower case; IPv6 without its brackets. */
export function hostNameOf(header: string): string {
  const lower = header.toLowerCase()
  const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(lower)
  if (bracketed) return bracketed[1]!
  return lower.replace(/:\d*$/, '')
}

/**
 * Accepts these Host names: loopback names, IP addresses, names without a dot (of a compose file or a CI job; no public
 * DNS name is without a dot) and allowed ones. Other names can come from a page with a DNS rebinding attack.
 */
export function createHostCheck(allowed: readonly string[]): (header: string) => boolean {
  const names = new Set(allowed.map((name) => name.toLowerCase()))
  function isAllowed(name: string): boolean {
    if (!/^[a-z0-9._:-]+$/.test(name)) return false
    return (
      isIP(name) !== 0 ||
      /^[a-z0-9_-]+$/.test(name) ||
      name.endsWith('.localhost') ||
      name === 'host.docker.internal' ||
      names.has(name)
    )
  }
  // Nearly all calls have the same header.
  let last: string | undefined
  return (header) => {
    if (header !== last && !isAllowed(hostNameOf(header))) return false
    last = header
    return true
  }
}

const MAX_PORT = 65_535

/** The number of Host headers; `headers` of Node has the first one only. */
function hostsSent(rawHeaders: readonly string[]): number {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === 'host') count++
  return count
}

/** A Fastify `onRequest` hook: rejects a request without exactly one Host header with a possible port and an allowed name. */
export function guardHost(request: FastifyRequest, _reply: unknown, done: () => void) {
  const hosts = hostsSent(request.raw.rawHeaders)
  if (hosts !== 1) {
    const message = `The request has ${hosts === 0 ? 'no' : hosts} Host header${hosts === 0 ? '' : 's'}. Send exactly one.`
    throw new SandboxError('malformed_request', message)
  }
  const header = request.headers.host ?? ''
  if (!depsOf(request).isHostAllowed(header)) {
    request.isForeign = true
    const shown = hostNameOf(header)
      .slice(0, 100)
      .replaceAll(/[^a-z0-9._:-]/g, '?')
    throw new SandboxError(
      'host_not_allowed',
      `The Host header ${JSON.stringify(shown)} is not allowed. Use a loopback name or an IP address, or start the sandbox with --allow-host NAME.`,
    )
  }
  const [, port] = /:(\d{5,})$/.exec(header) ?? []
  if (Number(port) > MAX_PORT) {
    const message = `The Host header has the port ${port!.slice(0, 20)}. Send one of at most ${MAX_PORT}.`
    throw new SandboxError('malformed_request', message)
  }
  done()
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
  return (request: FastifyRequest, _reply: unknown, done: () => void) => {
    if (!isCrossSite(request)) return done()
    const isService = isOfService(request)
    if (!isService && !request.routeOptions.config.sameSiteOnly) return done()
    if (isService && allowed !== undefined && request.headers.origin === allowed) return done()
    request.isForeign = true
    throw new SandboxError(
      'cross_site_rejected',
      isService
        ? 'A page of another site sent this request. Send it from a program, or start the sandbox with --cors ORIGIN to allow that page.'
        : 'A page of another site sent this admin request. Send it from a program, or use the console.',
    )
  }
}

/** Lets a browser app of `cors` read the responses of the service, including errors of unknown paths. */
export function corsOf({ cors: origin, explain }: { cors: string | undefined; explain: boolean }) {
  if (origin === undefined) return undefined
  const exposedHeaders = ['Idempotency-Replayed', 'Retry-After']
  if (explain) exposedHeaders.push('X-Sandbox-Client', 'X-Sandbox-Rule')
  return {
    headers: {
      'access-control-allow-origin': origin,
      'access-control-expose-headers': exposedHeaders.join(', '),
    },
    /** The options of @fastify/cors. */
    options: { origin, methods: ['GET', 'POST', 'PUT'], exposedHeaders },
  }
}

/** Whether a request is an OPTIONS request that is no preflight: an unsupported method. */
export const isPlainOptions = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' && !(headers.origin && headers['access-control-request-method'])
