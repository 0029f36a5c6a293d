import type { FastifyReply, FastifyRequest } from 'fastify'
import type * as z from 'zod'
import { type AdminCallId, adminRoute } from '../model/admin-routes.ts'
import type { ErrorCode } from '../model/errors.ts'
import type { Sandbox } from '../world/sandbox.ts'
import type { World } from '../world/world.ts'
import type { Endpoint, Input, Valid } from './endpoint.ts'
import { BODY_ERRORS } from './json-body.ts'

/** A response that is JSON text already, such as a state with one row a line. */
export class WrittenJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** What a call gets besides the parts of its request. */
type CallContext = {
  headers: FastifyRequest['headers']
  /** A signal that aborts when the caller disconnects: for calls that can take long. */
  hangUpSignal: () => AbortSignal
}

/** The definition of one call of the admin API. A `raw` call needs no admin token: senders of webhooks have none. */
export type AdminCall = Endpoint & {
  id: AdminCallId
  /** Needs no token and has no client: anyone who can reach the port can call it. */
  open?: boolean
  /** Returns the body of the response, or a promise of it. */
  handle(world: World, input: Input & CallContext, sandbox: Sandbox): unknown
  /** Sends the response itself, instead of `handle`. */
  stream?(world: World, request: FastifyRequest, reply: FastifyReply): void
}

/** The tag of a call, by the first segment of its path. */
const TAG_OF: Readonly<Record<string, string>> = {
  health: 'Health',
  ready: 'Health',
  clock: 'Time',
  timers: 'Time',
  reset: 'State',
  client: 'State',
  users: 'State',
  transactions: 'State',
  clients: 'State',
  state: 'State',
  snapshots: 'State',
  scenario: 'Scenarios',
  scenarios: 'Scenarios',
  rules: 'Scenarios',
  'magic-values': 'Scenarios',
  assumptions: 'Scenarios',
  simulate: 'Scenarios',
  webhooks: 'Webhooks',
  requests: 'Requests',
  wait: 'Requests',
  events: 'Requests',
  record: 'Requests',
}

function tagOf(url: string): string {
  const tag = TAG_OF[url.split('/')[1]!]
  if (!tag) throw new Error(`The admin call ${url} has no tag: give it one in admin-call.ts`)
  return tag
}

/** The error codes of a call; `own` are those that not every call has. */
function errorsOf(
  { method, open, raw }: Pick<AdminCall, 'method' | 'open' | 'raw'>,
  own: readonly ErrorCode[],
): ErrorCode[] {
  const codes: ErrorCode[] = [
    'malformed_request',
    'host_not_allowed',
    'cross_site_rejected',
    ...own,
  ]
  if (!raw) codes.push('validation_failed')
  if (!open) codes.push('unauthorized', 'not_found', 'client_limit_reached', 'storage_unavailable')
  if (!open && !raw) codes.push('admin_token_required')
  if (raw) codes.push('payload_too_large')
  else if (method !== 'GET') codes.push(...BODY_ERRORS)
  return [...new Set(codes)]
}

type Sent<S> = S extends z.ZodType ? z.input<S> : undefined

/** The types of one call, for its clients; `types` is never there at run time. */
type Typed<Id, P, Q, B, R> = {
  id: Id
  types?: {
    params: Sent<P>
    query: Q extends z.ZodType ? Partial<z.output<Q>> : undefined
    body: Sent<B>
    response: R extends z.ZodType ? z.output<R> : undefined
  }
}

/**
 * A schema that checks only the outline, with the type of the full schema: the reader of scenarios does the full check.
 * It is loaded on demand and has better messages.
 */
export const outlineOf = <S extends z.ZodType>(outline: z.ZodType): S => outline as unknown as S

type Definition = Omit<
  AdminCall,
  | 'id'
  | 'method'
  | 'url'
  | 'tag'
  | 'params'
  | 'query'
  | 'body'
  | 'status'
  | 'response'
  | 'errors'
  | 'handle'
>

/**
 * Defines one admin call; `ADMIN_ROUTES` has its method and path. `errors` are the error codes that not every call has;
 * `status` is 200 by default.
 */
export function adminCall<
  const Id extends AdminCallId,
  R extends z.ZodType,
  P extends z.ZodObject | undefined = undefined,
  Q extends z.ZodObject | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
>(
  definition: Definition & {
    id: Id
    params?: P
    query?: Q
    body?: B
    status?: 201
    response: R
    errors?: readonly ErrorCode[]
    handle(
      world: World,
      input: Input<Valid<P>, Valid<Q>, Valid<B>> & CallContext,
      sandbox: Sandbox,
    ): z.input<R> | WrittenJson | Promise<z.input<R> | WrittenJson>
  },
): AdminCall & Typed<Id, P, Q, B, R> {
  const { id, errors = [] } = definition
  const route = adminRoute(id)
  const call = {
    ...route,
    tag: tagOf(route.url),
    status: 200,
    ...definition,
    errors: errorsOf({ ...definition, ...route }, errors),
  }
  return call as unknown as AdminCall & Typed<Id, P, Q, B, R>
}
