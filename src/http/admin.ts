import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import * as z from 'zod'
import { type AdminCallId, adminRoute } from '../model/admin-routes.ts'
import { type ErrorCode, SandboxError } from '../model/errors.ts'
import type { Sandbox } from '../world/sandbox.ts'
import type { World } from '../world/world.ts'
import { refuseUnknownQuery } from './admin-query.ts'
import { type ClientResolver, sameSecret } from './clients.ts'
import type { Gate } from './concurrency-limit.ts'
import { JSON_TYPE } from './errors.ts'
import { hangUpSignal } from './hang-up.ts'
import { acceptLargeJson, BODY_ERRORS } from './json-body.ts'
import { JsonPieces, sendPieces } from './large-response.ts'

type Shape<S> = S extends z.ZodType ? z.output<S> : undefined

/** One call of the admin API. */
export type AdminCall = {
  id: AdminCallId
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  url: string
  summary: string
  params?: z.ZodObject
  query?: z.ZodObject
  body?: z.ZodType
  /** Accepts any bytes as its body and needs no admin token: senders of webhooks have none. */
  raw?: boolean
  /** Needs no token and has no client: anyone who can reach the port can call it. */
  open?: boolean
  /** Default: 200. */
  status?: 201
  /** Accepts a body of any size: it is not validated, and a large one is a `LargeJson`. */
  large?: true
  response: z.ZodType
  /** Error codes of this call besides those of every admin call. */
  errors?: readonly ErrorCode[]
  handle(world: World, input: Input<never, never, never>, sandbox: Sandbox): unknown
  /** Sends the response itself, instead of `handle`. */
  stream?(world: World, request: FastifyRequest, reply: FastifyReply): void
  /** Not part of a recording, so it must change nothing: a new name in its base path creates no client. */
  unrecorded?: true
}

type Input<P, Q, B> = {
  params: P
  query: Q
  body: B
  headers: FastifyRequest['headers']
  /** A signal that aborts when the caller disconnects: for calls that can take long. */
  hangUpSignal: () => AbortSignal
}

type RequestInput<S> = S extends z.ZodType ? z.input<S> : undefined

/** The types of one call, for the library's client; `types` is never there at run time. */
type Typed<Id, P, Q, B, A> = {
  id: Id
  types?: {
    params: RequestInput<P>
    query: Q extends z.ZodType ? Partial<z.output<Q>> : undefined
    body: RequestInput<B>
    response: A extends z.ZodType ? z.output<A> : undefined
  }
}

/**
 * A schema that checks only the outline, with the type of the full schema: the reader of scenarios does the full check.
 * It is loaded on demand and has better messages.
 */
export const outlineOf = <S extends z.ZodType>(outline: z.ZodType): S => outline as unknown as S

/** Defines one admin call; `ADMIN_ROUTES` has its method and path. `handle` returns the body of the response, or a promise of it. */
export function adminCall<
  const Id extends AdminCallId,
  A extends z.ZodType,
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(
  definition: Omit<
    AdminCall,
    'id' | 'method' | 'url' | 'params' | 'query' | 'body' | 'handle' | 'response'
  > & {
    id: Id
    params?: P
    query?: Q
    body?: B
    response: A
    handle(
      world: World,
      input: Input<Shape<P>, Shape<Q>, Shape<B>>,
      sandbox: Sandbox,
    ): z.input<A> | JsonPieces | Promise<z.input<A> | JsonPieces>
  },
): AdminCall & Typed<Id, P, Q, B, A> {
  return { ...adminRoute(definition.id), ...definition } as unknown as AdminCall &
    Typed<Id, P, Q, B, A>
}

/** The error codes of a call of the admin API. */
export function errorsOf({ method, open, raw, large, errors = [] }: AdminCall): ErrorCode[] {
  const codes: ErrorCode[] = ['host_not_allowed', 'cross_site_rejected', ...errors]
  if (!raw) codes.push('validation_failed')
  if (!open) codes.push('unauthorized', 'not_found', 'client_limit_reached', 'storage_unavailable')
  if (!open && !raw) codes.push('admin_token_required')
  if (raw) codes.push('payload_too_large')
  else if (method !== 'GET') codes.push(...BODY_ERRORS)
  if (large) codes.push('server_busy')
  return [...new Set(codes)]
}

/** The body of a POST without fields: an unknown field is an error and not silently ignored. */
const EmptyBody = z.strictObject({}).default({})

export type AdminDeps = {
  sandbox: Sandbox
  /** Limits concurrent large bodies of all calls together to one. */
  largeBodies: Gate
  /** Limits concurrent large responses of all calls together, and the time that their readers may take. */
  largeAnswers: { gate: Gate; patienceMs?: number | undefined }
  choice: ClientResolver
  adminToken: string | undefined
  explain: boolean
}

/** Passes the body on as raw bytes. */
const acceptRawBody = (app: FastifyInstance) => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  // Fastify would reject a Content-Type without a media type: treat it as missing.
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.mediaType === undefined) delete request.headers['content-type']
    done()
  })
}

/** Serves one admin call behind its guards: admin token, client. */
export function serveAdmin(app: FastifyInstance, call: AdminCall, deps: AdminDeps) {
  const { sandbox, choice, adminToken, explain, largeBodies, largeAnswers } = deps
  function checkAdminToken(request: FastifyRequest) {
    if (adminToken === undefined) return
    const sent = request.headers['x-admin-token']
    if (typeof sent === 'string' && sameSecret(sent, adminToken)) return
    throw new SandboxError(
      'admin_token_required',
      'The admin API needs its token. Send it in the header X-Admin-Token. It is the value of --admin-token, or the token that is printed at start.',
    )
  }
  async function handleCall(request: FastifyRequest, reply: FastifyReply) {
    const { world, params, query, body: given, headers } = request
    const input = {
      params,
      query,
      body: given,
      headers,
      hangUpSignal: () => hangUpSignal(request, reply),
    } as Input<never, never, never>
    const result = (await call.handle(world, input, sandbox)) as
      | { httpStatus?: number }
      | JsonPieces
      | undefined
    if (result instanceof JsonPieces) return sendPieces(reply, result, largeAnswers)
    const { httpStatus = call.status ?? 200, ...body } = result ?? {}
    return reply.code(httpStatus).header('content-type', JSON_TYPE).send(JSON.stringify(body))
  }
  const body = call.body ?? (call.method === 'POST' && !call.raw ? EmptyBody : undefined)
  const route: RouteOptions = {
    method: call.method,
    url: call.url,
    schema: {
      ...(call.params && { params: call.params }),
      ...(call.query && { querystring: call.query }),
      ...(body && !call.large && { body }),
    },
    config: { admin: call, sameSiteOnly: true },
    ...(call.stream && { exposeHeadRoute: false }),
    onRequest(request, _reply, done) {
      try {
        if (!call.open) {
          if (!call.raw) checkAdminToken(request)
          if (call.unrecorded) choice.check(request)
          else {
            const known = choice.known(request)
            if (known) request.world = known
          }
        }
        // The URL of a webhook may have a query.
        if (!call.raw) refuseUnknownQuery(request, call.query)
        done()
      } catch (error) {
        done(error as Error)
      }
    },
    async handler(request, reply) {
      // Everything is validated now: a rejected call creates no client.
      if (!call.open && !call.unrecorded) request.world = choice.forAdmin(request)
      // A stream bypasses the hooks of Fastify.
      if (call.stream && explain) reply.raw.setHeader('x-sandbox-client', request.world.name)
      let failed = true
      try {
        const answered = call.stream
          ? call.stream(request.world, request, reply)
          : await handleCall(request, reply)
        failed = reply.statusCode >= 400
        return answered
      } finally {
        request.releaseGate?.()
        choice.settle(request.world, failed)
      }
    },
  }
  if (call.raw || call.large)
    app.register(async (scope) => {
      if (call.raw) acceptRawBody(scope)
      else acceptLargeJson(scope, largeBodies)
      scope.route(route)
    })
  else app.route(route)
}

declare module 'fastify' {
  interface FastifyContextConfig {
    admin?: AdminCall
  }
}
