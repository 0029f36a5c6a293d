import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type * as z from 'zod'
import type { ErrorCode } from '../model/errors.ts'
import { maskLogText } from '../model/mask.ts'
import type { Log } from '../world/sandbox.ts'
import type { World } from '../world/world.ts'
import type { ClientResolver } from './clients.ts'
import { errorBody, JSON_TYPE, sandboxErrorOf } from './errors.ts'
import { hangUpSignal } from './hang-up.ts'
import { keyOf, runOnce, type StoredResponse, type StoreResponse } from './idempotency.ts'
import { logResponse } from './log-request.ts'
import {
  type CallDecision,
  decideCall,
  delayOf,
  respondHeaders,
  respondText,
  sendBroken,
} from './scenario-response.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The received body as text. */
    bodyText: string
    /** The parsed body, before validation removes fields or adds defaults. */
    sentBody: unknown
  }
  interface FastifyContextConfig {
    operation?: Operation
  }
}

type Input<P, Q, B> = { params: P; query: Q; body: B }

/** The definition of one endpoint of the service, for validation, OpenAPI and the tests. */
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
  response: z.ZodType
  /** Error codes of this endpoint besides those of every endpoint. */
  errors: readonly ErrorCode[]
  /** Whether a token is also required in the mode `spec`. */
  tokenNeeded: boolean
  /** Throws all errors that need no change, before a scenario decides. The result is passed to `handle`. */
  check?(world: World, input: Input<never, never, never>): unknown
  handle(
    world: World,
    input: Input<never, never, never>,
    life: CallDecision['life'],
    checked: unknown,
  ): string
}

type Shape<S> = S extends z.ZodType ? z.output<S> : undefined

/** Defines one endpoint; `handle` returns the JSON text of the response body. */
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
      life: CallDecision['life'],
      checked: C,
    ): string
  },
): Operation {
  return { tokenNeeded: false, ...definition } as unknown as Operation
}

const inputOf = ({ params, query, body }: FastifyRequest) =>
  ({ params, query, body }) as unknown as Input<never, never, never>

function send(op: Operation, reply: FastifyReply, response: StoredResponse) {
  const { status, body, replayed, headers, fault } = response
  logResponse(reply.request, op, response)
  if (headers) reply.headers(headers)
  if (replayed) reply.header('idempotency-replayed', 'true')
  if (!reply.hasHeader('content-type')) reply.header('content-type', JSON_TYPE)
  if (fault) return sendBroken(reply, fault, status, body)
  return reply.code(status).send(body)
}

/** Adds the route of an operation: finds the client, validates the input, sends the response or stores it for its key. */
export function serve(
  app: FastifyInstance,
  op: Operation,
  { choice, log, explain }: { choice: ClientResolver; log: Log; explain: boolean },
) {
  /** Throws the errors of the request, then lets the scenarios decide. */
  function decide(request: FastifyRequest): CallDecision {
    // The validation error is thrown here, so that it is stored for an idempotency key like any other error.
    if (request.validationError) throw request.validationError
    const checked = op.check?.(request.world, inputOf(request))
    const outcome = decideCall(op, request)
    request.rule = outcome.rule
    outcome.checked = checked
    return outcome
  }

  const execute = (request: FastifyRequest, { life, checked }: CallDecision): StoredResponse => ({
    status: op.status,
    body: op.handle(request.world, inputOf(request), life, checked),
  })

  /** Executes the operation and stores its response in one change; an error is stored separately. */
  function executeAndStore(
    request: FastifyRequest,
    outcome: CallDecision,
    storeResponse: StoreResponse,
  ): StoredResponse {
    return request.world.change(() => {
      const done = execute(request, outcome)
      storeResponse(done)
      return done
    })
  }

  function storedError(
    request: FastifyRequest,
    error: unknown,
    saveResponse: StoreResponse,
  ): StoredResponse {
    const sandboxError = sandboxErrorOf(error, log)
    // The caller disconnected before the operation: a retry must run it.
    if (
      sandboxError.code === 'caller_gone' ||
      sandboxError.status === 401 ||
      sandboxError.status >= 500
    )
      throw sandboxError
    const done = { status: sandboxError.status, body: errorBody(sandboxError) }
    request.world.change(() => saveResponse(done))
    return done
  }

  /** The scenario's own response, or the response of the operation if it is executed. */
  function respond(
    request: FastifyRequest,
    outcome: CallDecision,
    saveResponse?: StoreResponse,
  ): StoredResponse {
    const { respond, fault, at } = outcome
    // A response instead of the operation is not stored for a key: a retry may run the operation.
    if (respond)
      return {
        status: respond.status,
        body: respondText(respond),
        headers: respondHeaders(respond),
      }
    if (fault && at !== 'after') return { status: op.status, body: '{}' }
    return saveResponse
      ? executeAndStore(request, outcome, saveResponse)
      : execute(request, outcome)
  }

  /** A response that a scenario replaces or breaks. */
  function respondWithFault(
    request: FastifyRequest,
    outcome: CallDecision,
    saveResponse?: StoreResponse,
  ): StoredResponse {
    const { fault } = outcome
    const response = respond(request, outcome, saveResponse)
    return fault ? { ...response, fault } : response
  }

  /** The same, later where a scenario wants it so. */
  async function respondLater(
    request: FastifyRequest,
    reply: FastifyReply,
    outcome: CallDecision,
    saveResponse?: StoreResponse,
  ): Promise<StoredResponse> {
    const { delay } = outcome
    if (!delay) return respondWithFault(request, outcome, saveResponse)
    const { world } = request
    const ms = delayOf(world, delay)
    // No time to wait for, so no frozen clock either.
    if (ms === 0) return respondWithFault(request, outcome, saveResponse)
    const later = () => {
      // What was found then may be otherwise now.
      const checked = op.check?.(world, inputOf(request))
      return respondWithFault(request, { ...outcome, checked }, saveResponse)
    }
    const call = `${request.method} ${maskLogText(request.url.split('?')[0]!)}`
    return world.after(ms, call, later, hangUpSignal(request, reply))
  }

  const isUnchanged = ({ respond, delay, fault }: CallDecision) => !respond && !delay && !fault

  function setRuleHeader(reply: FastifyReply, { rule }: CallDecision) {
    if (explain && rule) reply.header('x-sandbox-rule', rule.replaceAll(/[^\x20-\x7e]/g, '?'))
  }

  function handleWithKey(request: FastifyRequest, reply: FastifyReply, header: string) {
    const key = keyOf(header)
    const route = `${op.method} ${op.url}`
    return runOnce(request.world, { key, route, body: request.bodyText }, async (saveResponse) => {
      try {
        const outcome = decide(request)
        setRuleHeader(reply, outcome)
        return isUnchanged(outcome)
          ? executeAndStore(request, outcome, saveResponse)
          : await respondLater(request, reply, outcome, saveResponse)
      } catch (error) {
        return storedError(request, error, saveResponse)
      }
    }).then((done) => send(op, reply, done))
  }

  /** Responds when the change is written, together with the other changes of this turn of the event loop. */
  function handleWithoutKey(request: FastifyRequest, reply: FastifyReply) {
    const { world } = request
    let outcome!: CallDecision
    const done = world.batch(() => {
      outcome = decide(request)
      return isUnchanged(outcome) ? execute(request, outcome) : undefined
    })
    setRuleHeader(reply, outcome)
    if (!done) return respondLater(request, reply, outcome).then((later) => send(op, reply, later))
    world.onDurable((error) => {
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
      if (header !== undefined) return handleWithKey(request, reply, String(header))
      return handleWithoutKey(request, reply)
    },
  })
}

/** The error codes of every endpoint of the service. */
export const COMMON_ERRORS: readonly ErrorCode[] = [
  'validation_failed',
  'unauthorized',
  'client_inactive',
  'cross_site_rejected',
  'not_found',
]
