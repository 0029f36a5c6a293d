import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import * as z from 'zod'
import { callerGone, SandboxError } from '../model/errors.ts'
import { roundedIn } from '../model/exact-json.ts'
import { excerptOf, quoteInput } from '../model/mask.ts'
import { validationFailed } from '../model/validation-errors.ts'
import { allOf, didYouMean } from '../model/words.ts'
import type { Later } from '../runtime/real-time.ts'
import { MAX_PATTERNS, patternCount } from '../scenarios/operators.ts'
import { sameText } from '../webhooks/signatures.ts'
import type { AdminCall } from './admin-call.ts'
import { depsOf } from './app-deps.ts'
import { hangUpSignal } from './connection.ts'
import type { Input } from './endpoint.ts'
import { JSON_TYPE } from './errors.ts'
import { STATE_LIMIT } from './json-body.ts'

function notKnown(name: string, known: readonly string[]): string {
  if (known.length === 0) return 'is unknown; this call takes no query parameters'
  const near = didYouMean(name, known)
  return `is unknown${near ? `${near} This` : '; this'} call takes ${allOf(known)}`
}

/** Throws if a call does not know a query parameter: a misspelled filter must not be ignored silently. */
export function refuseUnknownQuery(request: FastifyRequest, query: z.ZodObject | undefined): void {
  const known = Object.keys(query?.shape ?? {})
  const unknown = Object.keys(request.query as object).filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  const errors = unknown.map((name) => ({
    field: quoteInput(name),
    code: 'unrecognized_keys',
    message: notKnown(name, known),
  }))
  throw validationFailed(errors, { subject: `The query parameter ${errors[0]!.field}` })
}

/** The body of a POST without fields: an unknown field is an error and not silently ignored. */
const EmptyBody = z.strictObject({}).default({})

/** Throws if a number of a body is not what was sent, or if it has too many patterns, before they are compiled. */
async function checkBody({ body, bodyText = '' }: FastifyRequest) {
  const number = roundedIn(bodyText)
  if (number !== undefined) {
    const message = `has the number ${excerptOf(number, 40)}, which JSON rounds: put its digits in quotes`
    throw validationFailed([{ field: 'body', code: 'too_big', message }], { subject: 'The body' })
  }
  const count = patternCount(body)
  if (count <= MAX_PATTERNS) return
  const message = `has ${count} patterns (\`matches\`), and the maximum is ${MAX_PATTERNS}; use starts_with, ends_with, contains or in, or send several`
  throw validationFailed([{ field: 'body', code: 'too_big', message }], { subject: 'The body' })
}

const acceptRawBody = (app: FastifyInstance) => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  // Fastify would reject a Content-Type without a media type: treat it as missing.
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.mediaType === undefined) delete request.headers['content-type']
    done()
  })
}

export function checkAdminToken(request: FastifyRequest) {
  const { adminToken } = depsOf(request)
  if (adminToken === undefined) return
  const sent = request.headers['x-admin-token']
  if (typeof sent === 'string' && sameText(sent, adminToken)) return
  throw new SandboxError(
    'admin_token_required',
    'The admin API needs its token. Send it in the header X-Admin-Token. It is the value of --admin-token, or the token that is printed at start.',
  )
}

/** The guards of a call, before its body is read: admin token, client, query. */
function guardOf(call: AdminCall) {
  return (request: FastifyRequest, _reply: unknown, done: () => void) => {
    if (!call.open) {
      if (!call.raw) checkAdminToken(request)
      const world = depsOf(request).choice.find(request)
      if (world) request.world = world
    }
    // The URL of a webhook may have a query.
    if (!call.raw) refuseUnknownQuery(request, call.query)
    done()
  }
}

const NO_INBOX =
  'There is no client of this name, so it has no inbox. Create it with POST /__admin/clients or by a call of its /v1.'

const MAX_EXPORTS = 2
// A larger response that nobody reads stays in memory.
const PIECE = 64 * 1024
// How long a caller may take to read a piece, real ms.
const UNREAD_MS = 30_000

/** Takes one of the two places for exports until the response has ended; throws if the caller has left meanwhile. */
async function startExport(request: FastifyRequest, { raw: response }: FastifyReply) {
  const { exporting } = depsOf(request)
  if (exporting.size === MAX_EXPORTS)
    throw new SandboxError(
      'too_many_exports',
      `${MAX_EXPORTS} exports are running, the maximum. Send it again when one has ended.`,
      { headers: { 'retry-after': '1' } },
    )
  exporting.add(response)
  for (const end of ['finish', 'close']) response.once(end, () => exporting.delete(response))
  await new Promise(setImmediate)
  if (request.raw.destroyed) throw callerGone()
}

/** Yields a large response in pieces, and disconnects a client that stops reading for a while. */
function* piecesOf(bytes: Buffer, { raw }: FastifyReply, later: Later) {
  let cancel = () => {}
  for (const end of ['finish', 'close']) raw.once(end, () => cancel())
  for (let at = 0; at < bytes.length; at += PIECE) {
    cancel()
    cancel = later(UNREAD_MS, () => raw.destroy())
    yield bytes.subarray(at, at + PIECE)
  }
}

async function respond(call: AdminCall, request: FastifyRequest, reply: FastifyReply) {
  if (call.isExport) await startExport(request, reply)
  const { sandbox } = depsOf(request)
  const { world, params, query, body, headers } = request
  const context = { headers, hangUpSignal: () => hangUpSignal(reply) }
  const input = { params, query, body, ...context } as Input & typeof context
  const result = await call.handle(world, input, sandbox)
  const text = typeof result === 'string' ? result : JSON.stringify(result)
  reply.code(call.status).header('content-type', JSON_TYPE)
  if (text.length <= PIECE) return reply.send(text)
  const bytes = Buffer.from(text)
  const pieces = piecesOf(bytes, reply, sandbox.runtime.later)
  return reply.header('content-length', bytes.length).send(Readable.from(pieces))
}

export function serveAdmin(
  app: FastifyInstance,
  call: AdminCall,
  { explain }: { explain: boolean },
) {
  const { method, url, params, query, open, raw, large, readsBody, stream } = call
  const body = call.body ?? (method === 'POST' && !raw ? EmptyBody : undefined)
  const route: RouteOptions = {
    method,
    url,
    schema: {
      ...(params && { params }),
      ...(query && { querystring: query }),
      ...(body && !readsBody && { body }),
    },
    config: { endpoint: call, sameSiteOnly: true, ...(open && { needsNoHost: true }) },
    ...(stream && { exposeHeadRoute: false }),
    ...(large && { bodyLimit: STATE_LIMIT }),
    onRequest: guardOf(call),
    ...(body && !readsBody && { preValidation: checkBody }),
    async handler(request, reply) {
      const { choice } = depsOf(request)
      // Senders of webhooks have no token, so they create nothing.
      if (raw && !request.world) throw new SandboxError('not_found', NO_INBOX)
      // Everything is validated now: a rejected call creates no client.
      if (!open) request.world = choice.forAdmin(request)
      // A stream bypasses the hooks of Fastify.
      if (stream && explain) reply.raw.setHeader('x-sandbox-client', request.world.name)
      let failed = true
      try {
        const answered = stream
          ? stream(request.world, request, reply)
          : await respond(call, request, reply)
        failed = reply.statusCode >= 400
        return answered
      } finally {
        choice.settle(request.world, failed)
      }
    },
  }
  if (raw)
    app.register(async (scope) => {
      acceptRawBody(scope)
      scope.route(route)
    })
  else app.route(route)
}
