// The tools about the calls of the service: to make one, and to see what the code sent.
import * as z from 'zod'
import { jsonHeaders } from '../../../admin/caller.ts'
import { countOf } from '../../../model/words.ts'
import { wallNow } from '../../../runtime/real-time.ts'
import {
  AnyFields,
  type Connection,
  defineTool,
  listText,
  requestLine,
  shortJson,
  shortText,
  ToolError,
} from '../tool.ts'

export const Match = AnyFields.meta({
  description:
    'Conditions as in the `when` of a rule, plus method, path and status, such as {"operation": "createTransaction", "body": {"amount": {"gt": 1000}}}.',
})

const MAX_ANSWER = 4_000
const ORIGIN = 'http://sandbox'
const NEEDS_TOKEN =
  'give call_service the header Authorization: Bearer TOKEN. look shows the token, or says where it is. Set it as PAYOUT_SANDBOX_TOKEN for payout-sandbox mcp, and each call has it.'

/** The call in the log that got no response since an instant of the wall clock, as the end of a sentence. */
async function brokenCallText(
  { admin }: Connection,
  { method, path, since }: { method: string; path: string; since: number },
): Promise<string> {
  const { pathname } = new URL(path, ORIGIN)
  const { requests } = await admin('listRequests', { query: { method, path: pathname, limit: 1 } })
  const [newest] = requests
  if (newest?.status !== null || Date.parse(newest.wall_at) < since) return ''
  return ` The log has it: ${requestLine(newest)}.`
}

function nextAfter(method: string, path: string, status: number): string {
  if (status === 401) return NEEDS_TOKEN
  if (status === 429 || status >= 500)
    return 'the fault is not in what you sent: find_requests says which rule made it. Your code must expect it, and try again later.'
  if (status >= 400)
    return 'read message and errors: they say what is wrong. The resource payout-sandbox://contract/OPERATION has the schema of a call.'
  if (method !== 'POST') return 'find_requests shows the calls; look shows the state.'
  if (path.startsWith('/v1/transaction'))
    return 'the payment changes with time: advance_clock, then explain_payment.'
  if (/^\/v1\/(?:kyc|bank)\b/.test(path))
    return 'the sandbox verifies it after some time: advance_clock, then read it again.'
  return 'use the ids of this response in the next call; look shows the state.'
}

const isServicePath = (path: string) =>
  /^\/v1\/[^\s#]+$/.test(path) && new URL(path, ORIGIN).pathname.startsWith('/v1/')

const callService = defineTool('call_service', {
  title: 'Call the service',
  description:
    'Sends one call of the payout API and shows the response, to try it before you write code.',
  input: z.strictObject({
    method: z.enum(['GET', 'POST', 'PUT']),
    path: z.string().refine(isServicePath, 'must be a path such as /v1/transaction').meta({
      description: 'Such as /v1/users; the resources payout-sandbox://contract/... describe them.',
    }),
    body: AnyFields.optional(),
    headers: z.record(z.string(), z.string()).optional(),
    timeout_ms: z.int().min(1).max(50_000).default(20_000).meta({
      description: 'How long to wait for the response, in real time.',
    }),
  }),
  async run({ method, path, body, headers = {}, timeout_ms: ms }, connection) {
    const { token, signal, send } = connection
    if (method === 'GET' && body !== undefined)
      throw new ToolError(
        `GET ${path} takes no body; found ${shortJson(body, 100)}.`,
        'put the values into the query of the path, such as /v1/users?limit=5, or use POST or PUT.',
      )
    const text = body === undefined ? undefined : JSON.stringify(body)
    const sent = {
      // The log says who called, and the coverage of callers leaves it out.
      'user-agent': 'payout-sandbox mcp',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...jsonHeaders(text),
      ...headers,
    }
    const since = wallNow()
    const late = AbortSignal.timeout(ms)
    const options = { method, headers: sent, signal: AbortSignal.any([signal, late]) }
    const answer = await send(path, options, text).catch(async (cause) => {
      // A header that cannot be sent.
      if (cause instanceof TypeError) throw cause
      const why = late.aborted ? ` after ${ms / 1_000} s` : ` (${cause.message})`
      const logged = signal.aborted ? '' : await brokenCallText(connection, { method, path, since })
      throw new ToolError(
        `${method} ${path}: no response${why}.${logged}`,
        'if a scenario or rule breaks the response on purpose, your code must expect this; find_requests shows whether the call arrived.',
      )
    })
    return {
      text: `${method} ${path}: ${answer.status}\n${shortText(answer.text, MAX_ANSWER)}`,
      next:
        answer.status < 400 && answer.text.length > MAX_ANSWER
          ? 'ask for less: a smaller limit, another page, or one record by its id.'
          : nextAfter(method, path, answer.status),
    }
  },
})

const findRequests = defineTool('find_requests', {
  title: 'What did my code send?',
  description: 'Lists the calls that arrived, newest first, with body and response.',
  readOnly: true,
  input: z.strictObject({ match: Match.default({}), limit: z.int().min(1).max(50).default(10) }),
  async run({ match, limit }, { admin }) {
    const found = await admin('findRequests', { body: { match, limit } })
    const lineOf = (one: (typeof found.requests)[number]) =>
      `${requestLine(one)} at ${one.at}\n  sent: ${shortJson(one.body)}\n  response: ${shortJson(one.response)}`
    return {
      text: listText('Calls', found.requests, lineOf, found),
      next:
        found.total === 0
          ? 'nothing matches: call again with an empty match. If that is empty too, your code calls another address; look shows the right one.'
          : 'verify_requests asserts how many of them there must be.',
    }
  },
})

const verifyRequests = defineTool('verify_requests', {
  title: 'Verify the calls',
  description:
    'Asserts how many calls match, or that calls came in an order; if not, shows the closest ones.',
  readOnly: true,
  input: z.strictObject({
    match: Match.optional(),
    sequence: z.array(Match).min(1).optional().meta({
      description:
        'Instead of match: the calls that must come in this order. Others may come between.',
    }),
    exactly: z.int().min(0).optional(),
    at_least: z.int().min(0).optional(),
    at_most: z.int().min(0).optional(),
  }),
  async run(body, { admin }) {
    const { count } = await admin('verifyRequests', { body })
    return {
      text: body.sequence
        ? `Verified: the calls came in this order (${countOf(count, 'step')}).`
        : `Verified: ${countOf(count, 'call matches', 'calls match')}.`,
      next: 'put the same check into your test: POST /__admin/requests/verify.',
    }
  },
})

const waitFor = defineTool('wait_for', {
  title: 'Wait for something',
  description:
    'Waits in real time until a request, delivery, transaction or KYC record matches; with advance, time moves on meanwhile.',
  input: z.strictObject({
    for: z.enum(['request', 'delivery', 'transaction', 'kyc']),
    match: AnyFields.default({}).describe('Fields, such as {"transaction_status": "success"}.'),
    advance: z.string().optional().meta({
      description: 'Moves a frozen clock on, from timer to timer, by at most this, such as "2d".',
    }),
    timeout_ms: z.int().min(0).max(50_000).default(10_000),
  }),
  async run(body, { admin }) {
    const waited = await admin('wait', { body })
    const moved = waited.advanced ? ` The clock is at ${waited.advanced.now}.` : ''
    return {
      text: `Found: ${shortJson(waited[body.for], 1_000)}${moved}`,
      next: 'explain_payment shows how a payment came to its state; find_requests shows the calls.',
    }
  },
})

export const callTools = [callService, findRequests, verifyRequests, waitFor]
