import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { ErrorWord } from '../model/errors.ts'
import type { Log } from '../sandbox.ts'
import type { World } from '../world.ts'
import type { ClientChoice } from './clients.ts'
import { JSON_TYPE, refusalOf, refusalText } from './errors.ts'
import { type Answer, keyOf, runOnce } from './idempotency.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it came, where an idempotency key has to tell it from another. */
    bodyText: string
  }
  interface FastifyContextConfig {
    operation?: Operation
  }
}

type Input<P, Q, B> = { params: P; query: Q; body: B }

/** One endpoint of the service: all that validation, OpenAPI and the tests know of it. */
export type Operation = {
  id: string
  method: 'GET' | 'POST' | 'PUT'
  url: string
  tag: string
  summary: string
  description?: string
  params?: z.ZodObject
  query?: z.ZodObject
  body?: z.ZodType
  status: 200 | 201
  answer: z.ZodType
  /** Error words it can answer besides those every endpoint can. */
  refusals: readonly ErrorWord[]
  /** Needs a token in the mode `spec` too. */
  tokenNeeded: boolean
  handle(world: World, input: Input<never, never, never>): string
}

type Shape<S> = S extends z.ZodType ? z.output<S> : undefined

/** Describes one endpoint; `handle` answers with the JSON text of its body. */
export function operation<
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(
  definition: Omit<Operation, 'params' | 'query' | 'body' | 'handle' | 'tokenNeeded'> & {
    params?: P
    query?: Q
    body?: B
    tokenNeeded?: boolean
    handle(world: World, input: Input<Shape<P>, Shape<Q>, Shape<B>>): string
  },
): Operation {
  return { tokenNeeded: false, ...definition } as unknown as Operation
}

const inputOf = ({ params, query, body }: FastifyRequest) =>
  ({ params, query, body }) as unknown as Input<never, never, never>

function send(reply: FastifyReply, { status, body, replayed }: Answer) {
  if (replayed) reply.header('idempotency-replayed', 'true')
  return reply.code(status).header('content-type', JSON_TYPE).send(body)
}

/** Serves an operation: its client is found, its input checked, and its answer sent or kept for its key. */
export function serve(
  app: FastifyInstance,
  op: Operation,
  { choice, log }: { choice: ClientChoice; log: Log },
) {
  function answer(request: FastifyRequest): Answer {
    // The check has run; its refusal is thrown here so that an idempotency key keeps it like any other.
    if (request.validationError) throw request.validationError
    return { status: op.status, body: op.handle(request.world, inputOf(request)) }
  }

  /** The operation and the keeping of its answer are one change; a refusal is kept by itself. */
  function answerAndKeep(request: FastifyRequest, keep: (answer: Answer) => void): Answer {
    const { world } = request
    try {
      return world.change(() => {
        const done = answer(request)
        keep(done)
        return done
      })
    } catch (error) {
      const refusal = refusalOf(error, log)
      if (refusal.status === 401 || refusal.status >= 500) throw refusal
      const done = { status: refusal.status, body: refusalText(refusal) }
      world.change(() => keep(done))
      return done
    }
  }

  app.route({
    method: op.method,
    url: op.url,
    schema: {
      ...(op.params && { params: op.params }),
      ...(op.query && { querystring: op.query }),
      ...(op.body && { body: op.body }),
    },
    config: { operation: op },
    attachValidation: true,
    onRequest: choice.forService(op.tokenNeeded),
    handler(request, reply) {
      const header = op.method === 'POST' ? request.headers['idempotency-key'] : undefined
      if (header === undefined) return send(reply, answer(request))
      const key = keyOf(String(header))
      const once = { key, route: `${op.method} ${op.url}`, body: request.bodyText }
      return runOnce(request.world, once, (keep) => answerAndKeep(request, keep)).then((done) =>
        send(reply, done),
      )
    },
  })
}

/** The refusals that any endpoint of the service may answer with. */
export const COMMON_REFUSALS: readonly ErrorWord[] = [
  'validation_failed',
  'unauthorized',
  'client_inactive',
  'not_found',
]
