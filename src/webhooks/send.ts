import { connect, isIP, type Socket } from 'node:net'
import type { Dispatcher } from 'undici'
import type { SendError } from '../model/delivery.ts'
import { type Later, realLater } from '../runtime/real-time.ts'
import type { SendRequest, SendResult } from '../runtime/runtime.ts'
import {
  type AddressPolicyDeps,
  createAddressPolicy,
  OWN_ORIGIN,
  readTarget,
  type Target,
} from './addresses.ts'
import {
  connectionBroke,
  explainFailure,
  explainTimeout,
  judgeResponse,
  type ReceiverResponse,
  readRetryAfter,
} from './send-errors.ts'

export type SenderDeps = AddressPolicyDeps & {
  /** The wall clock in ms; an HTTP date in `Retry-After` is compared with it. */
  wall: () => number
  later?: Later
  /** The origin at which the sandbox listens, if it does. */
  ownOrigin?: (() => string | undefined) | undefined
  /** The process does not stay alive for a connection. */
  unref?: boolean
}

// The maximum of concurrent attempts of all clients: hanging receivers leave file descriptors for the port.
const MAX_ATTEMPTS = 64
const DEADLINE_MS = 10_000
const MAX_READ_BYTES = 64 * 1024
const MAX_STORED_BYTES = 4 * 1024
const HEADER_BYTES = 16 * 1024

// The error codes of a connection that ended before the response was complete.
const LOST = new Set([
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_SOCKET',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
])

const STOPPING: SendError = { code: 'closed', message: 'the sandbox is stopping' }
const NO_PORT: SendError = { code: 'refused', message: 'the sandbox does not listen on a port' }
const STOPPED: SendError = {
  code: 'closed',
  message: 'the sandbox stopped before the response arrived',
}

/** The status and the used headers of a response. */
function headOf({ statusCode, headers }: Dispatcher.ResponseData): ReceiverResponse {
  const head: ReceiverResponse = { status: statusCode }
  for (const name of ['retry-after', 'location', 'content-encoding'] as const) {
    const value = [headers[name]].flat()[0]
    if (value !== undefined) head[name] = value
  }
  return head
}

const isCompressed = ({ 'content-encoding': encoding = '' }: ReceiverResponse) =>
  encoding !== '' && encoding.toLowerCase() !== 'identity'

/** The start of a body as text; it may end in the middle of a character. */
const textOf = (body: Buffer) =>
  new TextDecoder().decode(body.subarray(0, MAX_STORED_BYTES), { stream: true })

/** Runs at most `max` functions at the same time; the others wait in order. */
function createLimit(max: number) {
  let running = 0
  const waiting: (() => void)[] = []
  return async <T>(run: () => Promise<T>): Promise<T> => {
    if (running < max) running++
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await run()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}

const unsent = (error: SendError): SendResult => ({
  ok: false,
  response: '',
  truncated: false,
  duration_ms: 0,
  error,
})

function resultOf(
  wall: () => number,
  head: ReceiverResponse | undefined,
  body: Buffer,
  error: SendError | undefined,
  isWhole: boolean,
): Omit<SendResult, 'duration_ms'> {
  const unread = head && isCompressed(head) ? 0 : MAX_STORED_BYTES
  const after = head?.['retry-after']
  const wait = after === undefined ? undefined : readRetryAfter(after, wall())
  return {
    ok: isWhole && head!.status >= 200 && head!.status <= 299,
    response: unread === 0 ? '' : textOf(body),
    truncated: body.length > unread,
    ...(head && { status: head.status }),
    ...(wait !== undefined && { retryAfterMs: wait }),
    ...(error && { error }),
  }
}

/**
 * Creates the sender of webhooks: a connection for each attempt, one deadline for all of it, no redirects, a limit on the
 * response body, and only addresses that `allow` and the address rules permit.
 *
 * `send` never rejects. A 2xx whose body is too large or compressed counts as delivered (the receiver accepted the
 * event) with a remark in `error`; a 2xx whose body ends early or exceeds the deadline does not. Throws if an entry of
 * `allow` is not a host.
 */
export function createSender({
  wall,
  later = realLater,
  unref = false,
  ownOrigin = () => undefined,
  ...rules
}: SenderDeps) {
  const policy = createAddressPolicy(rules)
  const limited = createLimit(MAX_ATTEMPTS)
  const running = new Set<(error: SendError) => void>()
  let isClosed = false

  /** The target of a URL, or why nothing is sent there. */
  function resolveTarget(url: string): Target | SendError {
    const read = readTarget(url)
    if ('problem' in read) return { code: 'bad_request', message: `the URL ${read.problem}` }
    const refusal = policy.hostProblem(read.target.host)
    if (refusal !== undefined) return { code: 'address_not_allowed', message: refusal }
    return read.target
  }

  async function attempt(request: SendRequest, target: Target): Promise<SendResult> {
    if (isClosed) return unsent(STOPPING)
    const { method = 'POST', deadlineMs = DEADLINE_MS } = request
    const { host, origin, path } = target
    const startedAt = performance.now()
    // Loaded with the first attempt: most sandboxes send none.
    const { Client } = (await import('undici')).default
    const tls = await import('node:tls')
    let socket: Socket | undefined
    let head: ReceiverResponse | undefined
    let ended: SendError | undefined
    let error: SendError | undefined
    let isWhole = false
    let body = Buffer.alloc(0)
    const client = new Client(origin, {
      connect({ protocol, port }, done) {
        const isSecure = protocol === 'https:'
        const options = {
          host,
          port: Number(port) || (isSecure ? 443 : 80),
          lookup: policy.lookup,
          ...(isSecure && { ALPNProtocols: ['http/1.1'] }),
          ...(isIP(host) === 0 && { servername: host }),
        }
        const opened: Socket = isSecure ? tls.connect(options) : connect(options)
        socket = opened.setNoDelay()
        if (unref) socket.unref()
        socket.once(isSecure ? 'secureConnect' : 'connect', () => done(null, opened))
        socket.on('error', (cause) => done(cause, null))
      },
      maxHeaderSize: HEADER_BYTES,
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    function end(cause?: SendError) {
      ended ??= cause
      void client.destroy()
      socket?.destroy()
    }
    running.add(end)
    const endDeadline = later(deadlineMs, () =>
      end(explainTimeout(socket, head, target, deadlineMs)),
    )
    try {
      const response = await client.request({
        path,
        method,
        headers: { 'accept-encoding': 'identity', ...request.headers },
        body: method === 'GET' ? null : request.body,
      })
      head = headOf(response)
      for await (const chunk of response.body) {
        body = Buffer.concat([body, chunk])
        if (body.length > MAX_READ_BYTES) break
      }
      isWhole = true
      error = judgeResponse(head, isCompressed(head), body.length > MAX_READ_BYTES)
    } catch (cause) {
      const { code = '' } = cause as NodeJS.ErrnoException
      error =
        ended ??
        (head && LOST.has(code)
          ? connectionBroke(target, body.length)
          : explainFailure(cause as Error, target))
    } finally {
      endDeadline()
      running.delete(end)
      end()
    }
    return {
      ...resultOf(wall, head, body, error, isWhole),
      duration_ms: Math.round(performance.now() - startedAt),
    }
  }

  return {
    /** Makes one attempt and returns its result; never rejects. It may wait for others first, outside its deadline. */
    async send(request: SendRequest): Promise<SendResult> {
      if (isClosed) return unsent(STOPPING)
      const own = ownOrigin()
      if (own === undefined && request.url.startsWith(OWN_ORIGIN)) return unsent(NO_PORT)
      const target = resolveTarget(request.url.replace(OWN_ORIGIN, own ?? OWN_ORIGIN))
      return 'code' in target ? unsent(target) : limited(() => attempt(request, target))
    },
    /** Ends running attempts (`closed`) and rejects later ones. */
    close() {
      isClosed = true
      for (const end of running) end(STOPPED)
    },
  }
}
