import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errorText } from '../model/envelope.ts'
import { ERRORS, type ErrorCode } from '../model/errors.ts'
import {
  type KycStep,
  type LifecycleOutcome,
  type ResponseFault,
  type ResponseOutcome,
  runsOperation,
} from '../scenarios/compiled.ts'
import type { Decision } from '../scenarios/decide.ts'
import type { RuleCall } from '../scenarios/match.ts'
import { pointOf } from '../time/duration.ts'
import type { World } from '../world/world.ts'
import { closeWith } from './closing.ts'
import { leaveHanging } from './hang.ts'
import type { Operation } from './operation.ts'

/** The decision about a call: the response, the later steps of what it creates, and the rule. */
export type CallDecision = ResponseOutcome & {
  rule?: string | undefined
  /** The result of the operation's `check`. */
  checked?: unknown
  life: Omit<LifecycleOutcome, 'kyc'> & { kyc?: readonly (readonly KycStep[] | undefined)[] }
}

// Limits the length of the header: a call with fifty documents can match fifty rules.
const MAX_RULES_NAMED = 8

/** The names of the rules that acted, without duplicates: `default: paise .92`. */
function rulesOf(decisions: readonly (Decision | undefined)[]): string | undefined {
  const hits = decisions.flatMap((one) => (one ? [one, ...(one.also ? [one.also] : [])] : []))
  const names = new Set(hits.map(({ scenario, rule }) => `${scenario}: ${rule}`))
  return names.size === 0 ? undefined : [...names].slice(0, MAX_RULES_NAMED).join(', ')
}

type StringFields = Readonly<Record<string, string>>

/** The call as rules read it, as it was sent; user and account are looked up when a rule needs them. */
class ServiceCall implements RuleCall {
  readonly operation: RuleCall['operation']
  readonly params: StringFields
  readonly headers: unknown
  readonly body: StringFields
  readonly item: unknown
  readonly #url: string
  readonly #world: World

  constructor(
    op: Operation,
    { world, params, headers, sentBody: sent, url }: FastifyRequest,
    item?: unknown,
  ) {
    this.operation = op.id as RuleCall['operation']
    this.params = (params ?? {}) as StringFields
    this.headers = headers
    this.body = (sent ?? {}) as StringFields
    this.item = item
    this.#url = url
    this.#world = world
  }

  get query() {
    const at = this.#url.indexOf('?')
    return at === -1 ? {} : Object.fromEntries(new URLSearchParams(this.#url.slice(at + 1)))
  }

  get user() {
    const { body, params } = this
    const id = body['user_id'] ?? body['from_user_id'] ?? params['userId']
    return this.#world.tables.tables.users.get(id ?? '')
  }

  get account() {
    return this.#world.tables.tables.bank_accounts.get(this.body['benif_bank_id'] ?? '')
  }
}

/** Lets the scenarios decide about a call and, for POST /kyc, about each document; hits are counted first. */
export function decideCall(op: Operation, request: FastifyRequest): CallDecision {
  const { world } = request
  const header = request.headers['x-sandbox-scenario']
  const name = typeof header === 'string' ? header : undefined
  const call = new ServiceCall(op, request)
  world.scenarios.countCall(call.operation)
  const decision = world.scenarios.decide(call, name)
  // Most calls match no rule.
  if (!decision && op.id !== 'submitKyc') return { rule: undefined, life: {}, checked: undefined }
  const rule = rulesOf([decision])
  const outcome = decision?.outcome ?? {}
  const decided: CallDecision = { ...outcome, rule, life: {} }
  if (op.id !== 'submitKyc') {
    const { transaction, bank } = outcome
    decided.life = { ...(transaction && { transaction }), ...(bank && { bank }) }
    return decided
  }
  if (!runsOperation(outcome)) return decided
  const { kyc: items } = request.sentBody as { kyc: readonly unknown[] }
  const itemDecisions: (Decision | undefined)[] = []
  // The rule of a document can also decide the response; the first such rule decides for the call.
  let responding: Decision | undefined
  for (const item of items) {
    const one = world.scenarios.decide(new ServiceCall(op, request, item), name)
    itemDecisions.push(one)
    if (one && (one.outcome.respond || one.outcome.delay || one.outcome.fault)) responding ??= one
    // If the call is not executed, the remaining documents count no hits.
    if (responding && !runsOperation(responding.outcome)) break
  }
  const { respond, delay, fault, at } = responding?.outcome ?? {}
  return {
    ...(respond && { respond }),
    ...(delay && { delay }),
    ...(fault && { fault }),
    ...(at && { at }),
    ...decided,
    // The rule of the response is named first.
    rule: rulesOf([decision, responding, ...itemDecisions]),
    life: { kyc: itemDecisions.map((one) => one?.outcome.kyc) },
  }
}

const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthorized',
  404: 'not_found',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  429: 'rate_limited',
  502: 'bad_gateway',
  503: 'service_unavailable',
  504: 'gateway_timeout',
}

// Default headers by status; a scenario can override them.
const HEADERS_OF_STATUS: Readonly<Record<number, Record<string, string>>> = {
  401: { 'www-authenticate': 'Bearer' },
  429: { 'retry-after': '1' },
  503: { 'retry-after': '1' },
}

/** The headers of a scenario's `respond`, with the defaults of its status. */
export function respondHeaders({
  status,
  headers = {},
}: NonNullable<ResponseOutcome['respond']>): Record<string, string> {
  const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  return { ...HEADERS_OF_STATUS[status], ...Object.fromEntries(own) }
}

/**
 * The body of a scenario's `respond`, or the error envelope of its status. A string is sent unchanged if the content
 * type is not JSON, such as the HTML page of a gateway.
 */
export function respondText(respond: NonNullable<ResponseOutcome['respond']>): string {
  const { status, body } = respond
  const type = respondHeaders(respond)['content-type']
  if (typeof body === 'string' && type !== undefined && !type.includes('json')) return body
  if (body !== undefined) return JSON.stringify(body)
  const word = CODE_OF_STATUS[status] ?? 'injected_error'
  return errorText(status, word, ERRORS[word][1])
}

/** The delay of a response, ms of the client's time; a value of a range is drawn from the client's random series. */
export function delayOf(
  world: World,
  { minMs, maxMs }: NonNullable<ResponseOutcome['delay']>,
): number {
  return minMs === maxMs ? minMs : pointOf({ minMs, maxMs }, world.change(world.random.fraction))
}

/** Sends a response with a fault; `body` is the one without the fault. */
export function sendBroken(
  reply: FastifyReply,
  fault: ResponseFault,
  status: number,
  body: string,
) {
  if (fault === 'malformed') return reply.code(status).send(`${body.slice(0, -1)},]`)
  reply.hijack()
  const { socket } = reply.raw
  if (fault === 'reset') socket?.resetAndDestroy?.()
  else if (fault === 'empty') socket && closeWith(socket, '')
  else if (fault === 'truncate') {
    reply.raw.writeHead(status, {
      ...(reply.getHeaders() as OutgoingHttpHeaders),
      'content-length': Buffer.byteLength(body),
    })
    reply.raw.write(body.slice(0, Math.floor(body.length / 2)), () => socket?.destroy())
  } else if (fault === 'hang') leaveHanging(reply)
  reply.request.watched?.broken(fault)
  return reply
}
