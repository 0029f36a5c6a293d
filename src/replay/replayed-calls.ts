import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type {
  RecordedBody,
  RecordedBytes,
  RecordedCall,
  RecordedHangUp,
  RecordedResponse,
} from '../model/recording.ts'
import { type RequestObserver, recordedBytes, type SentResponse } from '../world/recorder.ts'
import { createDeferred, resolvesInTime } from './deferred.ts'
import { type ReplayDifference, responseDifference } from './differences.ts'
import { BadRecording } from './recording.ts'

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
  bodyReceived: ReturnType<typeof createDeferred<void>>
  hungUp: ReturnType<typeof createDeferred<void>>
  response: ReturnType<typeof createDeferred<SentResponse>>
}

const labelOf = ({ line: { call, method, url, at } }: ReplayedCall) =>
  `call ${call}, ${method} ${url}, ${new Date(at).toISOString()}`

/** Sends the recorded calls again, and compares the responses. */
export class ReplayedCalls {
  /** The number of calls that were sent. */
  count = 0
  /** Observes the requests of the sandbox that is replayed. */
  readonly watch: RequestObserver
  readonly #setTime: (at: number) => void
  readonly #onDifference: (found: ReplayDifference) => void
  readonly #calls = new Map<number, ReplayedCall>()
  #port = 0
  #expected: { call: ReplayedCall; onArrival: () => void } | undefined

  constructor(setTime: (at: number) => void, onDifference: (found: ReplayDifference) => void) {
    this.#setTime = setTime
    this.#onDifference = onDifference
    this.watch = {
      onRequest: () => this.#onRequest(),
      onBody: (id) => {
        const call = this.#calls.get(id)
        if (call?.line.body_at !== undefined) setTime(call.line.body_at)
        call?.bodyReceived.resolve()
      },
      onHangUp: (id) => this.#calls.get(id)?.hungUp.resolve(),
      onResponse: (id, response) => this.#calls.get(id)?.response.resolve(response),
    }
  }

  /** Sets the port to which calls are sent. */
  setPort(port: number): void {
    this.#port = port
  }

  /** Closes all connections. */
  close(): void {
    for (const { socket } of this.#calls.values()) socket.destroy()
  }

  #onRequest(): number {
    const arrived = this.#expected
    this.#expected = undefined
    // The request of another program on this port.
    if (!arrived) return 0
    this.#setTime(arrived.call.line.at)
    arrived.onArrival()
    return arrived.call.line.call
  }

  /** Sends a call again, without its body if the recording has another event before the body. */
  async send(line: RecordedCall): Promise<void> {
    const socket = connect(this.#port, '127.0.0.1')
    // `onResponse` sees the response; a connection error can be part of the recording.
    socket.on('error', () => {}).resume()
    await once(socket, 'connect')
    const call = {
      line,
      socket,
      bodyReceived: createDeferred<void>(),
      hungUp: createDeferred<void>(),
      response: createDeferred<SentResponse>(),
    }
    this.#calls.set(line.call, call)
    const arrival = createDeferred<void>()
    this.#expected = { call, onArrival: arrival.resolve }
    const withBody = hasBody(line) && line.body_later === undefined
    const body = withBody ? bodyOf(line, bufferOf(line), true) : Buffer.alloc(0)
    socket.write(Buffer.concat([headOf(line), body]))
    const isReceived = await resolvesInTime(withBody ? call.bodyReceived.promise : arrival.promise)
    if (!isReceived)
      this.#onDifference({ at: labelOf(call), what: 'does not reach the sandbox in the replay' })
    this.count++
  }

  async sendBody({ body: id, at, partial, ...bytes }: RecordedBody): Promise<void> {
    const call = this.#calls.get(id)
    if (!call) throw new BadRecording(`the body of call ${id} is recorded before the call`)
    call.line.body_at = at
    const body = bodyOf(call.line, bufferOf(bytes), !partial)
    if (partial === 'hang_up') call.socket.end(body)
    else call.socket.write(body)
    const received = partial ? call.response.promise : call.bodyReceived.promise
    if (!(await resolvesInTime(received)))
      this.#onDifference({
        at: labelOf(call),
        what: 'its body does not reach the sandbox in the replay',
      })
  }

  async hangUp({ hang_up: id, at }: RecordedHangUp): Promise<void> {
    const call = this.#calls.get(id)
    if (!call) throw new BadRecording(`the hang-up of call ${id} is recorded before the call`)
    this.#setTime(at)
    call.socket.destroy()
    if (!(await resolvesInTime(call.hungUp.promise)))
      this.#onDifference({
        at: labelOf(call),
        what: 'its caller hung up in the recording, but the replay does not notice it',
      })
  }

  async compareResponse(line: RecordedResponse): Promise<void> {
    const call = this.#calls.get(line.response)
    if (!call)
      throw new BadRecording(`the response to call ${line.response} is recorded before the call`)
    if (!(await resolvesInTime(call.response.promise))) {
      this.#onDifference({
        at: labelOf(call),
        what: 'has a response in the recording, but not in the replay',
      })
      return
    }
    const { body, ...head } = await call.response.promise
    const found = { response: line.response, ...head, ...recordedBytes(body) } as RecordedResponse
    const difference = responseDifference(labelOf(call), line, found)
    if (difference) this.#onDifference(difference)
    this.#calls.delete(line.response)
    call.socket.destroy()
  }
}
