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
export function rewriteClientPath(request: IncomingMessage): string {
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
export function createClientResolver(sandbox: Sandbox, mode: AuthMode) {
  // Made for an admin call, and how many such calls are for it that are not answered yet; no other call has used it.
  const uncommitted = new Map<World, number>()

  /** The world of a name in a base path, or the name where the world is still to be made. */
  function named(name: string): World | string {
    const world = sandbox.worlds.get(name)
    if (!world) sandbox.checkNew(name)
    return world ?? name
  }

  /** `name`: of the base path; its first call may bring the token that the new client is about to have. */
  function byToken(authorization: string, name: string | undefined): World | string {
    const token = /^bearer +(\S+) *$/i.exec(authorization)?.[1]
    const world = token === undefined ? undefined : sandbox.byToken(token)
    if (world) return world
    if (name !== undefined && token === `sbx_${name}` && !sandbox.worlds.has(name)) {
      return named(name)
    }
    throw unauthorized(
      'The access token is unknown. Send Authorization: Bearer <token> with a token of a client, such as the one printed at start.',
    )
  }

  /** The world of a request, or the name of the one that is to be made for it. */
  function choose(request: FastifyRequest, tokenNeeded: boolean): World | string {
    const name = (request.raw as WithClient)[CLIENT]
    const { authorization } = request.headers
    if (mode === 'off' || authorization === undefined) {
      if (tokenNeeded) {
        throw unauthorized(
          'This call needs an access token. Send Authorization: Bearer <token>, such as the token printed at start.',
        )
      }
      return name === undefined ? sandbox.default : named(name)
    }
    const world = byToken(authorization, name)
    if (typeof world !== 'string' && name !== undefined && name !== world.name) {
      throw unauthorized(
        `The access token does not belong to the client of the base path /@${name}. Send the token sbx_${name}, or no token.`,
      )
    }
    return world
  }

  /** The world of a request, if it is there. */
  function find(request: FastifyRequest, tokenNeeded = false): World | undefined {
    const chosen = choose(request, tokenNeeded)
    return typeof chosen === 'string' ? undefined : chosen
  }

  /** Only a name in the base path can be of a world that is not there. */
  const make = ({ raw }: FastifyRequest): World => sandbox.byName((raw as WithClient)[CLIENT]!)

  return {
    /** A hook for a `/v1` call. */
    forService: (tokenNeeded: boolean) => {
      const needed = isTokenNeeded({ tokenNeeded }, mode)
      return (request: FastifyRequest, _reply: unknown, done: (error?: Error) => void) => {
        try {
          const world = find(request, needed) ?? make(request)
          if (world.profile().status !== 'active') {
            throw new SandboxError(
              'client_inactive',
              `The client ${world.name} is not active. Use another client's token or base path.`,
            )
          }
          uncommitted.delete(world)
          request.world = world
          request.receivedAt = world.clock.now()
          done()
        } catch (error) {
          done(error as Error)
        }
      }
    },
    /** The world that a refused call was meant for, if it is there: none is made. */
    ofRejected(request: FastifyRequest): World | undefined {
      try {
        return find(request)
      } catch {
        return undefined
      }
    },
    /** Refuses a request of no client, and makes none. */
    check: (request: FastifyRequest): void => void choose(request, false),
    /** The world an admin call is for, if it is there; a client need not be active to be administered. */
    known: find,
    /** The world that a checked admin call is for; `settle` ends the call. */
    forAdmin(request: FastifyRequest): World {
      const existing = find(request)
      const world = existing ?? make(request)
      const open = uncommitted.get(world) ?? 0
      if (!existing || open > 0) uncommitted.set(world, open + 1)
      return world
    },
    /** Ends an admin call: a client that such calls made goes where all of them failed and no other call has used it. */
    settle(world: World, failed: boolean) {
      const open = uncommitted.get(world)
      if (open === undefined) return
      if (failed && open > 1) {
        uncommitted.set(world, open - 1)
        return
      }
      uncommitted.delete(world)
      if (!failed) return
      // Where the disk takes nothing it can't be taken away either.
      try {
        sandbox.delete(world.name)
      } catch {}
    },
  }
}

export type ClientResolver = ReturnType<typeof createClientResolver>

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Whether two secrets are equal, in a time that tells nothing. */
export const sameSecret = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b))
