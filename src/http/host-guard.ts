import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { SandboxError } from '../model/errors.ts'
import { depsOf } from './app-deps.ts'

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
  // A cache: most requests have one of a few values.
  const known = new Map<string, boolean>()

  function isAllowed(header: string): boolean {
    const name = hostNameOf(header)
    if (!/^[a-z0-9._:-]+$/.test(name)) return false
    return (
      isIP(name) !== 0 ||
      /^[a-z0-9_-]+$/.test(name) ||
      name.endsWith('.localhost') ||
      name === 'host.docker.internal' ||
      names.has(name)
    )
  }

  return (header) => {
    let ok = known.get(header)
    if (ok === undefined) {
      ok = isAllowed(header)
      if (known.size < 1_000) known.set(header, ok)
    }
    return ok
  }
}

const MAX_PORT = 65_535

function hostsSent(rawHeaders: readonly string[]): number {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count
}

/** A Fastify `onRequest` hook: rejects a request without exactly one Host header with a possible port and an allowed name. */
export function guardHost(request: FastifyRequest, _reply: unknown, done: (error?: Error) => void) {
  const hosts = hostsSent(request.raw.rawHeaders)
  if (hosts !== 1) {
    const message = `The request has ${hosts === 0 ? 'no' : hosts} Host header${hosts === 0 ? '' : 's'}. Send exactly one.`
    return done(new SandboxError('malformed_request', message))
  }
  const header = request.headers.host ?? ''
  if (depsOf(request).isHostAllowed(header)) {
    const [, port] = /:(\d{5,})$/.exec(header) ?? []
    if (!(Number(port) > MAX_PORT)) return done()
    const message = `The Host header has the port ${port!.slice(0, 20)}. Send one of at most ${MAX_PORT}.`
    return done(new SandboxError('malformed_request', message))
  }
  request.isForeign = true
  const shown = hostNameOf(header)
    .slice(0, 100)
    .replaceAll(/[^a-z0-9._:-]/g, '?')
  done(
    new SandboxError(
      'host_not_allowed',
      `The Host header ${JSON.stringify(shown)} is not allowed. Use a loopback name or an IP address, or start the sandbox with --allow-host NAME.`,
    ),
  )
}
