import { type Budget, createRing } from '../core/ring.ts'
import type { LoggedRequest } from '../model/logged-request.ts'
import { HIDDEN, isSecretName, maskLogText, maskValue } from '../model/mask.ts'

/** What is known of a call when it is answered. Texts and objects are kept as they are, and masked when they are shown. */
export type AnsweredCall = {
  /** Client's time when it came, and wall time when it was answered, ms. */
  at: number
  wallAt: number
  /** When it began and when it was answered, ms of one real clock. */
  began: number
  ended: number
  method: string
  /** Path and query, without the client's base path. */
  url: string
  operation: string | undefined
  params: unknown
  headers: Readonly<Record<string, string | string[] | undefined>>
  /** The body as it came; empty where there was none or it was not read. */
  body: string
  /** `undefined`: the connection was broken. */
  status: number | undefined
  answer: string
  rule: string | undefined
  fault: string | undefined
  replayed: boolean
}

/** A call in the log. A text that is too long to be kept is `undefined`. */
export type NotedCall = Omit<AnsweredCall, 'body' | 'answer'> & {
  readonly seq: number
  readonly body: string | undefined
  readonly bodySize: number
  readonly answer: string | undefined
  readonly answerSize: number
  readonly size: number
}

const MOST_CALLS = 1_000
// In characters, of one client and of all clients together.
const MOST_SIZE = 4 * 1024 * 1024
const MOST_SIZE_OF_ALL = 64 * 1024 * 1024
const LONGEST_TEXT = 64 * 1024
// What a call weighs besides its texts.
const CALL_SIZE = 1_024

/** What the logs of all clients may hold together. */
export const createLogBudget = (): Budget => ({ used: 0, most: MOST_SIZE_OF_ALL })

function headersSize(headers: AnsweredCall['headers']): number {
  let size = 0
  for (const name in headers) size += name.length + (headers[name]?.length ?? 0)
  return size
}

/** The last calls of one client, in memory: the newest 1,000, and at most 4 Mi characters of them. */
export function createRequestLog({
  budget,
  onNoted,
  realNow = () => performance.now(),
}: {
  budget: Budget
  onNoted: (call: NotedCall) => void
  realNow?: () => number
}) {
  const ring = createRing<NotedCall>({
    most: MOST_CALLS,
    mostSize: MOST_SIZE,
    sizeOf: ({ size }) => size,
    budget,
  })
  let seq = 0
  let emptiedAt = Number.NEGATIVE_INFINITY

  return {
    note(call: AnsweredCall) {
      // What was under way when the log was emptied is not about what comes after.
      if (call.began < emptiedAt) return
      const { body, answer, url, headers } = call
      const keptBody = body.length > LONGEST_TEXT ? undefined : body
      const keptAnswer = answer.length > LONGEST_TEXT ? undefined : answer
      const noted: NotedCall = {
        seq: ++seq,
        at: call.at,
        wallAt: call.wallAt,
        began: call.began,
        ended: call.ended,
        method: call.method,
        url,
        operation: call.operation,
        params: call.params,
        headers,
        body: keptBody,
        bodySize: body.length,
        status: call.status,
        answer: keptAnswer,
        answerSize: answer.length,
        rule: call.rule,
        fault: call.fault,
        replayed: call.replayed,
        size:
          CALL_SIZE +
          url.length +
          headersSize(headers) +
          (keptBody?.length ?? 0) +
          (keptAnswer?.length ?? 0),
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
      emptiedAt = realNow()
      ring.clear()
      return count
    },
  }
}

export type RequestLog = ReturnType<typeof createRequestLog>

// ---- how a call looks

export const requestId = ({ seq }: NotedCall): string => `req_${seq}`

export const pathOf = ({ url }: NotedCall): string => {
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}

/** The query as it came: texts, or lists of them where a name stands more than once. */
export function queryOf({ url }: NotedCall): Record<string, string | string[]> {
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
export function jsonOf(text: string | undefined): unknown {
  if (!text) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const shownHeaders = (headers: NotedCall['headers']) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      maskLogText(name),
      isSecretName(name) ? HIDDEN : maskLogText(String(value)),
    ]),
  )

/** What was answered: masked JSON, or the masked text of another kind. */
const shownAnswer = (answer: string | undefined): unknown =>
  answer ? maskValue(jsonOf(answer) ?? answer) : null

const iso = (ms: number) => new Date(ms).toISOString()
const round = (ms: number) => Math.round(ms * 1_000) / 1_000

/** A call in one line: all of it but headers and bodies. */
export const shownInShort = (call: NotedCall) => ({
  request_id: requestId(call),
  at: iso(call.at),
  wall_at: iso(call.wallAt),
  durationMs: round(call.ended - call.began),
  method: call.method,
  path: maskLogText(pathOf(call)),
  operation: call.operation ?? null,
  status: call.status ?? null,
  rule: call.rule ? maskLogText(call.rule) : null,
  fault: call.fault ?? null,
  replayed: call.replayed,
})

/** A call as the log shows it. */
export const shownRequest = (call: NotedCall): LoggedRequest => ({
  ...shownInShort(call),
  query: maskValue({ ...queryOf(call) }) as Record<string, unknown>,
  headers: shownHeaders(call.headers),
  body: maskValue(jsonOf(call.body) ?? null),
  body_size: call.bodySize,
  answer: shownAnswer(call.answer),
  answer_size: call.answerSize,
})
