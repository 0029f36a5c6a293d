import http, { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import https from 'node:https'
import {
  type AddressPolicyDeps,
  createAddressPolicy,
  readTarget,
  type Target,
} from './addresses.ts'
import {
  explainFailure,
  explainTimeout,
  judgeAnswer,
  readRetryAfter,
  type SendError,
} from './send-errors.ts'

/**
 * One attempt to make: POST `body` to `url`, or GET it. `deadlineMs` is real time for the whole of it, 10,000 unless given.
 * `host`, `content-length`, `connection` and `accept-encoding` are set by the sender and must not be in `headers`.
 */
export type SendRequest = {
  method?: 'POST' | 'GET'
  url: string
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array
  deadlineMs?: number
}

/** How an attempt ended. `ok`: a 2xx answer arrived whole, or as far as it is read. */
export type SendResult = {
  ok: boolean
  /** Known as soon as the answer's headers came, also where the attempt failed after that. */
  status?: number
  headers?: IncomingHttpHeaders
  /** The first 4 KiB of the answer as text; empty for a compressed one, which is not unpacked. */
  answer: string
  /** The answer had more than `answer` shows. */
  truncated: boolean
  durationMs: number
  /** What `Retry-After` asks for, ms from now; absent without a readable one. */
  retryAfterMs?: number
  error?: SendError
}

export type SenderDeps = AddressPolicyDeps & {
  /** The wall clock in ms; an HTTP date in `Retry-After` is held against it. */
  wall: () => number
  /** Connections at once to one receiver; 256 unless given. An attempt that waits for one uses up its deadline. */
  maxSockets?: number
}

const DEADLINE_MS = 10_000
// A receiver that is not sent to for this long, real ms, has its connections closed.
const IDLE_MS = 15_000
const READ_BYTES = 64 * 1024
const KEPT_BYTES = 4 * 1024
// A client has one webhook, so a table of this size hardly ever starts over.
const MAX_TARGETS = 1_024

/** Text of bytes that may be cut inside a character. */
const textOf = (bytes: Buffer[]) => new TextDecoder().decode(Buffer.concat(bytes), { stream: true })

/**
 * Makes the sender of webhooks: keep-alive connections, one deadline for a whole attempt, no redirects, a capped
 * look at the answer, and only to addresses that `allow` and the address rules permit.
 *
 * `send` never rejects. A 2xx whose body is too large or compressed is delivered (the receiver took the event) with
 * a remark in `error`; one whose body breaks off or outlasts the deadline is not. A reused connection that turns out
 * to be closed before a byte of the answer is replaced once inside the same attempt: the receiver closed it while
 * idle, which is no failure of its own. Throws where an entry of `allow` is no host.
 */
export function createSender({ wall, maxSockets = 256, ...rules }: SenderDeps) {
  const policy = createAddressPolicy(rules)
  // `timeout` ends idle connections only: for a busy one Node just emits an event, which nobody hears.
  const pooled = { keepAlive: true, maxSockets, timeout: IDLE_MS, lookup: policy.lookup }
  // For the second try on a surely new connection: this pool keeps none.
  const unpooled = { ...pooled, maxFreeSockets: 0 }
  const agents = {
    http: { pooled: new http.Agent(pooled), fresh: new http.Agent(unpooled) },
    https: { pooled: new https.Agent(pooled), fresh: new https.Agent(unpooled) },
  }
  const targets = new Map<string, Target | SendError>()
  const active = new Set<() => void>()
  let closed = false

  function targetOf(url: string): Target | SendError {
    const known = targets.get(url)
    if (known) return known
    const read = readTarget(url)
    const refusal = 'target' in read ? policy.refuseHost(read.target.host) : undefined
    let found: Target | SendError
    if ('problem' in read) found = { code: 'bad_request', message: `the URL ${read.problem}` }
    else found = refusal === undefined ? read.target : { code: 'address_refused', message: refusal }
    if (targets.size >= MAX_TARGETS) targets.clear()
    targets.set(url, found)
    return found
  }

  function run(request: SendRequest, target: Target, resolve: (result: SendResult) => void) {
    const startedAt = performance.now()
    const { method = 'POST', deadlineMs = DEADLINE_MS } = request
    const kept: Buffer[] = []
    let received = 0
    let keptBytes = 0
    let settled = false
    let req: ClientRequest | undefined
    let res: IncomingMessage | undefined

    function settle(error: SendError | undefined, ok = false) {
      if (settled) return
      settled = true
      clearTimeout(timer)
      active.delete(cancel)
      const result: SendResult = {
        ok,
        answer: keptBytes === 0 || packed() ? '' : textOf(kept),
        truncated: received > keptBytes || (received > 0 && packed()),
        durationMs: Math.round(performance.now() - startedAt),
      }
      if (res) {
        result.status = res.statusCode!
        result.headers = res.headers
        const after = res.headers['retry-after']
        const wait = after === undefined ? undefined : readRetryAfter(after, wall())
        if (wait !== undefined) result.retryAfterMs = wait
      }
      if (error) result.error = error
      resolve(result)
    }
    const packed = () => !/^(identity)?$/i.test(res?.headers['content-encoding'] ?? '')
    const fail = (error: SendError) => {
      if (settled) return
      settle(error)
      req?.destroy()
    }
    const answered = (tooLarge: boolean) => {
      const status = res!.statusCode!
      settle(judgeAnswer(res!, packed(), tooLarge), status >= 200 && status <= 299)
    }
    const brokenOff = (): SendError => ({
      code: 'reset_body',
      message: `${target.authority} began to answer, but the connection broke off after ${received} bytes`,
    })
    const cancel = () =>
      fail({ code: 'closed', message: 'the sandbox stopped before the answer was there' })
    const timer = setTimeout(() => fail(explainTimeout(req, res, target, deadlineMs)), deadlineMs)

    function onResponse(message: IncomingMessage) {
      res = message
      message.on('data', (chunk: Buffer) => {
        received += chunk.length
        if (keptBytes < KEPT_BYTES) {
          const part = chunk.subarray(0, KEPT_BYTES - keptBytes)
          keptBytes += part.length
          kept.push(part)
        }
        if (received <= READ_BYTES) return
        answered(true)
        req?.destroy()
      })
      message.on('end', () => answered(false))
      message.on('error', () => fail(brokenOff()))
    }

    // A flat list is written as it is, a seventh faster than an object; Node then adds no host or length of its own.
    const headers = [
      ...['host', target.authority, 'accept-encoding', 'identity'],
      ...(method === 'GET' ? [] : ['content-length', String(Buffer.byteLength(request.body))]),
    ]
    for (const name in request.headers) headers.push(name, request.headers[name]!)

    function start(fresh: boolean) {
      const { request: open } = target.secure ? https : http
      const agent = agents[target.secure ? 'https' : 'http'][fresh ? 'fresh' : 'pooled']
      const { host, port, path } = target
      const current = open({ agent, host, port, path, method, headers })
      let readBefore = 0
      req = current
      current.on('socket', (socket) => {
        readBefore = socket.bytesRead
      })
      current.on('response', onResponse)
      current.on('error', (error: NodeJS.ErrnoException) => {
        if (settled || current !== req) return
        const lost = error.code === 'ECONNRESET' || error.code === 'EPIPE'
        const silent = res === undefined && current.socket?.bytesRead === readBefore
        if (!fresh && current.reusedSocket && lost && silent) start(true)
        else fail(res && lost ? brokenOff() : explainFailure(error, target))
      })
      // The last net: whatever ends a request without an answer or an error, as an upgrade (101) does.
      current.on('close', () => {
        if (current !== req) return
        if (res && !res.complete) return fail(brokenOff())
        fail({
          code: 'no_answer',
          message: `${target.authority} ended the connection without an answer`,
        })
      })
      current.end(request.body)
    }

    active.add(cancel)
    try {
      start(false)
    } catch (error) {
      fail({
        code: 'bad_request',
        message: `the request can't be sent: ${(error as Error).message}`,
      })
    }
  }

  return {
    /** Makes one attempt and says how it ended; it never rejects. */
    send(request: SendRequest): Promise<SendResult> {
      const unsent = { ok: false, answer: '', truncated: false, durationMs: 0 }
      if (closed)
        return Promise.resolve({
          ...unsent,
          error: { code: 'closed', message: 'the sandbox is stopping' },
        })
      const target = targetOf(request.url)
      if ('code' in target) return Promise.resolve({ ...unsent, error: target })
      return new Promise((resolve) => run(request, target, resolve))
    },
    /** Ends running attempts (`closed`), drops idle connections and refuses what comes after. */
    close() {
      closed = true
      for (const cancel of [...active]) cancel()
      for (const { pooled: idle, fresh } of Object.values(agents)) {
        idle.destroy()
        fresh.destroy()
      }
    },
  }
}

/** The sender of webhooks. */
export type Sender = ReturnType<typeof createSender>
