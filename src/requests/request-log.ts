import { parseExact } from '../model/exact-json.ts'
import { isoOf, traceOf } from '../model/formats.ts'
import type { LoggedRequest, RequestInShort } from '../model/logged-request.ts'
import { HIDDEN, isSecretName, maskLogText, maskResponse, maskValue } from '../model/mask.ts'
import { countOf } from '../model/words.ts'
import { isSliceOver, ownTurn } from '../runtime/real-time.ts'
import { type Budget, Ring } from '../runtime/ring-buffer.ts'
import type { Runtime } from '../runtime/runtime.ts'

/** A request with its response. Texts and objects are stored unchanged, and masked when they are shown. */
export type CompletedRequest = {
  /** Client's time of the request, ms. */
  at: number
  /** Start of the request, ms of the process's monotonic clock; `undefined` if it was rejected before. */
  began: number | undefined
  method: string
  /** Path and query, without the client's base path. */
  url: string
  operation: string | undefined
  params: unknown
  headers: Readonly<Record<string, string | string[] | undefined>>
  headersSize: number
  /** The received body; empty if there was none or it was not read. */
  body: string
  /** `undefined`: no response, the connection was broken. */
  status: number | undefined
  response: string
  /** What the operation returned, if a rule then sent something else or nothing. */
  made?: string | undefined
  /** Whether the scenarios decided about it, so that rules counted it. */
  isDecided: boolean
  rule: string | undefined
  /** The rule that chose the steps of the payment that the call creates. */
  stepsRule: string | undefined
  fault: string | undefined
  replayed: boolean
}

/** An entry of the log; a body or a response that was too long to be stored is empty. */
export type RequestLogEntry = CompletedRequest & {
  /** The client, in the log of all clients. */
  readonly client?: string
  readonly seq: number
  /** Wall time of the response, ms. */
  readonly wallAt: number
  readonly duration_ms: number
  readonly bodySize: number
  readonly responseSize: number
  readonly size: number
}

/** How many calls a log keeps, and their size in bytes. A scenario's calls have their own, so that they never push out others. */
export const LOG_LIMITS = {
  max: 1_000,
  maxSize: 4 * 1024 * 1024,
  sizeOf: ({ size }: RequestLogEntry) => size,
}
// Of all clients together, bytes.
const MAX_SIZE_OF_ALL = 64 * 1024 * 1024
// Tests are about request bodies; long responses are lists, which would displace many other entries.
const MAX_BODY = 64 * 1024
const MAX_RESPONSE = 4 * 1024
// Estimated bytes of an entry besides its texts.
const ENTRY_OVERHEAD = 1_024

/** The memory limit that the logs of all clients share. */
export const createLogBudget = (): Budget => ({ used: 0, max: MAX_SIZE_OF_ALL })

/** The time between two clears of a client's log. */
export type Era = { isOver: boolean }

type RequestLogDeps = {
  budget: Budget
  addToAll: (call: RequestLogEntry, era: Era) => void
  /** Gets each entry while its body and its response are whole. */
  onLogged: (entry: RequestLogEntry) => void
  runtime: Pick<Runtime, 'elapsed' | 'wall'>
}

type Holds = (call: RequestLogEntry) => boolean

/** The entries of which a test holds. Patterns can take long, so other calls can run in between. */
async function entriesOf(all: readonly RequestLogEntry[], holds: Holds) {
  const found: RequestLogEntry[] = []
  for (const entry of all) {
    if (isSliceOver()) await ownTurn()
    if (holds(entry)) found.push(entry)
  }
  return found
}

/** The last requests of one client, in memory: at most 1,000 calls and 4 MiB, and as much again for its scenario. */
export class RequestLog {
  readonly #deps: RequestLogDeps
  readonly #ring: Ring<RequestLogEntry>
  readonly #ofScenario: Ring<RequestLogEntry>
  #seq = 0
  #era: Era = { isOver: false }
  #clearedAt = Number.NEGATIVE_INFINITY

  constructor(deps: RequestLogDeps) {
    this.#deps = deps
    this.#ring = new Ring(LOG_LIMITS, deps.budget)
    this.#ofScenario = new Ring(LOG_LIMITS, deps.budget)
  }

  /** Logs a call: the call itself becomes the entry, because copying it would take longer than the rest of a read. */
  add(call: CompletedRequest) {
    const { elapsed, wall } = this.#deps.runtime
    const { body, response, began = elapsed() } = call
    // A request that started before the log was cleared does not belong to it.
    if (began < this.#clearedAt) return
    const isBodyKept = body.length <= MAX_BODY
    const isResponseKept = response.length <= MAX_RESPONSE
    const entry: RequestLogEntry = Object.assign(call, {
      seq: ++this.#seq,
      wallAt: wall(),
      duration_ms: elapsed() - began,
      bodySize: body.length,
      responseSize: response.length,
      size:
        ENTRY_OVERHEAD +
        call.url.length +
        call.headersSize +
        (call.made?.length ?? 0) +
        (isBodyKept ? Buffer.byteLength(body) : 0) +
        (isResponseKept ? Buffer.byteLength(response) : 0),
    })
    const ring = callerOf(entry) === 'scenario' ? this.#ofScenario : this.#ring
    ring.push(entry)
    this.#deps.addToAll(entry, this.#era)
    this.#deps.onLogged(entry)
    if (!isBodyKept) call.body = ''
    if (!isResponseKept) call.response = ''
  }

  newestFirst(): RequestLogEntry[] {
    const all = this.#ring.newestFirst()
    if (this.#ofScenario.count === 0) return all
    return [...all, ...this.#ofScenario.newestFirst()].sort((a, b) => b.seq - a.seq)
  }

  /** The entries of which a test holds, newest first. */
  find(holds: Holds): Promise<RequestLogEntry[]> {
    return entriesOf(this.newestFirst(), holds)
  }

  get count(): number {
    return this.#ring.count + this.#ofScenario.count
  }

  get dropped(): number {
    return this.#ring.dropped + this.#ofScenario.dropped
  }

  clear(): number {
    const { count } = this
    this.#clearedAt = this.#deps.runtime.elapsed()
    this.release()
    this.#era.isOver = true
    this.#era = { isOver: false }
    return count
  }

  /** Releases the memory of a client that ends; the calls of all clients still have its entries. */
  release() {
    this.#ring.clear()
    this.#ofScenario.clear()
  }

  /** Removes all entries and restarts the ids at 1: after a reset the same requests get the same ids. */
  restart() {
    this.clear()
    this.#seq = 0
  }
}

/** The newest calls of all clients, also of deleted ones, but not what a client has cleared. */
export class AllRequests {
  readonly #ring = new Ring<{ client: string; seq: number; call: RequestLogEntry; era: Era }>({
    ...LOG_LIMITS,
    sizeOf: ({ call }) => call.size,
  })
  #seq = 0

  add(client: string, call: RequestLogEntry, era: Era) {
    this.#ring.push({ client, seq: ++this.#seq, call, era })
  }

  newestFirst(): RequestLogEntry[] {
    return this.#ring
      .newestFirst()
      .flatMap(({ client, seq, call, era }) => (era.isOver ? [] : [{ ...call, client, seq }]))
  }

  find(holds: Holds): Promise<RequestLogEntry[]> {
    return entriesOf(this.newestFirst(), holds)
  }

  get count(): number {
    return this.newestFirst().length
  }

  get dropped(): number {
    return this.#ring.dropped
  }

  clear(): number {
    const { count } = this
    this.#ring.clear()
    return count
  }
}

// ---- reading and showing an entry

export const requestId = ({ seq }: RequestLogEntry): string => `req_${seq}`

export const pathOf = ({ url }: RequestLogEntry): string => {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}

/** The query parameters: a string, or an array if a name occurs more than once. */
export function queryOf({ url }: RequestLogEntry): Record<string, string | string[]> {
  const at = url.indexOf('?')
  const query: Record<string, string | string[]> = Object.create(null)
  if (at === -1) return query
  for (const [name, value] of new URLSearchParams(url.slice(at + 1))) {
    const earlier = query[name]
    query[name] = earlier === undefined ? value : [earlier, value].flat()
  }
  return query
}

export function parseJsonOrUndefined(text: string): unknown {
  if (!text) return undefined
  try {
    return parseExact(text)
  } catch {
    return undefined
  }
}

const traceIn = (name: string, value: unknown) =>
  name === 'traceparent' ? traceOf(value) : undefined

const maskedHeaders = (headers: RequestLogEntry['headers']) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      maskLogText(name),
      isSecretName(name) ? HIDDEN : (traceIn(name, value) ?? maskLogText(String(value))),
    ]),
  )

const maskedResponse = (answer: string): unknown =>
  answer ? maskResponse(parseJsonOrUndefined(answer) ?? answer) : null

const round = (ms: number) => Math.round(ms * 1_000) / 1_000

type PaymentFields = Pick<RequestInShort, 'amount' | 'reference_id'>
const NO_PAYMENT: PaymentFields = { amount: null, reference_id: null }

/** The amount and the reference of a new payment, as they were sent. */
function paymentFields({ operation, body }: RequestLogEntry): PaymentFields {
  if (operation !== 'createTransaction') return NO_PAYMENT
  const sent = (parseJsonOrUndefined(body) ?? {}) as { amount?: unknown; reference_id?: unknown }
  const { amount, reference_id: reference } = sent
  const isAmount = typeof amount === 'number' || typeof amount === 'string'
  return {
    amount: isAmount ? maskLogText(String(amount)) : null,
    reference_id: typeof reference === 'string' ? reference : null,
  }
}

function reasonOf({ status = 0, response }: RequestLogEntry): string | null {
  const body = status < 400 ? null : (maskedResponse(response) as { message?: unknown } | null)
  return typeof body?.message === 'string' ? body.message : null
}

function traceField(header: unknown) {
  const traceparent = traceOf(header)
  return traceparent && { traceparent }
}

/** Who made a call: a timeline, an agent's tool, a page of the sandbox, or the code of its user. */
export function callerOf({ headers }: Pick<CompletedRequest, 'headers'>): LoggedRequest['by'] {
  if (headers['user-agent'] === 'payout-sandbox') return 'scenario'
  if (headers['user-agent'] === 'payout-sandbox mcp') return 'agent'
  return headers['sec-fetch-site'] === 'same-origin' ? 'console' : 'code'
}

/** An entry without its headers, query and bodies. */
export const requestSummary = (call: RequestLogEntry): RequestInShort => ({
  ...traceField(call.headers['traceparent']),
  request_id: requestId(call),
  ...(call.client !== undefined && { client: call.client }),
  at: isoOf(call.at),
  wall_at: isoOf(call.wallAt),
  duration_ms: round(call.duration_ms),
  method: call.method,
  path: maskLogText(pathOf(call)),
  by: callerOf(call),
  operation: call.operation ?? null,
  ...paymentFields(call),
  status: call.status ?? null,
  reason: reasonOf(call),
  rule: call.rule ? maskLogText(call.rule) : null,
  fault: call.fault ?? null,
  replayed: call.replayed,
})

export const requestDetails = (call: RequestLogEntry): LoggedRequest => ({
  ...requestSummary(call),
  query: maskValue({ ...queryOf(call) }) as Record<string, unknown>,
  headers: maskedHeaders(call.headers),
  body: maskValue(parseJsonOrUndefined(call.body) ?? null),
  body_size: call.bodySize,
  response: maskedResponse(call.response),
  response_size: call.responseSize,
  ...(call.made !== undefined && { made: maskedResponse(call.made) }),
})

const MAX_NAMED = 3

export const clientText = (name: string) => (name === 'default' ? 'the default client' : `@${name}`)

/** Says where the calls were, if a client had none: ` The default client had no calls; @pytest had 12.` */
export function callsElsewhere(all: AllRequests, client: string): string {
  const counts = new Map<string, number>()
  for (const { client: name = '' } of all.newestFirst())
    counts.set(name, (counts.get(name) ?? 0) + 1)
  if (counts.size === 0 || counts.has(client)) return ''
  const others = [...counts].sort(([, a], [, b]) => b - a)
  const named = others.slice(0, MAX_NAMED).map(([name, n]) => `${clientText(name)} had ${n}`)
  const rest = others.length - named.length
  const had = [...named, ...(rest > 0 ? [`${countOf(rest, 'more client')} had others`] : [])]
  const text = clientText(client)
  return ` ${text[0]!.toUpperCase()}${text.slice(1)} had no calls; ${had.join(', ')}.`
}
