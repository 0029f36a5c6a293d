import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { SandboxError } from '../model/errors.ts'
import type { Sandbox } from '../sandbox.ts'
import type { World } from '../world.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The world this request is for, once its client is known. */
    world: World
  }
}

export type AuthMode = 'spec' | 'strict' | 'off'

const CLIENT = Symbol('client named in the base path')
type WithClient = IncomingMessage & { [CLIENT]?: string }

/** Fastify's `rewriteUrl`: takes `/@name` off the path and keeps the name. */
export function takeClientFromPath(request: IncomingMessage): string {
  const url = request.url ?? '/'
  if (!url.startsWith('/@')) {
    // An absolute form could name another host than the Host header does; no route has such a path.
    return url.startsWith('/') ? url : '/absolute-form-is-not-answered'
  }
  const end = url.indexOf('/', 2)
  const name = end === -1 ? url.slice(2).split('?')[0]! : url.slice(2, end)
  ;(request as WithClient)[CLIENT] = name
  return end === -1 ? '/' : url.slice(end)
}

/** The base path of a request: `/@name`, or nothing. */
export function basePathOf({ raw }: FastifyRequest): string {
  const name = (raw as WithClient)[CLIENT]
  return name === undefined ? '' : `/@${name}`
}

/** Whether a call is refused without a token. */
export const isTokenNeeded = ({ tokenNeeded }: { tokenNeeded: boolean }, mode: AuthMode) =>
  mode === 'strict' || (mode === 'spec' && tokenNeeded)

const unauthorized = (message: string) =>
  new SandboxError('unauthorized', message, { headers: { 'www-authenticate': 'Bearer' } })

/** Finds the client of a request: by its token, else by its base path, else the default one. */
export function createClientChoice(sandbox: Sandbox, mode: AuthMode) {
  /** `name`: of the base path; its first call may bring the token that the new client is about to have. */
  function byToken(authorization: string, name: string | undefined): World {
    const token = /^bearer +(\S+) *$/i.exec(authorization)?.[1]
    const world = token === undefined ? undefined : sandbox.byToken(token)
    if (world) return world
    if (name !== undefined && token === `sbx_${name}` && !sandbox.worlds.has(name)) {
      return sandbox.byName(name)
    }
    throw unauthorized(
      'The access token is unknown. Send Authorization: Bearer <token> with a token of a client, such as the one printed at start.',
    )
  }

  function find(request: FastifyRequest, tokenNeeded: boolean): World {
    const name = (request.raw as WithClient)[CLIENT]
    const { authorization } = request.headers
    if (mode === 'off' || authorization === undefined) {
      if (tokenNeeded) {
        throw unauthorized(
          'This call needs an access token. Send Authorization: Bearer <token>, such as the token printed at start.',
        )
      }
      return name === undefined ? sandbox.default : sandbox.byName(name)
    }
    const world = byToken(authorization, name)
    if (name !== undefined && name !== world.name) {
      throw unauthorized(
        `The access token belongs to another client than the base path /@${name}. Use the token sbx_${name}, or none.`,
      )
    }
    return world
  }

  return {
    /** A hook for a `/v1` call. */
    forService: (tokenNeeded: boolean) => {
      const needed = isTokenNeeded({ tokenNeeded }, mode)
      return (request: FastifyRequest, _reply: unknown, done: (error?: Error) => void) => {
        try {
          const world = find(request, needed)
          if (world.profile().status !== 'active') {
            throw new SandboxError(
              'client_inactive',
              `The client ${world.name} is not active. Use another client's token or base path.`,
            )
          }
          request.world = world
          request.cameAt = world.clock.now()
          done()
        } catch (error) {
          done(error as Error)
        }
      }
    },
    /** The world that a refused call was meant for, if it is there: none is made. */
    ofRefused(request: FastifyRequest): World | undefined {
      const name = (request.raw as WithClient)[CLIENT]
      if (name !== undefined && !sandbox.worlds.has(name)) return undefined
      try {
        return find(request, false)
      } catch {
        return undefined
      }
    },
    /** The world an admin call is for; a client need not be active to be administered. */
    forAdmin: (request: FastifyRequest): World => find(request, false),
  }
}

export type ClientChoice = ReturnType<typeof createClientChoice>

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Whether two secrets are equal, in a time that tells nothing. */
export const sameSecret = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b))
