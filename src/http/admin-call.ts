// http/: how a call is handled, whichever it is: Fastify with its guards, the client of a call, bodies, errors, OpenAPI,
// and the one form that all endpoints have (endpoint.ts). The endpoints themselves are in routes/.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type * as z from 'zod'
import { type AdminCallId, adminRoute } from '../model/admin-routes.ts'
import type { ErrorCode } from '../model/errors.ts'
import type { Sandbox } from '../world/sandbox.ts'
import type { World } from '../world/world.ts'
import type { Endpoint, Input, Valid } from './endpoint.ts'
import { BODY_ERRORS } from './json-body.ts'

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
  /** Returns a whole state, which takes time and memory: two at a time. */
  isExport?: boolean
  /** Returns the body of the response, or its JSON text, or a promise of one of them. */
  handle(world: World, input: Input & CallContext, sandbox: Sandbox): unknown
  /** Sends the response itself, instead of `handle`. */
  stream?(world: World, request: FastifyRequest, reply: FastifyReply): void
}

/** The tags of the calls: what they have in common, and the first segments of their paths. */
export const ADMIN_TAGS = {
  Health: ['Whether the process is running and ready.', ['health', 'ready']],
  Time: ['The clock of a client and its pending timers.', ['clock', 'timers']],
  State: [
    'Clients and their data: create, fork, reset, export, import, snapshot, restore.',
    ['reset', 'client', 'summary', 'users', 'transactions', 'clients', 'state', 'snapshots'],
  ],
  Scenarios: [
    'Scenarios and rules, which decide how the service responds to a client.',
    ['scenario', 'scenarios', 'rules', 'magic-values', 'assumptions', 'simulate'],
  ],
  Webhooks: [
    'Deliveries to the client’s webhook, and the messages of the built-in receiver.',
    ['webhooks'],
  ],
  Books: [
    'What the bank of the client reports, and how the caller’s books compare.',
    ['statement', 'reconcile'],
  ],
  Requests: [
    'The request log of a client, what callers have met, the stream of events, and waiting for an event.',
    ['requests', 'coverage', 'wait', 'events'],
  ],
} as const satisfies Record<string, readonly [string, readonly string[]]>

function tagOf(url: string): string {
  const tags = Object.entries<readonly [string, readonly string[]]>(ADMIN_TAGS)
  const found = tags.find(([, [, segments]]) => segments.includes(url.split('/')[1]!))
  if (!found) throw new Error(`The admin call ${url} has no tag: give it one in admin-call.ts`)
  return found[0]
}

/** The error codes of a call; `own` are those that not every call has. */
function errorsOf(
  { method, open, raw, isExport }: Pick<AdminCall, 'method' | 'open' | 'raw' | 'isExport'>,
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
  if (isExport) codes.push('too_many_exports')
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

/** A schema of the outline, with the type of the full schema: the reader of scenarios checks the rest, with better messages. */
export const outlineOf = <S extends z.ZodType>(outline: z.ZodType): S => outline as unknown as S

type Definition = Pick<
  AdminCall,
  'summary' | 'description' | 'raw' | 'large' | 'readsBody' | 'isExport' | 'open' | 'stream'
>

/** Defines one admin call; `errors` are the error codes that not every call has, and `status` is 200 by default. */
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
    ): z.input<R> | string | Promise<z.input<R> | string>
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
