import * as z from 'zod'
import { adminCall, outlineOf } from '../../http/admin-call.ts'
import { Coverage } from '../../model/coverage.ts'
import { SandboxError } from '../../model/errors.ts'
import { named } from '../../model/formats.ts'
import {
  AllClients,
  DEFAULT_LIMIT,
  LoggedRequest,
  MAX_LIMIT,
  RequestPage,
  RequestQuery,
} from '../../model/logged-request.ts'
import { quoteInput } from '../../model/mask.ts'
import { countOf } from '../../model/words.ts'
import { missErrors } from '../../requests/near-miss.ts'
import {
  type AllRequests,
  callerOf,
  callsElsewhere,
  clientText,
  pathOf,
  type RequestLog,
  type RequestLogEntry,
  requestDetails,
  requestId,
} from '../../requests/request-log.ts'
import {
  compileMatch,
  invalidMatch,
  nearestRequests,
  nearestRequestText,
  type RequestMatch,
  type TablesOf,
  verifySequence,
} from '../../requests/request-match.ts'
import { loadReader } from '../../scenarios/library.ts'
import { operationNamed } from '../../scenarios/operations-and-events.ts'
import type { CountDefinition } from '../../scenarios/scenario-schema.ts'
import type { CallMatch } from '../../scenarios/when-schema.ts'
import type { Sandbox } from '../../world/sandbox.ts'
import type { World } from '../../world/world.ts'

const GivenMatch = outlineOf<typeof CallMatch>(z.looseObject({})).meta({
  description:
    'Conditions as in the `when` of a rule, plus method, path and status. {} matches every call.',
})
const Match = GivenMatch.default({})
const Count = z.int().min(0).max(1_000_000).optional()
const Requests = named('RequestsResponse', {
  total: z.int().meta({ description: 'The number of matching calls; the list may be shorter.' }),
  dropped: z.int().meta({ description: 'The number of older calls that the log has discarded.' }),
  requests: z.array(LoggedRequest),
  next: z.string().nullable().describe('The `cursor` of the next page; null on the last page.'),
})
const Archive = z
  .looseObject({
    log: z.looseObject({ version: z.literal('1.2'), entries: z.array(z.looseObject({})) }),
  })
  .meta({ id: 'HttpArchive', description: 'HAR 1.2, for `format=har`.' })

const OfAllClients = z.object({ client: AllClients })

// Bytes of the calls in one page.
const MAX_SIZE = 1_000_000

type Log = {
  requests: RequestLog | AllRequests
  tablesOf: TablesOf
  /** Whose log it is, and where the calls are if it is empty, for messages. */
  whose: string
  elsewhere: string
}

function logOf({ name, requests, tables }: World, client: '*' | undefined, sandbox: Sandbox): Log {
  const { allRequests, clients } = sandbox
  if (client === undefined)
    return {
      requests,
      tablesOf: () => tables,
      whose: clientText(name),
      elsewhere: callsElsewhere(allRequests, name),
    }
  const tablesOf: TablesOf = (call) => clients.get(call.client!)?.tables
  return { requests: allRequests, tablesOf, whose: 'all clients', elsewhere: '' }
}

export async function readRequestMatch(tablesOf: TablesOf, value: unknown, field = 'match') {
  const { readMatch } = await loadReader()
  const read = readMatch(value)
  if (!read.ok) throw invalidMatch(read.problems, field)
  return compileMatch(read.data, tablesOf)
}

function olderThan(cursor: string | undefined, found: readonly RequestLogEntry[]) {
  const start = cursor === undefined ? Number.POSITIVE_INFINITY : Number(cursor.slice(4))
  return found.filter(({ seq }) => seq < start)
}

/** One page of calls: fewer than asked for, if their bodies are large. */
function listResponse(
  { requests }: Log,
  found: readonly RequestLogEntry[],
  { limit = DEFAULT_LIMIT, cursor }: { limit?: number | undefined; cursor?: string | undefined },
) {
  const older = olderThan(cursor, found)
  const page: LoggedRequest[] = []
  let size = 0
  for (const call of older.slice(0, Math.min(limit, MAX_LIMIT))) {
    const details = requestDetails(call)
    size += Buffer.byteLength(JSON.stringify(details))
    if (size > MAX_SIZE && page.length > 0) break
    page.push(details)
  }
  return {
    total: found.length,
    dropped: requests.dropped,
    requests: page,
    next: page.length < older.length ? page.at(-1)!.request_id : null,
  }
}

type ExpectedCount = Exclude<CountDefinition, number>

function expectedText({ exactly, at_least: atLeast, at_most: atMost }: ExpectedCount): string {
  if (exactly !== undefined) return `exactly ${countOf(exactly, 'matching call')}`
  const bounds = [
    ...(atLeast === undefined ? [] : [`at least ${atLeast}`]),
    ...(atMost === undefined ? [] : [`at most ${atMost}`]),
  ]
  return `${bounds.join(' and ')} matching call${(atMost ?? atLeast) === 1 ? '' : 's'}`
}

/** Returns the error for an unexpected count: with too few matches it lists the closest calls, with too many the matching ones. */
function verificationError(
  { requests, whose, elsewhere }: Log,
  match: RequestMatch,
  found: readonly RequestLogEntry[],
  expected: ExpectedCount,
) {
  const { exactly, at_least: atLeast = exactly ?? 0 } = expected
  const droppedText =
    requests.dropped > 0 ? ` The log has discarded ${requests.dropped} older calls.` : ''
  const message = `Expected ${expectedText(expected)}, found ${found.length} (${countOf(requests.count, 'call')} in the log of ${whose}).${droppedText}`
  if (found.length < atLeast) {
    const misses = nearestRequests(match, requests.newestFirst())
    const nearest = nearestRequestText(misses, requests.count) + elsewhere
    return new SandboxError('verification_failed', message + nearest, {
      errors: missErrors(misses),
    })
  }
  const errors = found.slice(0, 10).map((call) => ({
    field: requestId(call),
    code: 'unexpected',
    message: `${call.method} ${requestDetails(call).path} matches`,
  }))
  return new SandboxError('verification_failed', message, { errors })
}

export const requestCalls = [
  adminCall({
    id: 'listRequests',
    summary: 'List calls, newest first; filter by operation, method, path, caller, rule and status',
    query: RequestQuery,
    // The type is that of a list: only who asks for an archive gets one.
    response: outlineOf<typeof Requests>(z.union([Requests, Archive])),
    async handle(world, { query }, sandbox) {
      const { client, operation, method, path, by, rule, status, format, ...page } = query
      const log = logOf(world, client, sandbox)
      const found = log.requests
        .newestFirst()
        .filter(
          (call) =>
            (operation === undefined || call.operation === operationNamed(operation)) &&
            (method === undefined || call.method === method) &&
            (path === undefined || pathOf(call) === path) &&
            (by === undefined || callerOf(call) === by) &&
            (rule === undefined || call.rule?.includes(rule)) &&
            (status === undefined || call.status === status),
        )
      if (format === 'har') {
        const calls = olderThan(page.cursor, found).slice(0, page.limit)
        return JSON.stringify(await sandbox.harOf!(calls.map(requestDetails)))
      }
      return listResponse(log, found, page)
    },
  }),
  adminCall({
    id: 'getRequest',
    summary: 'Return one call in full',
    params: z.object({ id: z.string().min(1).max(64) }),
    query: OfAllClients,
    response: LoggedRequest,
    errors: ['not_found'],
    handle(world, { params: { id }, query }, sandbox) {
      const { requests, whose } = logOf(world, query.client, sandbox)
      for (const call of requests.newestFirst())
        if (requestId(call) === id) return requestDetails(call)
      throw new SandboxError(
        'not_found',
        `The log of ${whose} has no call ${quoteInput(id)}. It stores the newest 1,000 calls; list them with GET /__admin/requests.`,
      )
    },
  }),
  adminCall({
    id: 'deleteRequests',
    summary: 'Empty the request log',
    response: named('DeletedRequestsResponse', { deleted: z.int() }),
    query: OfAllClients,
    handle({ requests }, { query }, { allRequests, clients }) {
      if (query.client === undefined) return { deleted: requests.clear() }
      const deleted = allRequests.clear()
      for (const world of clients.values()) world.requests.clear()
      return { deleted }
    },
  }),
  adminCall({
    id: 'findRequests',
    summary: 'List the calls that match, newest first',
    body: RequestPage.extend({ match: Match }).default({ match: {}, limit: DEFAULT_LIMIT }),
    response: Requests,
    async handle(world, { body: { client, match, ...page } }, sandbox) {
      const log = logOf(world, client, sandbox)
      const { holds } = await readRequestMatch(log.tablesOf, match)
      return listResponse(log, await log.requests.find(holds), page)
    },
  }),
  adminCall({
    id: 'countRequests',
    summary: 'Count the calls that match',
    body: z.strictObject({ client: AllClients, match: Match }).default({ match: {} }),
    response: named('RequestCountResponse', { count: z.int() }),
    async handle(world, { body: { client, match } }, sandbox) {
      const log = logOf(world, client, sandbox)
      const { holds } = await readRequestMatch(log.tablesOf, match)
      return { count: (await log.requests.find(holds)).length }
    },
  }),
  adminCall({
    id: 'verifyRequests',
    summary: 'Assert how many calls match, or their order',
    body: z
      .strictObject({
        client: AllClients,
        match: GivenMatch.optional(),
        exactly: Count,
        at_least: Count,
        at_most: Count,
        sequence: z.array(GivenMatch).min(1).max(100).optional().meta({
          description:
            'Matches, one for each step: a call must match each of them, in this order. Other calls may come between.',
        }),
      })
      .refine(
        ({ sequence, client: _, ...others }) =>
          sequence === undefined || Object.values(others).every((one) => one === undefined),
        {
          path: ['sequence'],
          error: 'cannot be combined with match, exactly, at_least or at_most',
        },
      )
      .refine(
        ({ exactly, at_least: atLeast, at_most: atMost }) =>
          exactly === undefined || (atLeast === undefined && atMost === undefined),
        { path: ['exactly'], error: 'cannot be combined with at_least or at_most' },
      )
      .refine(
        ({ at_least: atLeast = 0, at_most: atMost = Number.POSITIVE_INFINITY }) =>
          atLeast <= atMost,
        { path: ['at_least'], error: 'must not be more than at_most' },
      ),
    response: named('VerifiedRequestsResponse', {
      verified: z.literal(true),
      count: z.int().meta({ description: 'The number of matching calls, or of steps.' }),
    }),
    errors: ['verification_failed'],
    async handle(world, { body: { client, match: value = {}, sequence, ...counts } }, sandbox) {
      const log = logOf(world, client, sandbox)
      if (sequence) {
        const steps = await Promise.all(
          sequence.map(async (definition, i) => ({
            definition,
            match: await readRequestMatch(log.tablesOf, definition, `sequence[${i}]`),
          })),
        )
        verifySequence(steps, log.requests, log.elsewhere)
        return { verified: true as const, count: steps.length }
      }
      const { exactly, at_least: atLeast, at_most: atMost } = counts
      const hasNoCount = [exactly, atLeast, atMost].every((count) => count === undefined)
      const expected: ExpectedCount = hasNoCount ? { at_least: 1 } : counts
      const match = await readRequestMatch(log.tablesOf, value)
      const found = await log.requests.find(match.holds)
      const min = expected.exactly ?? expected.at_least ?? 0
      const max = expected.exactly ?? expected.at_most ?? Number.POSITIVE_INFINITY
      if (found.length < min || found.length > max)
        throw verificationError(log, match, found, expected)
      return { verified: true as const, count: found.length }
    },
  }),
  adminCall({
    id: 'getCoverage',
    summary: 'Return what all callers have met since the start',
    response: Coverage,
    errors: ['coverage_off'],
    handle(_world, _input, { coverage }) {
      if (coverage) return coverage.report()
      throw new SandboxError(
        'coverage_off',
        'Coverage is off. Restart the sandbox with --coverage, or run your tests with exec --coverage DIR.',
      )
    },
  }),
]
