import * as z from 'zod'
import { named, Timestamp, Traceparent } from './formats.ts'

const CalledBy = z.enum(['code', 'console', 'agent', 'scenario'])

/** A call of the service as the request log shows it: numbers and secrets masked. */
export const LoggedRequest = named('LoggedRequest', {
  request_id: z.string(),
  client: z.string().optional().describe('Its client; only with `client=*`.'),
  at: Timestamp.describe('Time of the request on the client’s clock.'),
  wall_at: Timestamp.describe('Time of the response on the wall clock.'),
  duration_ms: z.number(),
  method: z.string(),
  path: z.string(),
  by: CalledBy.describe('Your code, a page of the sandbox, an MCP tool, or a timeline.'),
  query: z.record(z.string(), z.unknown()),
  operation: z.string().nullable().describe('null: no route has this path and method.'),
  headers: z.record(z.string(), z.string()),
  body: z.unknown().describe('null: no body, not read, not JSON, or longer than 64 Ki characters.'),
  body_size: z.int().describe('Number of characters of the body; 0 if no body was read.'),
  amount: z.string().nullable().describe('Of a new payment, as it was sent.'),
  reference_id: z.string().nullable().describe('Of a new payment.'),
  traceparent: Traceparent.optional().describe('The W3C header, if the call has a valid one.'),
  status: z.int().nullable().describe('null: a scenario broke the connection.'),
  reason: z.string().nullable().describe('The message of an error response.'),
  response: z.unknown().describe('null: no body, or longer than 4 Ki characters.'),
  response_size: z.int(),
  made: z.unknown().optional().describe('The response that a rule replaced or dropped.'),
  rule: z.string().nullable().describe('The rule of the scenario that matched the call.'),
  fault: z.string().nullable().describe('How a scenario broke the response.'),
  replayed: z.boolean().describe('The response is the stored one of an Idempotency-Key.'),
})
export type LoggedRequest = z.infer<typeof LoggedRequest>

export const RequestInShort = LoggedRequest.omit({
  query: true,
  headers: true,
  body: true,
  body_size: true,
  response: true,
  response_size: true,
  made: true,
}).meta({ id: 'RequestInShort' })
export type RequestInShort = z.infer<typeof RequestInShort>

export const DEFAULT_LIMIT = 50
export const MAX_LIMIT = 100
const LIMIT_TEXT = `More than ${MAX_LIMIT} counts as ${MAX_LIMIT}; a page ends at about 1 MB, too.`

/** Where a page of the log begins: after the call with this id. */
const Cursor = z
  .string()
  .regex(/^req_\d{1,15}$/, { error: 'must be the `next` of the page before' })
  .describe('The `next` of the page before.')

export const AllClients = z
  .optional(z.literal('*'))
  .describe('`*`: of all clients, deleted ones too.')

export const RequestQuery = z.object({
  client: AllClients,
  operation: z.string().max(64).optional(),
  method: z.string().max(16).toUpperCase().optional(),
  path: z.string().max(2048).optional(),
  by: CalledBy.optional(),
  rule: z.string().max(256).optional().describe('A part of the name of the rule that acted.'),
  status: z
    .string()
    .regex(/^[1-5]\d\d$/, { error: 'must be an HTTP status such as 201' })
    .transform(Number)
    .optional(),
  limit: z
    .string()
    .regex(/^0*[1-9]\d*$/, { error: 'must be a whole number of at least 1' })
    .transform(Number)
    .optional()
    .meta({ default: DEFAULT_LIMIT, description: LIMIT_TEXT }),
  cursor: Cursor.optional(),
  format: z
    .optional(z.enum(['json', 'har']))
    .describe('`har`: HAR 1.2, oldest first, of as many calls as `limit` says, or of all.'),
})
export type RequestQuery = z.infer<typeof RequestQuery>

export const RequestPage = z.strictObject({
  client: AllClients,
  limit: z.int().min(1).default(DEFAULT_LIMIT).describe(LIMIT_TEXT),
  cursor: Cursor.optional(),
})

/** Calls as HAR 1.2; the fields of an entry are those of that format. */
export type Har = {
  log: {
    version: '1.2'
    creator: object
    pages: readonly object[]
    entries: readonly Readonly<Record<string, unknown>>[]
  }
}
