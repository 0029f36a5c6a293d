import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { type TokenUse, token as tokenAssumption } from '../assumptions/requests.ts'
import { ENVELOPE, type ErrorForm, errorBody } from '../assumptions/responses.ts'
import { ClientName } from '../model/client.ts'
import { SandboxError } from '../model/errors.ts'
import { quoteInput } from '../model/mask.ts'
import { DEFAULT_CLIENT } from '../world/client-rows.ts'
import type { Sandbox } from '../world/sandbox.ts'
import type { World } from '../world/world.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The world of this request, set when its client is known. */
    world: World
  }
}

const CLIENT = Symbol('client named in the base path')
type WithClient = IncomingMessage & { [CLIENT]?: string }
const nameOf = ({ raw }: FastifyRequest) => (raw as WithClient)[CLIENT]

/** Removes percent-encoding from `/v1` and `/__admin` in a path: the guards look for these words as they are. */
function withPlainRoot(path: string): string {
  if (!path.includes('%')) return path
  const [root] = /^\/[^/?]*/.exec(path)!
  const decoded = root.replaceAll(/%([3-7][0-9a-f])/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
  // Fastify decodes all other paths.
  return decoded === '/v1' || decoded === '/__admin' ? decoded + path.slice(root.length) : path
}

/** The path of a request without its base path, whose name is stored on the request. */
function pathOf(request: IncomingMessage, url: string): string {
  if (!url.startsWith('/')) {
    // A proxy gets a URL in absolute form. Of another host than the Host header it's rewritten to a path without a route.
    const [, host, path = ''] = /^http:\/\/([^/?]+)(.*)$/i.exec(url) ?? []
    return host !== undefined && host.toLowerCase() === request.headers.host?.toLowerCase()
      ? pathOf(request, path.startsWith('/') ? path : `/${path}`)
      : '/absolute-form-is-not-answered'
  }
  if (!url.startsWith('/@')) return withPlainRoot(url)
  const end = url.indexOf('/', 2)
  const name = end === -1 ? url.slice(2).split('?')[0]! : url.slice(2, end)
  ;(request as WithClient)[CLIENT] = name
  return end === -1 ? '/' : withPlainRoot(url.slice(end))
}

/** Fastify's `rewriteUrl`: removes `/@name` from the URL of a request, and stores the name on it. */
export const rewriteClientPath = (request: IncomingMessage) => pathOf(request, request.url ?? '/')

/** The base path of a request: `/@name` or empty. */
export function basePathOf(request: FastifyRequest): string {
  const name = nameOf(request)
  return name === undefined ? '' : `/@${name}`
}

const OF_THE_SERVICE = /^\/v1(?:[/?]|$)/

/** Whether a request is for the service, even if the path does not exist. */
export const isOfService = ({ url }: Pick<FastifyRequest, 'url'>) => OF_THE_SERVICE.test(url)

const unauthorized = (message: string) =>
  new SandboxError('unauthorized', message, { headers: { 'www-authenticate': 'Bearer' } })

/** The world of a name in a base path; `undefined` if it must be created first, and can be. */
function named(sandbox: Sandbox, name: string): World | undefined {
  const world = sandbox.clients.get(name)
  if (!world) sandbox.checkNew(name)
  return world
}

/** `name` is of the base path; the first call of a new client may already have its token. */
function byToken(sandbox: Sandbox, authorization: string, name: string | undefined) {
  const token = /^bearer +(\S+) *$/i.exec(authorization)?.[1]
  const world = token === undefined ? undefined : sandbox.byToken(token)
  if (world) return world
  if (name !== undefined && token === `sbx_${name}` && !sandbox.clients.has(name))
    return named(sandbox, name)
  throw unauthorized(
    `The access token is unknown. Send Authorization: Bearer <token> with ${tokenOf(sandbox, name)}.`,
  )
}

/** Names the token of a client. No error shows a token that somebody chose, as it can be a secret; `sbx_NAME` isn't one. */
function tokenOf(sandbox: Sandbox, name = DEFAULT_CLIENT): string {
  if (name === DEFAULT_CLIENT) return 'the token printed at start'
  const client = sandbox.clients.get(name)
  if (
    client
      ? client.payouts.profile().access_token === `sbx_${name}`
      : ClientName.safeParse(name).success
  )
    return `the token sbx_${name}`
  return `the access_token of the client ${quoteInput(name)} (in clients.json of the fixtures, or in the response of POST /__admin/clients)`
}

/** Finds the client of a request: by its token, else by its base path, else the default client. */
export function createClientResolver(sandbox: Sandbox) {
  // Worlds that admin calls created and no other call has used yet, with the number of their open admin calls.
  const uncommitted = new Map<World, number>()

  function tokenUse(name: string | undefined): TokenUse {
    const world = name === undefined ? sandbox.default : sandbox.clients.get(name)
    return (world?.scenarios.assumptions ?? sandbox.startAssumed).get(tokenAssumption)
  }

  /** The world of a request; `undefined` if it must be created for it. Throws if the request has no valid client. */
  function find(request: FastifyRequest, isRequired: (use: TokenUse) => boolean = () => false) {
    const name = nameOf(request)
    const { authorization } = request.headers
    const use = tokenUse(name)
    if (!use.isRead || authorization === undefined) {
      if (isRequired(use))
        throw unauthorized(
          `This call needs an access token. Send Authorization: Bearer <token> with ${tokenOf(sandbox, name)}.`,
        )
      return name === undefined ? sandbox.default : named(sandbox, name)
    }
    const world = byToken(sandbox, authorization, name)
    if (world && name !== undefined && name !== world.name)
      throw unauthorized(
        `The access token belongs to the client ${world.name}, not to that of the base path. Send ${tokenOf(sandbox, name)}, or leave out the base path.`,
      )
    return world
  }

  /** The world of a rejected request, if it exists; creates none. */
  function ofRejected(request: FastifyRequest): World | undefined {
    try {
      return find(request)
    } catch {
      return undefined
    }
  }

  /** Creates the world of the base path: only there can a name be new. */
  const make = (request: FastifyRequest): World => sandbox.byName(nameOf(request)!)

  return {
    find,
    /** Finds the client of a `/v1` request, which must be active, and sets its world. */
    enterService(request: FastifyRequest, isRequired: (use: TokenUse) => boolean): void {
      const world = find(request, isRequired) ?? make(request)
      if (world.payouts.profile().status !== 'active')
        throw new SandboxError(
          'client_inactive',
          `The client ${world.name} is not active. Use another client's token or base path.`,
        )
      uncommitted.delete(world)
      request.world = world
      request.receivedAt = world.clock.now()
      world.requests.access.enter(
        () => request.headers.authorization !== undefined && tokenUse(nameOf(request)).isRead,
      )
    },
    tokenUse: (request: FastifyRequest) => tokenUse(nameOf(request)),
    tokenOf(request: FastifyRequest): string | undefined {
      const name = nameOf(request)
      return name && tokenOf(sandbox, name)
    },
    ofRejected,
    /** Whose log has a rejected request: its client's, else that of the base path, else the default one's. */
    whoseLog: (request: FastifyRequest): World =>
      ofRejected(request) ?? sandbox.clients.get(nameOf(request) ?? '') ?? sandbox.default,
    /** The form of the errors of a request; without a known client that of the default one. */
    errorForm(request: FastifyRequest): ErrorForm {
      if (!isOfService(request)) return ENVELOPE
      const world = request.world ?? ofRejected(request) ?? sandbox.default
      return world.scenarios.assumptions.get(errorBody)
    },
    /** The world of a validated admin call, created if it is new; `settle` must end the call. */
    forAdmin(request: FastifyRequest): World {
      const existing = find(request)
      const world = existing ?? make(request)
      const open = uncommitted.get(world) ?? 0
      if (!existing || open > 0) uncommitted.set(world, open + 1)
      return world
    },
    /** Ends an admin call: deletes a client that only failed admin calls have used. */
    settle(world: World, failed: boolean) {
      const open = uncommitted.get(world)
      if (open === undefined) return
      if (failed && open > 1) {
        uncommitted.set(world, open - 1)
        return
      }
      uncommitted.delete(world)
      if (!failed) return
      // If the disk fails, it cannot be deleted either.
      try {
        sandbox.delete(world.name)
      } catch {}
    },
  }
}

export type ClientResolver = ReturnType<typeof createClientResolver>
