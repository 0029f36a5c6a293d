import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type {
  RecordedBody,
  RecordedBytes,
  RecordedCall,
  RecordedHangUp,
  RecordedResponse,
} from '../../model/recording.ts'
import { type RequestObserver, recordedBytes, type SentResponse } from '../../world/recorder.ts'
import { BadRecording } from '../../world/recording.ts'
import { type ReplayDifference, responseDifference } from './differences.ts'
import { createDeferred, resolvesInTime } from './replay-runtime.ts'

const bufferOf = ({ text, base64 }: RecordedBytes): Buffer =>
  base64 === undefined ? Buffer.from(text ?? '') : Buffer.from(base64, 'base64')

/** The request line and headers, with the same bytes as recorded. */
function headOf({ method, url, http, headers }: RecordedCall): Buffer {
  const lines = [`${method} ${url} HTTP/${http}`]
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`)
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}

const headerOf = ({ headers }: RecordedCall, name: string) =>
  headers.find((_, i) => i % 2 === 1 && headers[i - 1]!.toLowerCase() === name)

const isChunked = (call: RecordedCall) => headerOf(call, 'transfer-encoding') !== undefined

const hasBody = (call: RecordedCall) =>
  isChunked(call) || Number(headerOf(call, 'content-length') ?? 0) > 0

// More than the sandbox reads of a body that it drops.
const MAX_FILLER = 17 * 1024 * 1024

/** Any body of the recorded length, for a call that was rejected by its headers: its own body is not recorded. */
const fillerOf = (call: RecordedCall) =>
  Buffer.alloc(Math.min(Number(headerOf(call, 'content-length') ?? 0), MAX_FILLER))

function bodyOf(call: RecordedCall, bytes: Buffer, isComplete: boolean): Buffer {
  if (!isChunked(call)) return bytes
  const chunk = bytes.length === 0 ? '' : `${bytes.length.toString(16)}\r\n`
  const end = `${bytes.length === 0 ? '' : '\r\n'}${isComplete ? '0\r\n\r\n' : ''}`
  return Buffer.concat([Buffer.from(chunk), bytes, Buffer.from(end)])
}

/** A call that is sent again. */
type ReplayedCall = {
  line: RecordedCall
  socket: Socket
  isBodySent: boolean
  bodyReceived: ReturnType<typeof createDeferred<void>>
  hungUp: ReturnType<typeof createDeferred<void>>
  response: ReturnType<typeof createDeferred<SentResponse>>
}

const labelOf = ({ line: { call, method, url, at } }: ReplayedCall) =>
  `call ${call}, ${method} ${url}, ${new Date(at).toISOString()}`

export type ReplayedCallsDeps = {
  /** Sets the time of the replay, ms since 1970. */
  setTime: (at: number) => void
  onDifference: (difference: ReplayDifference) => void
}

/** Sends the calls of a recording again and compares their responses with the recorded ones. */
export class ReplayedCalls {
  /** The number of calls sent. */
  sent = 0
  /** The port of the sandbox; set when it listens. */
  port = 0
  readonly #deps: ReplayedCallsDeps
  readonly #calls = new Map<number, ReplayedCall>()
  #expected: { call: ReplayedCall; onArrival: () => void } | undefined

  constructor(deps: ReplayedCallsDeps) {
    this.#deps = deps
  }

  /** Observes the requests of the sandbox. */
  readonly observer: RequestObserver = {
    onRequest: () => {
      const arrived = this.#expected
      this.#expected = undefined
      // The request of another program on this port.
      if (!arrived) return 0
      this.#deps.setTime(arrived.call.line.at)
      arrived.onArrival()
      return arrived.call.line.call
    },
    onBody: (id) => {
      const call = this.#calls.get(id)
      if (call?.line.body_at !== undefined) this.#deps.setTime(call.line.body_at)
      call?.bodyReceived.resolve()
    },
    onHangUp: (id) => this.#calls.get(id)?.hungUp.resolve(),
    onResponse: (id, response) => this.#calls.get(id)?.response.resolve(response),
  }

  /** The call with this id. Throws `BadRecording` if the recording names it before it starts. */
  #callOf(id: number, what: string): ReplayedCall {
    const call = this.#calls.get(id)
    if (!call) throw new BadRecording(`the ${what} call ${id} is recorded before the call`)
    return call
  }

  #differs(call: ReplayedCall, what: string): void {
    this.#deps.onDifference({ at: labelOf(call), what })
  }

  /** Sends a call again, without its body if the recording has another event before the body. */
  async send(line: RecordedCall): Promise<void> {
    const socket = connect(this.port, '127.0.0.1')
    // The observer sees the response; a connection error can be part of the recording.
    socket.on('error', () => {}).resume()
    await once(socket, 'connect')
    const withBody = hasBody(line) && line.body_later === undefined
    const call = {
      line,
      socket,
      isBodySent: withBody || !hasBody(line),
      bodyReceived: createDeferred<void>(),
      hungUp: createDeferred<void>(),
      response: createDeferred<SentResponse>(),
    }
    this.#calls.set(line.call, call)
    const arrival = createDeferred<void>()
    this.#expected = { call, onArrival: arrival.resolve }
    const body = withBody ? bodyOf(line, bufferOf(line), true) : Buffer.alloc(0)
    socket.write(Buffer.concat([headOf(line), body]))
    const isReceived = await resolvesInTime(withBody ? call.bodyReceived.promise : arrival.promise)
    if (!isReceived) this.#differs(call, 'does not reach the sandbox in the replay')
    this.sent++
  }

  async sendBody({ body: id, at, partial, ...bytes }: RecordedBody): Promise<void> {
    const call = this.#callOf(id, 'body of')
    call.line.body_at = at
    call.isBodySent = true
    const body = bodyOf(call.line, bufferOf(bytes), !partial)
    if (partial === 'hang_up') call.socket.end(body)
    else call.socket.write(body)
    const received = partial ? call.response.promise : call.bodyReceived.promise
    if (!(await resolvesInTime(received)))
      this.#differs(call, 'its body does not reach the sandbox in the replay')
  }

  async hangUp({ hang_up: id, at }: RecordedHangUp): Promise<void> {
    const call = this.#callOf(id, 'hang-up of')
    this.#deps.setTime(at)
    call.socket.destroy()
    if (!(await resolvesInTime(call.hungUp.promise)))
      this.#differs(call, 'its caller hung up in the recording, but the replay does not notice it')
  }

  async compareResponse(line: RecordedResponse): Promise<void> {
    const call = this.#callOf(line.response, 'response to')
    // The sandbox drops a rejected body before it responds, and waits two seconds for it.
    if (!call.isBodySent) call.socket.write(bodyOf(call.line, fillerOf(call.line), true))
    if (!(await resolvesInTime(call.response.promise)))
      return this.#differs(call, 'has a response in the recording, but not in the replay')
    const { body, ...head } = await call.response.promise
    const found = { response: line.response, ...head, ...recordedBytes(body) } as RecordedResponse
    const difference = responseDifference(labelOf(call), line, found)
    if (difference) this.#deps.onDifference(difference)
    this.#calls.delete(line.response)
    call.socket.destroy()
  }

  /** Ends the calls without a response. */
  close(): void {
    for (const { socket } of this.#calls.values()) socket.destroy()
  }
}
