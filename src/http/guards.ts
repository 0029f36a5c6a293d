import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { SandboxError } from '../model/errors.ts'
import { depsOf } from './app-deps.ts'
import { isOfService } from './clients.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Rejects requests of pages of other sites, as all of `/v1` does. */
    sameSiteOnly?: true
    /** Answers health checks of load balancers, which speak HTTP/1.0 without Host. */
    needsNoHost?: true
  }
}

/** `Host` without its port and a dot at its end, in lower case; IPv6 without its brackets. */
export function hostNameOf(header: string): string {
  const lower = header.toLowerCase()
  const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(lower)
  if (bracketed) return bracketed[1]!
  return lower.replace(/\.?(?::\d*)?$/, '')
}

// The names by which containers and virtual machines reach their host.
export const ALIASES = [
  'host.docker.internal',
  'gateway.docker.internal',
  'host.containers.internal',
  'host.testcontainers.internal',
  'host.minikube.internal',
  'host.lima.internal',
]

/**
 * Accepts these Host names: loopback names, IP addresses, names without a dot (of a compose file or a CI job; no public
 * DNS name is without a dot) and allowed ones. Other names can come from a page with a DNS rebinding attack.
 */
export function createHostCheck(allowed: readonly string[]): (header: string) => boolean {
  const names = new Set([...ALIASES, ...allowed.map((name) => name.toLowerCase())])
  function isAllowed(name: string): boolean {
    if (!/^[a-z0-9._:-]+$/.test(name)) return false
    return (
      isIP(name) !== 0 ||
      /^[a-z0-9_-]+$/.test(name) ||
      name.endsWith('.localhost') ||
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

// Headers with a single value; if one is repeated, Node keeps the first or makes a list.
const SINGLE = [
  ...['host', 'authorization', 'content-type', 'idempotency-key', 'last-event-id', 'origin'],
  ...['sec-fetch-site', 'x-admin-token', 'x-sandbox-scenario'],
]

/** Rejects a request with two values of such a header, as different programs would take different ones; equal ones are one. */
function rejectRepeated({ raw: { rawHeaders }, headers }: FastifyRequest) {
  for (const name of SINGLE) {
    const values = rawHeaders.filter((_, i) => i % 2 && rawHeaders[i - 1]!.toLowerCase() === name)
    if (values.length < 2) continue
    if (name === 'host' || new Set(values).size > 1)
      throw new SandboxError(
        'malformed_request',
        `The request has the header ${name} ${values.length} times. Send it once.`,
      )
    headers[name] = values[0]
  }
}

/** A Fastify `onRequest` hook: rejects a request without exactly one Host header with a possible port and an allowed name. */
export function guardHost(request: FastifyRequest, _reply: unknown, done: () => void) {
  const { raw, headers, routeOptions } = request
  // Node drops or joins what comes twice.
  if (Object.keys(headers).length * 2 !== raw.rawHeaders.length) rejectRepeated(request)
  const header = headers.host
  if (!header) {
    if (raw.httpVersion === '1.0' && routeOptions.config.needsNoHost) return done()
    throw new SandboxError('malformed_request', 'The request has no Host header. Send exactly one.')
  }
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

/** Whether a browser sent a request for a page of another site; other callers send neither of these headers. */
function isCrossSite({ headers }: FastifyRequest): boolean {
  const { 'sec-fetch-site': site, origin, host } = headers
  if (site !== undefined && site !== 'none' && site !== 'same-origin') return true
  return origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`
}

/** Rejects what a browser sent for a page of another site, to the service (unless its origin is `allowed`) or the admin API. */
export function createSiteGuard(allowed: readonly string[]) {
  return (request: FastifyRequest, _reply: unknown, done: () => void) => {
    if (!isCrossSite(request)) return done()
    const isService = isOfService(request)
    if (!isService && !request.routeOptions.config.sameSiteOnly) return done()
    if (isService && allowed.includes(request.headers.origin ?? '')) return done()
    request.isForeign = true
    throw new SandboxError(
      'cross_site_rejected',
      isService
        ? 'A page of another site sent this request. Send it from a program, or start the sandbox with --cors ORIGIN to allow that page.'
        : 'A page of another site sent this admin request. Send it from a program, or use the console.',
    )
  }
}

/** Lets browser apps of the origins `cors` read the responses of the service, including errors of unknown paths. */
export function corsOf({ cors, explain }: { cors: readonly string[]; explain: boolean }) {
  const [first, ...others] = cors
  if (first === undefined) return undefined
  const exposedHeaders = ['Idempotency-Replayed', 'Retry-After']
  if (explain) exposedHeaders.push('X-Sandbox-Client', 'X-Sandbox-Rule')
  return {
    headersFor: (origin = first) => ({
      'access-control-allow-origin': cors.includes(origin) ? origin : first,
      'access-control-expose-headers': exposedHeaders.join(', '),
      ...(others.length > 0 && { vary: 'Origin' }),
    }),
    options: {
      origin: others.length > 0 ? [...cors] : first,
      methods: ['GET', 'POST', 'PUT'],
      exposedHeaders,
    },
  }
}

/** Whether a request is an OPTIONS request that is no preflight: an unsupported method. */
export const isPlainOptions = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' && !(headers.origin && headers['access-control-request-method'])
