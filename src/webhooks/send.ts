import type { Dispatcher } from 'undici'
import type { SendError } from '../model/send-error.ts'
import { type Later, realLater } from '../runtime/real-time.ts'
import type { SendRequest, SendResult } from '../runtime/runtime.ts'
import {
  type AddressPolicyDeps,
  createAddressPolicy,
  readTarget,
  type Target,
} from './addresses.ts'
import type { Connection, Connections, Waiter } from './connections.ts'
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
  /**
   * Maximum open connections to one receiver (default: 256). Waiting for a connection counts towards the deadline of an
   * attempt.
   */
  maxSockets?: number
  later?: Later
  /** The process does not stay alive for a connection. */
  unref?: boolean
  /** Maximum open connections in total (default: 256); idle ones are closed for new ones. */
  maxOpen?: number | undefined
  /** Called for each attempt that fails because the process or the system has no free file descriptor. */
  onDescriptorLimit?: () => void
}

const DEADLINE_MS = 10_000
const MAX_READ_BYTES = 64 * 1024
const MAX_STORED_BYTES = 4 * 1024
// A client has one webhook, so a cache of this size is rarely cleared.
const MAX_TARGETS = 1_024

/** Decodes bytes that may end in the middle of a character. */
const textOf = (bytes: Buffer[]) => new TextDecoder().decode(Buffer.concat(bytes), { stream: true })

// The error codes of a connection that ended before the response was complete.
const LOST = new Set([
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_SOCKET',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
])

const NO_DESCRIPTOR = new Set(['EMFILE', 'ENFILE'])

// Indexed by length, because lengths compare faster than names.
const USED_HEADERS = new Map(
  (['retry-after', 'location', 'content-encoding'] as const).map((name) => [name.length, name]),
)

const isCompressed = ({ 'content-encoding': encoding = '' }: ReceiverResponse) =>
  encoding !== '' && encoding.toLowerCase() !== 'identity'

/** Reads the used headers of a response. */
function readHead(status: number, rawHeaders: Buffer[]): ReceiverResponse {
  const response: ReceiverResponse = { status }
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = USED_HEADERS.get(rawHeaders[i]!.length)
    if (name && rawHeaders[i]!.toString('latin1').toLowerCase() === name)
      response[name] ??= rawHeaders[i + 1]!.toString('latin1')
  }
  return response
}

type OnSettled = (attempt: SendAttempt, result: SendResult) => void

/** A running attempt: from waiting for a connection to its result. */
class SendAttempt implements Dispatcher.DispatchHandlers, Waiter {
  settled = false
  private readonly startedAt = performance.now()
  private readonly endDeadline: () => void
  private readonly bodyStart: Buffer[] = []
  private received = 0
  private bodyStartBytes = 0
  private response: ReceiverResponse | undefined
  private connection: Connection | undefined
  private bytesReadBefore = 0
  private isRetried = false
  private readonly request: SendRequest
  private readonly target: Target
  private readonly connections: Connections
  private readonly wall: () => number
  private readonly onSettled: OnSettled
  private readonly onDescriptorLimit: (() => void) | undefined

  constructor(
    request: SendRequest,
    target: Target,
    connections: Connections,
    wall: () => number,
    later: Later,
    onSettled: OnSettled,
    onDescriptorLimit?: () => void,
  ) {
    this.request = request
    this.target = target
    this.connections = connections
    this.wall = wall
    this.onSettled = onSettled
    this.onDescriptorLimit = onDescriptorLimit
    const { deadlineMs = DEADLINE_MS } = request
    this.endDeadline = later(deadlineMs, () => this.expire(deadlineMs))
  }

  take(connection: Connection) {
    this.connection = connection
    const { method = 'POST', headers, body } = this.request
    connection.client.dispatch(
      {
        path: this.target.path,
        method,
        headers: { 'accept-encoding': 'identity', ...headers },
        body: method === 'GET' ? null : body,
      },
      this,
    )
  }

  cancel() {
    this.fail({ code: 'closed', message: 'the sandbox stopped before the response arrived' })
  }

  private expire(ms: number) {
    this.fail(explainTimeout(this.connection, this.response, this.target, ms))
  }

  private fail(error: SendError) {
    this.settle(error)
    if (this.connection) this.connections.drop(this.connection)
  }

  private judge(isTooLarge: boolean) {
    const response = this.response!
    const isOk = response.status >= 200 && response.status <= 299
    this.settle(judgeResponse(response, isCompressed(response), isTooLarge), isOk)
  }

  private settle(error: SendError | undefined, ok = false) {
    this.settled = true
    this.endDeadline()
    const { response, bodyStart, bodyStartBytes, received } = this
    const compressed = response !== undefined && isCompressed(response)
    const result: SendResult = {
      ok,
      response: bodyStartBytes === 0 || compressed ? '' : textOf(bodyStart),
      truncated: received > bodyStartBytes || (received > 0 && compressed),
      duration_ms: Math.round(performance.now() - this.startedAt),
    }
    if (response) {
      result.status = response.status
      const after = response['retry-after']
      const wait = after === undefined ? undefined : readRetryAfter(after, this.wall())
      if (wait !== undefined) result.retryAfterMs = wait
    }
    if (error) result.error = error
    this.onSettled(this, result)
  }

  // ---- callbacks of the connection

  onConnect() {
    this.bytesReadBefore = this.connection!.socket!.bytesRead
  }

  onHeaders(status: number, rawHeaders: Buffer[]) {
    // Ignores 1xx responses such as early hints.
    if (status >= 200) this.response = readHead(status, rawHeaders)
    return true
  }

  onData(chunk: Buffer) {
    this.received += chunk.length
    if (this.bodyStartBytes < MAX_STORED_BYTES) {
      const part = chunk.subarray(0, MAX_STORED_BYTES - this.bodyStartBytes)
      this.bodyStartBytes += part.length
      this.bodyStart.push(part)
    }
    if (this.received > MAX_READ_BYTES && !this.settled) {
      this.judge(true)
      this.connections.drop(this.connection!)
    }
    return true
  }

  onComplete() {
    if (this.settled) return
    this.judge(false)
    this.connections.release(this.connection!)
  }

  onError(error: NodeJS.ErrnoException) {
    if (this.settled) return
    const { connection, response, target } = this
    if (NO_DESCRIPTOR.has(error.code ?? '')) this.onDescriptorLimit?.()
    const isLost = LOST.has(error.code ?? '')
    const isSilent = !response && connection!.socket?.bytesRead === this.bytesReadBefore
    if (isLost && isSilent && connection!.reused && !this.isRetried) {
      this.isRetried = true
      this.take(this.connections.replace(connection!))
    } else
      this.fail(
        response && isLost ? connectionBroke(target, this.received) : explainFailure(error, target),
      )
  }
}

/**
 * Creates the sender of webhooks: keep-alive connections, one deadline for a whole attempt, no redirects, a limit on
 * the response body, and only addresses that `allow` and the address rules permit.
 *
 * `send` never rejects. A 2xx whose body is too large or compressed counts as delivered (the receiver accepted the
 * event) with a remark in `error`; a 2xx whose body ends early or exceeds the deadline does not. If a reused
 * connection is closed before the first byte of the response, it is replaced once within the same attempt: the
 * receiver closed it while it was idle. Throws if an entry of `allow` is not a host.
 */
export function createSender({
  wall,
  maxSockets = 256,
  later = realLater,
  unref = false,
  maxOpen = 256,
  onDescriptorLimit,
  ...rules
}: SenderDeps) {
  const policy = createAddressPolicy(rules)
  const targets = new Map<string, Target | SendError>()
  const active = new Set<SendAttempt>()
  let connections: Connections | undefined
  let closed = false

  function resolveTarget(url: string): Target | SendError {
    const known = targets.get(url)
    if (known) return known
    const read = readTarget(url)
    const refusal = 'target' in read ? policy.hostProblem(read.target.host) : undefined
    let found: Target | SendError
    if ('problem' in read) found = { code: 'bad_request', message: `the URL ${read.problem}` }
    else
      found =
        refusal === undefined ? read.target : { code: 'address_not_allowed', message: refusal }
    if (targets.size >= MAX_TARGETS) targets.clear()
    targets.set(url, found)
    return found
  }

  /** The HTTP client is loaded with the first attempt: most sandboxes send none. */
  async function load() {
    const { createConnections } = await import('./connections.ts')
    connections ??= createConnections({
      lookup: policy.lookup,
      maxPerReceiver: maxSockets,
      maxOpen,
      unref,
    })
    return connections
  }

  const unsent = (error: SendError): Promise<SendResult> =>
    Promise.resolve({ ok: false, response: '', truncated: false, duration_ms: 0, error })
  const stopping: SendError = { code: 'closed', message: 'the sandbox is stopping' }

  function run(request: SendRequest, target: Target, ready: Connections): Promise<SendResult> {
    if (closed) return unsent(stopping)
    return new Promise((resolve) => {
      const settle: OnSettled = (settled, result) => {
        active.delete(settled)
        resolve(result)
      }
      const attempt = new SendAttempt(
        request,
        target,
        ready,
        wall,
        later,
        settle,
        onDescriptorLimit,
      )
      active.add(attempt)
      ready.wait(target, attempt)
    })
  }

  return {
    /** Makes one attempt and returns its result; never rejects. */
    send(request: SendRequest): Promise<SendResult> {
      if (closed) return unsent(stopping)
      const target = resolveTarget(request.url)
      if ('code' in target) return unsent(target)
      if (connections) return run(request, target, connections)
      return load().then((ready) => run(request, target, ready))
    },
    /** Ends running attempts (`closed`), closes idle connections and rejects later attempts. */
    close() {
      closed = true
      for (const attempt of [...active]) attempt.cancel()
      connections?.close()
    },
  }
}
