import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import * as z from 'zod'
import { SandboxError } from '../model/errors.ts'
import type { Sandbox } from '../world/sandbox.ts'
import type { AdminCall } from './admin-call.ts'
import { refuseUnknownQuery } from './admin-query.ts'
import { type ClientResolver, sameSecret } from './clients.ts'
import type { Gate } from './concurrency-limit.ts'
import { type Input, routeOf } from './endpoint.ts'
import { JSON_TYPE } from './errors.ts'
import { hangUpSignal } from './hang-up.ts'
import { acceptLargeJson } from './json-body.ts'
import { JsonPieces, sendPieces } from './large-response.ts'

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

function checkAdminToken({ headers }: FastifyRequest, adminToken: string | undefined) {
  if (adminToken === undefined) return
  const sent = headers['x-admin-token']
  if (typeof sent === 'string' && sameSecret(sent, adminToken)) return
  throw new SandboxError(
    'admin_token_required',
    'The admin API needs its token. Send it in the header X-Admin-Token. It is the value of --admin-token, or the token that is printed at start.',
  )
}

/** The guards of a call, before its body is read: admin token, client, query. */
function guardOf(call: AdminCall, { choice, adminToken }: AdminDeps) {
  return (request: FastifyRequest, _reply: unknown, done: (error?: Error) => void) => {
    try {
      if (!call.open) {
        if (!call.raw) checkAdminToken(request, adminToken)
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
  }
}

async function respond(
  call: AdminCall,
  { sandbox, largeAnswers }: AdminDeps,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const { world, params, query, body, headers } = request
  const context = { headers, hangUpSignal: () => hangUpSignal(request, reply) }
  const input = { params, query, body, ...context } as Input & typeof context
  const result = await call.handle(world, input, sandbox)
  if (result instanceof JsonPieces) return sendPieces(reply, result, largeAnswers)
  return reply.code(call.status).header('content-type', JSON_TYPE).send(JSON.stringify(result))
}

/** Adds the route of one admin call. */
export function serveAdmin(app: FastifyInstance, call: AdminCall, deps: AdminDeps) {
  const { choice, explain, largeBodies } = deps
  const { method, open, raw, large, unrecorded, stream } = call
  const route: RouteOptions = {
    ...routeOf(call, call.body ?? (method === 'POST' && !raw ? EmptyBody : undefined)),
    config: { endpoint: call, sameSiteOnly: true, isStream: stream !== undefined },
    ...(stream && { exposeHeadRoute: false }),
    onRequest: guardOf(call, deps),
    async handler(request, reply) {
      // Everything is validated now: a rejected call creates no client.
      if (!open && !unrecorded) request.world = choice.forAdmin(request)
      // A stream bypasses the hooks of Fastify.
      if (stream && explain) reply.raw.setHeader('x-sandbox-client', request.world.name)
      let failed = true
      try {
        const answered = stream
          ? stream(request.world, request, reply)
          : await respond(call, deps, request, reply)
        failed = reply.statusCode >= 400
        return answered
      } finally {
        request.releaseGate?.()
        choice.settle(request.world, failed)
      }
    },
  }
  if (raw || large)
    app.register(async (scope) => {
      if (raw) acceptRawBody(scope)
      else acceptLargeJson(scope, largeBodies)
      scope.route(route)
    })
  else app.route(route)
}
