import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import type { RequestOptions } from 'node:https'
import { isIP, type Socket } from 'node:net'
import type { SendError } from '../model/delivery.ts'
import { type Later, realLater } from '../runtime/real-time.ts'
import type { SendRequest, SendResult } from '../runtime/runtime.ts'
import {
  type AddressPolicyDeps,
  createAddressPolicy,
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
  sendError,
  unrequested,
} from './send-errors.ts'

export type SenderDeps = AddressPolicyDeps & {
  /** The wall clock in ms; an HTTP date in `Retry-After` is compared with it. */
  wall: () => number
  later?: Later
  /** The process does not stay alive for a connection. */
  unref?: boolean
}

const DEADLINE_MS = 10_000
const MAX_READ_BYTES = 64 * 1024
const MAX_STORED_BYTES = 4 * 1024
const HEADER_BYTES = 16 * 1024

// How long a connection stays open for the next attempt, ms: long enough for a burst, too short to keep a receiver that
// serves one connection at a time from its other callers, or to outlive what a receiver allows.
const IDLE_MS = 200

const HANG_UP = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })

const STOPPING = sendError('closed', 'the sandbox is stopping')
const STOPPED = sendError('closed', 'the sandbox stopped before the response arrived')

function headOf({ statusCode, headers }: IncomingMessage): ReceiverResponse {
  const head: ReceiverResponse = { status: statusCode! }
  for (const name of ['retry-after', 'location', 'content-encoding'] as const)
    if (headers[name] !== undefined) head[name] = headers[name]
  return head
}

const isCompressed = ({ 'content-encoding': encoding = '' }: ReceiverResponse) =>
  encoding !== '' && encoding.toLowerCase() !== 'identity'

/** The start of a body as text; it may end in the middle of a character. */
const textOf = (body: Buffer) =>
  new TextDecoder().decode(body.subarray(0, MAX_STORED_BYTES), { stream: true })

export const unsent = (error: SendError): SendResult => ({
  ok: false,
  response: '',
  truncated: false,
  duration_ms: 0,
  error,
})

function resultOf(wall: () => number, { head, body, error, isWhole }: Exchange) {
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

/** The part of a response that has arrived. */
type Exchange = {
  head?: ReceiverResponse
  body: Buffer
  isWhole: boolean
  error?: SendError | undefined
}

type ExchangeDeps = Required<Pick<SenderDeps, 'later' | 'unref'>> & {
  request: (options: RequestOptions) => ClientRequest
  agent: http.Agent
  /** What ends each exchange that runs. */
  running: Set<(error: SendError) => void>
}

/** Sends a request and reads the response; resolves, with what has arrived by then, when either ends. */
function exchange(
  { request, agent, later, unref, running }: ExchangeDeps,
  { method = 'POST', headers, body, deadlineMs = DEADLINE_MS }: SendRequest,
  target: Target,
): Promise<Exchange> {
  const { host, port, path, authority } = target
  const seen: Exchange = { body: Buffer.alloc(0), isWhole: false }
  return new Promise((resolve) => {
    let outgoing: ClientRequest | undefined
    let socket: Socket | undefined
    function end(error: SendError | undefined, isWhole = false) {
      if (!running.delete(end)) return
      endDeadline()
      if (!isWhole) outgoing?.destroy()
      // Two turns of the event loop later, the close of a receiver that closes without saying so has arrived, so that
      // the next attempt doesn't use the connection.
      const result = Object.assign(seen, { error, isWhole })
      setImmediate(() => setImmediate(resolve, result))
    }
    function fail(cause: NodeJS.ErrnoException) {
      const isLost = cause.code === 'ECONNRESET' || cause.code === 'EPIPE'
      if (seen.head && isLost) end(connectionBroke(target, seen.body.length))
      else end(explainFailure(cause, target))
    }
    function read(response: IncomingMessage) {
      const head = headOf(response)
      seen.head = head
      const judge = () => {
        const isTooLarge = seen.body.length > MAX_READ_BYTES
        end(judgeResponse(head, isCompressed(head), isTooLarge), true)
        if (isTooLarge) outgoing?.destroy()
      }
      response.on('error', fail).on('end', judge)
      response.on('data', (chunk) => {
        seen.body = Buffer.concat([seen.body, chunk])
        if (seen.body.length > MAX_READ_BYTES) judge()
      })
    }
    running.add(end)
    const endDeadline = later(deadlineMs, () =>
      end(explainTimeout(socket, seen.head, target, deadlineMs)),
    )
    try {
      outgoing = request({
        ...{ agent, host, port, path, method, maxHeaderSize: HEADER_BYTES },
        servername: isIP(host) === 0 ? host : '',
        headers: {
          host: authority,
          connection: 'keep-alive',
          'accept-encoding': 'identity',
          ...headers,
          ...(method === 'POST' && { 'content-length': Buffer.byteLength(body) }),
        },
      })
      outgoing.on('error', fail).on('response', read)
      // Also the end of a connection that switches protocols, which is no error.
      outgoing.on('close', () => fail(HANG_UP))
      // The sender asked for nothing of the kind, and a final response may never follow.
      outgoing.on('continue', () => end(unrequested(target)))
      outgoing.on('socket', (used) => {
        socket = used
        if (unref) used.unref()
      })
      outgoing.end(method === 'GET' ? undefined : body)
    } catch (cause) {
      end(sendError('bad_request', `the request can't be sent: ${(cause as Error).message}`))
    }
  })
}

/**
 * Creates the sender of webhooks. A 2xx whose body is too large or compressed counts as delivered, with a remark in `error`;
 * one whose body ends early or exceeds the deadline does not. Throws if an entry of `allow` is not a host.
 */
export function createSender({ wall, later = realLater, unref = false, ...rules }: SenderDeps) {
  const policy = createAddressPolicy(rules)
  const running = new Set<(error: SendError) => void>()
  const agents = new Map<string, http.Agent>()
  let isClosed = false

  /** The client of a protocol with its connections; TLS is loaded when it is needed. */
  async function depsFor({ protocol }: Target): Promise<ExchangeDeps> {
    const client = protocol === 'https:' ? (await import('node:https')).default : http
    const options = { keepAlive: true, timeout: IDLE_MS, lookup: policy.lookup }
    const agent = agents.get(protocol) ?? new client.Agent(options)
    agents.set(protocol, agent)
    return { request: client.request, agent, later, unref, running }
  }

  function resolveTarget(url: string): Target | SendError {
    const read = readTarget(url)
    if ('problem' in read) return sendError('bad_request', `the URL ${read.problem}`)
    const refusal = policy.hostProblem(read.target.host)
    return refusal === undefined ? read.target : sendError('address_not_allowed', refusal)
  }

  async function attempt(request: SendRequest, target: Target): Promise<SendResult> {
    if (isClosed) return unsent(STOPPING)
    const startedAt = performance.now()
    const seen = await exchange(await depsFor(target), request, target)
    return { ...resultOf(wall, seen), duration_ms: Math.round(performance.now() - startedAt) }
  }

  return {
    /** Makes one attempt and returns its result; never rejects. */
    async send(request: SendRequest): Promise<SendResult> {
      if (isClosed) return unsent(STOPPING)
      const target = resolveTarget(request.url)
      return 'code' in target ? unsent(target) : attempt(request, target)
    },
    /** Ends running attempts (`closed`) and rejects later ones. */
    close() {
      isClosed = true
      for (const end of running) end(STOPPED)
      for (const agent of agents.values()) agent.destroy()
    },
  }
}
