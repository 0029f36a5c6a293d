import * as z from 'zod'
import { adminCall, outlineOf } from '../../http/admin.ts'
import { SandboxError } from '../../model/errors.ts'
import { LoggedRequest, RequestQuery } from '../../model/logged-request.ts'
import { quoteInput } from '../../model/mask.ts'
import type { CallMatch } from '../../scenarios/condition-schema.ts'
import { loadReader } from '../../scenarios/reader.ts'
import { missErrors } from '../../services/near-miss.ts'
import {
  pathOf,
  type RequestLogEntry,
  requestDetails,
  requestId,
} from '../../services/request-log.ts'
import {
  compileMatch,
  invalidMatch,
  nearestRequests,
  nearestRequestText,
  type RequestMatch,
} from '../../services/request-match.ts'
import type { World } from '../../world.ts'

const Match = outlineOf<typeof CallMatch>(z.looseObject({})).default({}).meta({
  description:
    'Conditions as in the `when` of a rule, and method, path and status besides; {}: every call.',
})
const Count = z.int().min(0).max(1_000_000).optional()
const Requests = z
  .strictObject({
    total: z.int().meta({ description: 'How many calls match; the list may be shorter.' }),
    dropped: z.int().meta({ description: 'How many older calls the log no longer has.' }),
    requests: z.array(LoggedRequest),
  })
  .meta({ id: 'Requests' })

/** What a `match` that came as JSON means; refused where it is none. */
export async function matchOf({ tables }: World, value: unknown): Promise<RequestMatch> {
  const { readMatch } = await loadReader()
  const read = readMatch(value)
  if (!read.ok) throw invalidMatch(read.problems)
  return compileMatch(read.match, tables)
}

function answered({ requests }: World, found: readonly RequestLogEntry[], limit: number) {
  return {
    total: found.length,
    dropped: requests.dropped,
    requests: found.slice(0, limit).map(requestDetails),
  }
}

const matching = ({ requests }: World, match: RequestMatch) =>
  [...requests.newestFirst()].filter(match.holds)

type Wanted = {
  exactly?: number | undefined
  at_least?: number | undefined
  at_most?: number | undefined
}

function wantedText({ exactly, at_least: atLeast, at_most: atMost }: Wanted): string {
  if (exactly !== undefined) return `exactly ${exactly}`
  const bounds = [
    ...(atLeast === undefined ? [] : [`at least ${atLeast}`]),
    ...(atMost === undefined ? [] : [`at most ${atMost}`]),
  ]
  return bounds.join(' and ')
}

/** The refusal of a count that is not as wanted: too few come with the nearest misses, too many with those that match. */
function unexpected(
  { requests }: World,
  match: RequestMatch,
  found: readonly RequestLogEntry[],
  wanted: Wanted,
) {
  const { exactly, at_least: atLeast = exactly ?? 0 } = wanted
  const lost = requests.dropped > 0 ? ` The log no longer has ${requests.dropped} older calls.` : ''
  const told = `Wanted ${wantedText(wanted)} like this; found ${found.length} among ${requests.count}.${lost}`
  if (found.length < atLeast) {
    const misses = nearestRequests(match, requests.newestFirst())
    return new SandboxError(
      'verification_failed',
      told + nearestRequestText(misses, requests.count),
      {
        errors: missErrors(misses),
      },
    )
  }
  const errors = found.slice(0, 10).map((call) => ({
    field: requestId(call),
    code: 'unexpected',
    message: `${call.method} ${requestDetails(call).path} matches`,
  }))
  return new SandboxError('verification_failed', told, { errors })
}

/** The request log: what a client has sent to the service. */
export const requestCalls = [
  adminCall({
    id: 'listRequests',
    method: 'GET',
    url: '/requests',
    summary: 'Calls of the service, newest first; by operation, method, path and status',
    query: RequestQuery,
    response: Requests,
    handle(world, { query: { operation, method, path, status, limit } }) {
      const found = [...world.requests.newestFirst()].filter(
        (call) =>
          (operation === undefined || call.operation === operation) &&
          (method === undefined || call.method === method) &&
          (path === undefined || pathOf(call) === path) &&
          (status === undefined || call.status === status),
      )
      return answered(world, found, limit)
    },
  }),
  adminCall({
    id: 'getRequest',
    method: 'GET',
    url: '/requests/:id',
    summary: 'One call of the service in full',
    params: z.object({ id: z.string().min(1).max(64) }),
    response: LoggedRequest,
    errors: ['not_found'],
    handle({ requests }, { params: { id } }) {
      for (const call of requests.newestFirst())
        if (requestId(call) === id) return requestDetails(call)
      throw new SandboxError(
        'not_found',
        `No call ${quoteInput(id)} is in the log. It keeps the newest 1,000; list them with GET /requests.`,
      )
    },
  }),
  adminCall({
    id: 'deleteRequests',
    method: 'DELETE',
    url: '/requests',
    summary: 'Empty the request log',
    response: z.strictObject({ deleted: z.int() }).meta({ id: 'DeletedRequests' }),
    handle: ({ requests }) => ({ deleted: requests.clear() }),
  }),
  adminCall({
    id: 'findRequests',
    method: 'POST',
    url: '/requests/find',
    summary: 'Calls that match, newest first',
    body: z
      .strictObject({ match: Match, limit: z.int().min(1).max(1_000).default(50) })
      .default({ match: {}, limit: 50 }),
    response: Requests,
    handle: async (world, { body: { match, limit } }) =>
      answered(world, matching(world, await matchOf(world, match)), limit),
  }),
  adminCall({
    id: 'countRequests',
    method: 'POST',
    url: '/requests/count',
    summary: 'How many calls match',
    body: z.strictObject({ match: Match }).default({ match: {} }),
    response: z.strictObject({ count: z.int() }).meta({ id: 'RequestCount' }),
    handle: async (world, { body: { match } }) => ({
      count: matching(world, await matchOf(world, match)).length,
    }),
  }),
  adminCall({
    id: 'verifyRequests',
    method: 'POST',
    url: '/requests/verify',
    summary:
      'Hold the number of calls that match against exactly, at_least (1 unless told) or at_most; 409 with the nearest misses',
    body: z
      .strictObject({ match: Match, exactly: Count, at_least: Count, at_most: Count })
      .refine(
        ({ exactly, at_least: atLeast, at_most: atMost }) =>
          exactly === undefined || (atLeast === undefined && atMost === undefined),
        { path: ['exactly'], error: 'stands alone, without at_least and at_most' },
      )
      .refine(
        ({ at_least: atLeast = 0, at_most: atMost = Number.POSITIVE_INFINITY }) =>
          atLeast <= atMost,
        {
          path: ['at_least'],
          error: 'must not be more than at_most',
        },
      ),
    response: z
      .strictObject({ verified: z.literal(true), count: z.int() })
      .meta({ id: 'VerifiedRequests' }),
    errors: ['verification_failed'],
    async handle(world, { body: { match: value, ...counts } }) {
      const { exactly, at_least: atLeast, at_most: atMost } = counts
      const isOpen = [exactly, atLeast, atMost].every((count) => count === undefined)
      const wanted: Wanted = isOpen ? { at_least: 1 } : counts
      const match = await matchOf(world, value)
      const found = matching(world, match)
      const least = wanted.exactly ?? wanted.at_least ?? 0
      const most = wanted.exactly ?? wanted.at_most ?? Number.POSITIVE_INFINITY
      if (found.length < least || found.length > most) throw unexpected(world, match, found, wanted)
      return { verified: true as const, count: found.length }
    },
  }),
]
