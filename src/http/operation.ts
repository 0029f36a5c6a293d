import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type * as z from 'zod'
import type { ErrorWord } from '../model/errors.ts'
import { maskLogText } from '../model/mask.ts'
import type { Log } from '../sandbox.ts'
import type { World } from '../world.ts'
import {
  type Decided,
  decideCall,
  delayOf,
  respondHeaders,
  respondText,
  sendBroken,
} from './answer.ts'
import type { ClientChoice } from './clients.ts'
import { JSON_TYPE, refusalOf, refusalText } from './errors.ts'
import { hangUpSignal } from './hang-up.ts'
import { type Answer, type Keep, keyOf, runOnce } from './idempotency.ts'
import { noteAnswer } from './note.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it came. */
    bodyText: string
    /** The body as it was sent, before anything was left out of it or filled in. */
    sent: unknown
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
  /** All its refusals that need no change: they come before a scenario is asked. What it found is for `handle`. */
  check?(world: World, input: Input<never, never, never>): unknown
  handle(
    world: World,
    input: Input<never, never, never>,
    life: Decided['life'],
    checked: unknown,
  ): string
}

type Shape<S> = S extends z.ZodType ? z.output<S> : undefined

/** Describes one endpoint; `handle` answers with the JSON text of its body. */
export function operation<
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
  C = undefined,
>(
  definition: Omit<Operation, 'params' | 'query' | 'body' | 'check' | 'handle' | 'tokenNeeded'> & {
    params?: P
    query?: Q
    body?: B
    tokenNeeded?: boolean
    check?(world: World, input: Input<Shape<P>, Shape<Q>, Shape<B>>): C
    handle(
      world: World,
      input: Input<Shape<P>, Shape<Q>, Shape<B>>,
      life: Decided['life'],
      checked: C,
    ): string
  },
): Operation {
  return { tokenNeeded: false, ...definition } as unknown as Operation
}

const inputOf = ({ params, query, body }: FastifyRequest) =>
  ({ params, query, body }) as unknown as Input<never, never, never>

function send(op: Operation, reply: FastifyReply, answer: Answer) {
  const { status, body, replayed, headers, fault } = answer
  noteAnswer(reply.request, op, answer)
  if (headers) reply.headers(headers)
  if (replayed) reply.header('idempotency-replayed', 'true')
  if (!reply.hasHeader('content-type')) reply.header('content-type', JSON_TYPE)
  if (fault) return sendBroken(reply, fault, status, body)
  return reply.code(status).send(body)
}

/** Serves an operation: its client is found, its input checked, and its answer sent or kept for its key. */
export function serve(
  app: FastifyInstance,
  op: Operation,
  { choice, log, explain }: { choice: ClientChoice; log: Log; explain: boolean },
) {
  /** Refuses what is wrong, then asks the scenarios; throws the refusal. */
  function decided(request: FastifyRequest): Decided {
    // The check has run; its refusal is thrown here so that an idempotency key keeps it like any other.
    if (request.validationError) throw request.validationError
    const checked = op.check?.(request.world, inputOf(request))
    const outcome = decideCall(op, request)
    request.rule = outcome.rule
    outcome.checked = checked
    return outcome
  }

  const carryOut = (request: FastifyRequest, { life, checked }: Decided): Answer => ({
    status: op.status,
    body: op.handle(request.world, inputOf(request), life, checked),
  })

  /** The operation and the keeping of its answer are one change; a refusal is kept by itself. */
  function carryOutAndKeep(request: FastifyRequest, outcome: Decided, keep: Keep): Answer {
    return request.world.change(() => {
      const done = carryOut(request, outcome)
      keep(done)
      return done
    })
  }

  function keptRefusal(request: FastifyRequest, error: unknown, keep: Keep): Answer {
    const refusal = refusalOf(error, log)
    // One that hung up before the operation may come again for it.
    if (refusal.word === 'caller_gone' || refusal.status === 401 || refusal.status >= 500)
      throw refusal
    const done = { status: refusal.status, body: refusalText(refusal) }
    request.world.change(() => keep(done))
    return done
  }

  /** The scenario's own answer, or the operation's where it is carried out. */
  function chosen(request: FastifyRequest, outcome: Decided, keep?: Keep): Answer {
    const { respond, fault, at } = outcome
    // What is answered in the operation's place is not kept for a key: the next try may meet the operation.
    if (respond)
      return {
        status: respond.status,
        body: respondText(respond),
        headers: respondHeaders(respond),
      }
    if (fault && at !== 'after') return { status: op.status, body: '{}' }
    return keep ? carryOutAndKeep(request, outcome, keep) : carryOut(request, outcome)
  }

  /** An answer that a scenario wants otherwise: another one, or broken. */
  function stagedNow(request: FastifyRequest, outcome: Decided, keep?: Keep): Answer {
    const { fault } = outcome
    const answer = chosen(request, outcome, keep)
    return fault ? { ...answer, fault } : answer
  }

  /** The same, later where a scenario wants it so. */
  async function staged(
    request: FastifyRequest,
    reply: FastifyReply,
    outcome: Decided,
    keep?: Keep,
  ): Promise<Answer> {
    const { delay } = outcome
    if (!delay) return stagedNow(request, outcome, keep)
    const { world } = request
    const ms = delayOf(world, delay)
    // No time to wait for, so no frozen clock either.
    if (ms === 0) return stagedNow(request, outcome, keep)
    const later = () => {
      // What was found then may be otherwise now.
      const checked = op.check?.(world, inputOf(request))
      return stagedNow(request, { ...outcome, checked }, keep)
    }
    const call = `${request.method} ${maskLogText(request.url.split('?')[0]!)}`
    return world.after(ms, call, later, hangUpSignal(request, reply))
  }

  const isPlain = ({ respond, delay, fault }: Decided) => !respond && !delay && !fault

  function explainRule(reply: FastifyReply, { rule }: Decided) {
    if (explain && rule) reply.header('x-sandbox-rule', rule.replaceAll(/[^\x20-\x7e]/g, '?'))
  }

  function once(request: FastifyRequest, reply: FastifyReply, header: string) {
    const key = keyOf(header)
    const route = `${op.method} ${op.url}`
    return runOnce(request.world, { key, route, body: request.bodyText }, async (keep) => {
      try {
        const outcome = decided(request)
        explainRule(reply, outcome)
        return isPlain(outcome)
          ? carryOutAndKeep(request, outcome, keep)
          : await staged(request, reply, outcome, keep)
      } catch (error) {
        return keptRefusal(request, error, keep)
      }
    }).then((done) => send(op, reply, done))
  }

  /** Answers when what the call did is written: with all else that this turn of the event loop brings. */
  function undelayed(request: FastifyRequest, reply: FastifyReply) {
    const { world } = request
    let outcome!: Decided
    const done = world.together(() => {
      outcome = decided(request)
      return isPlain(outcome) ? carryOut(request, outcome) : undefined
    })
    explainRule(reply, outcome)
    if (!done) return staged(request, reply, outcome).then((later) => send(op, reply, later))
    world.whenWritten((error) => {
      if (error) reply.send(error)
      else send(op, reply, done)
    })
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
      if (header !== undefined) return once(request, reply, String(header))
      return undelayed(request, reply)
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
