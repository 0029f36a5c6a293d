import { type Budget, createRing } from '../core/ring.ts'
import type { LoggedRequest } from '../model/logged-request.ts'
import { HIDDEN, isSecretName, maskLogText, maskResponse, maskValue } from '../model/mask.ts'

/** What is known of a call when it is answered. Texts and objects are kept as they are, and masked when they are shown. */
export type AnsweredCall = {
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
  answer: string
  rule: string | undefined
  fault: string | undefined
  replayed: boolean
}

/** A call in the log: its body stands from `start` of a page on, its answer from `middle` to `end`. */
export type RequestLogEntry = Omit<AnsweredCall, 'body' | 'answer' | 'began' | 'headersSize'> & {
  readonly seq: number
  readonly durationMs: number
  readonly page: Buffer
  readonly start: number
  readonly middle: number
  readonly end: number
  readonly bodySize: number
  readonly answerSize: number
  readonly size: number
}

const MAX_CALLS = 1_000
// In bytes, of one client and of all clients together.
const MAX_SIZE = 4 * 1024 * 1024
const MAX_SIZE_OF_ALL = 64 * 1024 * 1024
// Bodies that are sent are what a test is about; long answers are lists, which would push out much else.
const MAX_BODY = 64 * 1024
const MAX_ANSWER = 4 * 1024
// What a call weighs besides its texts.
const CALL_SIZE = 1_024

/** What the logs of all clients may hold together. */
export const createLogBudget = (): Budget => ({ used: 0, max: MAX_SIZE_OF_ALL })

// Bytes; the first is small, for most clients send little.
const FIRST_PAGE = 8 * 1024
const MAX_PAGE = 64 * 1024

/**
 * Puts texts into pages of bytes. As strings they would live just long enough to be moved to where the garbage
 * collector looks oncePerBurst and at everything, which costs each call more than it does.
 */
function createPages() {
  let page = Buffer.alloc(0)
  let size = FIRST_PAGE
  let end = 0
  return {
    /** Where a body and an answer were put, one after the other. */
    put(body: string, answer: string) {
      // At most three bytes for each unit of UTF-16; long texts are measured, so that no page is mostly empty.
      let max = 3 * (body.length + answer.length)
      if (max > FIRST_PAGE) max = Buffer.byteLength(body) + Buffer.byteLength(answer)
      if (end + max > page.length) {
        page = Buffer.allocUnsafeSlow(Math.max(size, max))
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
  onNoted,
  elapsed,
}: {
  budget: Budget
  onNoted: (call: RequestLogEntry) => void
  /** The clock that durations are told by, ms. */
  elapsed: () => number
}) {
  const ring = createRing<RequestLogEntry>({
    max: MAX_CALLS,
    maxSize: MAX_SIZE,
    sizeOf: ({ size }) => size,
    budget,
  })
  let pages = createPages()
  let seq = 0
  let emptiedAt = Number.NEGATIVE_INFINITY

  return {
    note(call: AnsweredCall) {
      const { body, answer, began, url } = call
      // What was under way when the log was emptied is not about what comes after.
      if (began < emptiedAt) return
      const storedBody = body.length > MAX_BODY ? '' : body
      const storedResponse = answer.length > MAX_ANSWER ? '' : answer
      const { page, start, middle, end } = pages.put(storedBody, storedResponse)
      const noted: RequestLogEntry = {
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
        answerSize: answer.length,
        rule: call.rule,
        fault: call.fault,
        replayed: call.replayed,
        size: CALL_SIZE + url.length + call.headersSize + end - start,
      }
      ring.push(noted)
      onNoted(noted)
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
      emptiedAt = elapsed()
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
const answerOf = ({ page, middle, end }: RequestLogEntry): string =>
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
export function jsonOf(text: string): unknown {
  if (!text) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const shownHeaders = (headers: RequestLogEntry['headers']) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      maskLogText(name),
      isSecretName(name) ? HIDDEN : maskLogText(String(value)),
    ]),
  )

/** What was answered: masked JSON, or the masked text of another kind. */
const shownAnswer = (answer: string): unknown =>
  answer ? maskResponse(jsonOf(answer) ?? answer) : null

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
export const shownRequest = (call: RequestLogEntry): LoggedRequest => ({
  ...requestSummary(call),
  query: maskValue({ ...queryOf(call) }) as Record<string, unknown>,
  headers: shownHeaders(call.headers),
  body: maskValue(jsonOf(bodyOf(call)) ?? null),
  body_size: call.bodySize,
  answer: shownAnswer(answerOf(call)),
  answer_size: call.answerSize,
})
