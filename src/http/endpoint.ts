import type * as z from 'zod'
import type { ErrorCode } from '../model/errors.ts'
import { ENDPOINT_OF, type OperationId } from '../scenarios/operations-and-events.ts'
import type { World } from '../world/world.ts'
import { BODY_ERRORS } from './json-body.ts'
import type { Lifecycles } from './scenario-decision.ts'

/** One endpoint of the service or of the admin API; route, validation, OpenAPI, typed client and tests follow from it. */
export type Endpoint = {
  id: string
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The path below `/v1` or `/__admin`. */
  url: string
  tag: string
  summary: string
  description?: string
  params?: z.ZodObject
  query?: z.ZodObject
  body?: z.ZodType
  status: 200 | 201
  response: z.ZodType
  errors: readonly ErrorCode[]
  raw?: boolean
  /** Accepts a body as large as a whole state. */
  large?: boolean
  /** Validates its body itself. */
  readsBody?: boolean
}

declare module 'fastify' {
  interface FastifyContextConfig {
    endpoint?: Pick<Endpoint, 'id'>
  }
}

export type Valid<S> = S extends z.ZodType ? z.output<S> : undefined

export type Input<P = never, Q = never, B = never> = { params: P; query: Q; body: B }

export type Operation = Endpoint & {
  id: OperationId
  method: 'GET' | 'POST' | 'PUT'
  /** Whether a token is also required in the mode `spec`. */
  tokenNeeded: boolean
  body?: z.ZodObject
  /** Throws all errors that need no change, before a scenario decides. The result is passed to `handle`. */
  check?(world: World, input: Input): unknown
  handle(world: World, input: Input, lifecycles: Lifecycles, checked: unknown): object
}

/** The error codes of an endpoint of the service; `own` are those that only this endpoint has. */
function errorsOf(isPost: boolean, hasBody: boolean, own: readonly ErrorCode[]) {
  const codes: ErrorCode[] = [
    'malformed_request',
    'validation_failed',
    'unauthorized',
    'client_inactive',
    'rate_limited',
    'cross_site_rejected',
    'not_found',
    ...own,
    'storage_unavailable',
    'not_ready',
    'host_not_allowed',
    'request_timeout',
    'headers_too_large',
    'internal_error',
    // What a scenario can put in place of any response.
    'injected_error',
    'bad_gateway',
    'service_unavailable',
    'gateway_timeout',
  ]
  if (hasBody) codes.push(...BODY_ERRORS)
  if (isPost) codes.push('idempotency_in_flight', 'idempotency_mismatch')
  return codes
}

type Definition = Pick<Operation, 'id' | 'tag' | 'summary' | 'description'>

/** Defines one endpoint of the service; `errors` are the error codes that not every endpoint has, and `status` is 200 by default. */
export function operation<
  R extends z.ZodObject,
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodObject | undefined = undefined,
  C = undefined,
>(
  definition: Definition & {
    tokenNeeded?: boolean
    status?: 201
    params?: P
    query?: Q
    body?: B
    response: R
    errors?: readonly ErrorCode[]
    check?(world: World, input: Input<Valid<P>, Valid<Q>, Valid<B>>): C
    handle(
      world: World,
      input: Input<Valid<P>, Valid<Q>, Valid<B>>,
      lifecycles: Lifecycles,
      checked: C,
    ): z.output<R>
  },
): Operation {
  const { id, body, errors = [] } = definition
  const [method, url] = ENDPOINT_OF[id].split(' ')
  const allErrors = errorsOf(method === 'POST', body !== undefined, errors)
  const defaults = { method, url, status: 200, tokenNeeded: false }
  return { ...defaults, ...definition, errors: allErrors } as unknown as Operation
}
