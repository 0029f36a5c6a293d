import { type Budget, createRing } from '../core/ring.ts'
import type { LoggedRequest } from '../model/logged-request.ts'
import { HIDDEN, isSecretName, maskAnswer, maskLogText, maskValue } from '../model/mask.ts'

/** What is known of a call when it is answered. Texts and objects are kept as they are, and masked when they are shown. */
export type CompletedRequest = {
  /** Client's time when it came, and wall time when it was answered, ms. */
  at: number
  wallAt: number
  /** When it began, ms of the process's own clock. */
  began: number
  method: string
  /** Path and query, without the client's base path. */
  url: string
  operation: string | undefined
  params: unknown
  headers: Readonly<Record<string, string | string[] | undefined>>
  headersSize: number
  /** The body as it came; empty where there was none or it was not read. */
  body: string
  /** `undefined`: the connection was broken. */
  status: number | undefined
  response: string
  rule: string | undefined
  fault: string | undefined
  replayed: boolean
}

/** A call in the log: its body stands from `start` of a page on, its answer from `middle` to `end`. */
export type RequestLogEntry = Omit<
  CompletedRequest,
  'body' | 'response' | 'began' | 'headersSize'
> & {
  readonly seq: number
  readonly durationMs: number
  readonly page: Buffer
  readonly start: number
  readonly middle: number
  readonly end: number
  readonly bodySize: number
  readonly responseSize: number
  readonly size: number
}

const MAX_CALLS = 1_000
// In bytes, of one client and of all clients together.
const MAX_SIZE = 4 * 1024 * 1024
const MAX_SIZE_OF_ALL = 64 * 1024 * 1024
// Bodies that are sent are what a test is about; long answers are lists, which would push out much else.
const MAX_BODY = 64 * 1024
const MAX_RESPONSE = 4 * 1024
// What a call weighs besides its texts.
const ENTRY_OVERHEAD = 1_024

/** What the logs of all clients may hold together. */
export const createLogBudget = (): Budget => ({ used: 0, most: MAX_SIZE_OF_ALL })

// Bytes; the first is small, for most clients send little.
const FIRST_PAGE = 8 * 1024
const MAX_PAGE = 64 * 1024

/**
 * Puts texts into pages of bytes. As strings they would live just long enough to be moved to where the garbage
 * collector looks seldom and at everything, which costs each call more than it does.
 */
function createPages() {
  let page = Buffer.alloc(0)
  let size = FIRST_PAGE
  let end = 0
  return {
    /** Where a body and an answer were put, one after the other. */
    put(body: string, answer: string) {
      // At most three bytes for each unit of UTF-16; long texts are measured, so that no page is mostly empty.
      let most = 3 * (body.length + answer.length)
      if (most > FIRST_PAGE) most = Buffer.byteLength(body) + Buffer.byteLength(answer)
      if (end + most > page.length) {
        page = Buffer.allocUnsafeSlow(Math.max(size, most))
        size = Math.min(2 * size, MAX_PAGE)
        end = 0
      }
      const start = end
      const middle = start + (body === '' ? 0 : page.write(body, start))
      end = middle + (answer === '' ? 0 : page.write(answer, middle))
      return { page, start, middle, end }
    },
  }
}

/** The last calls of one client, in memory: the newest 1,000, and at most 4 MiB of them. */
export function createRequestLog({
  budget,
  onLogged,
  elapsed,
}: {
  budget: Budget
  onLogged: (call: RequestLogEntry) => void
  /** The clock that durations are told by, ms. */
  elapsed: () => number
}) {
  const ring = createRing<RequestLogEntry>({
    most: MAX_CALLS,
    maxSize: MAX_SIZE,
    sizeOf: ({ size }) => size,
    budget,
  })
  let pages = createPages()
  let seq = 0
  let clearedAt = Number.NEGATIVE_INFINITY

  return {
    add(call: CompletedRequest) {
      const { body, response: answer, began, url } = call
      // What was under way when the log was emptied is not about what comes after.
      if (began < clearedAt) return
      const storedBody = body.length > MAX_BODY ? '' : body
      const storedResponse = answer.length > MAX_RESPONSE ? '' : answer
      const { page, start, middle, end } = pages.put(storedBody, storedResponse)
      const entry: RequestLogEntry = {
        seq: ++seq,
        at: call.at,
        wallAt: call.wallAt,
        durationMs: elapsed() - began,
        method: call.method,
        url,
        operation: call.operation,
        params: call.params,
        headers: call.headers,
        page,
        start,
        middle,
        end,
        bodySize: body.length,
        status: call.status,
        responseSize: answer.length,
        rule: call.rule,
        fault: call.fault,
        replayed: call.replayed,
        size: ENTRY_OVERHEAD + url.length + call.headersSize + end - start,
      }
      ring.push(entry)
      onLogged(entry)
    },
    newestFirst: () => ring.newestFirst(),
    get count() {
      return ring.count
    },
    /** How many older calls the log no longer has. */
    get dropped() {
      return ring.dropped
    },
    /** Empties it; answers how many calls there were. */
    clear(): number {
      const { count } = ring
      clearedAt = elapsed()
      pages = createPages()
      ring.clear()
      return count
    },
    /** Empties it and counts from 1 again: after a reset the same calls have the same ids. */
    restart() {
      this.clear()
      seq = 0
    },
  }
}

// ---- how a call looks

export const requestId = ({ seq }: RequestLogEntry): string => `req_${seq}`

/** The body of a call; empty where there was none, or it is too long to be kept. */
export const bodyOf = ({ page, start, middle }: RequestLogEntry): string =>
  page.toString('utf8', start, middle)

/** Likewise its answer. */
const responseOf = ({ page, middle, end }: RequestLogEntry): string =>
  page.toString('utf8', middle, end)

export const pathOf = ({ url }: RequestLogEntry): string => {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}

/** The query as it came: texts, or lists of them where a name stands more than once. */
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

/** The value of a JSON text; `undefined` where it is none. */
export function parseJsonOrUndefined(text: string): unknown {
  if (!text) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const maskedHeaders = (headers: RequestLogEntry['headers']) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      maskLogText(name),
      isSecretName(name) ? HIDDEN : maskLogText(String(value)),
    ]),
  )

/** What was answered: masked JSON, or the masked text of another kind. */
const maskedResponse = (answer: string): unknown =>
  answer ? maskAnswer(parseJsonOrUndefined(answer) ?? answer) : null

const iso = (ms: number) => new Date(ms).toISOString()
const round = (ms: number) => Math.round(ms * 1_000) / 1_000

/** A call in one line: all of it but headers and bodies. */
export const requestSummary = (call: RequestLogEntry) => ({
  request_id: requestId(call),
  at: iso(call.at),
  wall_at: iso(call.wallAt),
  durationMs: round(call.durationMs),
  method: call.method,
  path: maskLogText(pathOf(call)),
  operation: call.operation ?? null,
  status: call.status ?? null,
  rule: call.rule ? maskLogText(call.rule) : null,
  fault: call.fault ?? null,
  replayed: call.replayed,
})

/** A call as the log shows it. */
export const requestDetails = (call: RequestLogEntry): LoggedRequest => ({
  ...requestSummary(call),
  query: maskValue({ ...queryOf(call) }) as Record<string, unknown>,
  headers: maskedHeaders(call.headers),
  body: maskValue(parseJsonOrUndefined(bodyOf(call)) ?? null),
  body_size: call.bodySize,
  answer: maskedResponse(responseOf(call)),
  answer_size: call.responseSize,
})
