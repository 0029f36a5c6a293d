import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { swapDashes } from '../config/options.ts'
import { VERSION } from '../config/version.ts'
import { fixturesOf } from '../content/fixtures.ts'
import type {
  RecordedBody,
  RecordedBytes,
  RecordedCall,
  RecordedHangUp,
  RecordedResponse,
  RecordingLine,
  RecordingStart,
} from '../model/recording.ts'
import { compileScenario } from '../scenarios/compile.ts'
import { createLibrary, loadReader } from '../scenarios/library.ts'
import { assemble, optionsOf } from '../server.ts'
import { type RequestObserver, recordedBytes, type SentResponse } from '../world/recorder.ts'
import type { Log } from '../world/sandbox.ts'
import { createDeferred, resolvesInTime } from './deferred.ts'
import { type ReplayDifference, responseDifference } from './differences.ts'
import { BadRecording, readRecording } from './recording.ts'
import { createReplayRuntime } from './replay-runtime.ts'
import { createTimerCheck } from './timer-check.ts'

/** The result of a replay. */
export type ReplayResult = {
  calls: number
  /** The number of webhook attempts, and by event. */
  webhooks: number
  webhook_events: Record<string, number>
  /** The number of client timers that ran, also within a call that moved the clock, and by kind. */
  timers: number
  timer_kinds: Record<string, number>
  /** The first difference from the recording. */
  difference: ReplayDifference | undefined
  /** Further information for the user. */
  notes: string[]
}

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

/**
 * Replays a recording in a new sandbox in this process, and compares every response and every webhook with the recorded
 * one, byte for byte, up to the first difference. Sends no webhook to a receiver. Throws `BadRecording`.
 */
export async function replayRun(text: string, log: Log): Promise<ReplayResult> {
  const recording = readRecording(text)
  const { start, lines, isTorn } = recording
  const notes: string[] = []
  let calls = 0
  let difference: ReplayDifference | undefined
  let isFinished = false
  if (isTorn) notes.push('the last line is incomplete and was ignored')
  if (start.version !== VERSION)
    notes.push(`recorded by version ${start.version}, replayed by ${VERSION}`)
  const onDifference = (found: ReplayDifference) => {
    // Calls and timers that end because the replay stops are not part of the run.
    if (!isFinished) difference ??= found
  }

  const replay = createReplayRuntime(recording, onDifference)
  const timers = createTimerCheck(recording, onDifference)
  const replayedCalls = new Map<number, ReplayedCall>()
  let expected: { call: ReplayedCall; onArrival: () => void } | undefined
  const watch: RequestObserver = {
    onRequest() {
      const arrived = expected
      expected = undefined
      // The request of another program on this port.
      if (!arrived) return 0
      replay.setTime(arrived.call.line.at)
      arrived.onArrival()
      return arrived.call.line.call
    },
    onBody(id) {
      const call = replayedCalls.get(id)
      if (call?.line.body_at !== undefined) replay.setTime(call.line.body_at)
      call?.bodyReceived.resolve()
    },
    onHangUp: (id) => replayedCalls.get(id)?.hungUp.resolve(),
    onResponse: (id, response) => replayedCalls.get(id)?.response.resolve(response),
  }

  await loadReader()
  const { sandbox, app } = await assembleRecorded(
    start,
    { runtime: () => replay.runtime, timerRan: timers.onTimer, watch },
    log,
  )
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo

  /** Sends a call again, without its body if the recording has another event before the body. */
  async function sendCall(line: RecordedCall) {
    const socket = connect(port, '127.0.0.1')
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
    replayedCalls.set(line.call, call)
    const arrival = createDeferred<void>()
    expected = { call, onArrival: arrival.resolve }
    const withBody = hasBody(line) && line.body_later === undefined
    const body = withBody ? bodyOf(line, bufferOf(line), true) : Buffer.alloc(0)
    socket.write(Buffer.concat([headOf(line), body]))
    const isReceived = await resolvesInTime(withBody ? call.bodyReceived.promise : arrival.promise)
    if (!isReceived)
      onDifference({ at: labelOf(call), what: 'does not reach the sandbox in the replay' })
    calls++
  }

  async function sendBody({ body: id, at, partial, ...bytes }: RecordedBody) {
    const call = replayedCalls.get(id)
    if (!call) throw new BadRecording(`the body of call ${id} is recorded before the call`)
    call.line.body_at = at
    const body = bodyOf(call.line, bufferOf(bytes), !partial)
    if (partial === 'hang_up') call.socket.end(body)
    else call.socket.write(body)
    const received = partial ? call.response.promise : call.bodyReceived.promise
    if (!(await resolvesInTime(received)))
      onDifference({ at: labelOf(call), what: 'its body does not reach the sandbox in the replay' })
  }

  async function hangUp({ hang_up: id, at }: RecordedHangUp) {
    const call = replayedCalls.get(id)
    if (!call) throw new BadRecording(`the hang-up of call ${id} is recorded before the call`)
    replay.setTime(at)
    call.socket.destroy()
    if (!(await resolvesInTime(call.hungUp.promise)))
      onDifference({
        at: labelOf(call),
        what: 'its caller hung up in the recording, but the replay does not notice it',
      })
  }

  async function compareResponse(line: RecordedResponse) {
    const call = replayedCalls.get(line.response)
    if (!call)
      throw new BadRecording(`the response to call ${line.response} is recorded before the call`)
    if (!(await resolvesInTime(call.response.promise))) {
      onDifference({
        at: labelOf(call),
        what: 'has a response in the recording, but not in the replay',
      })
      return
    }
    const { body, ...head } = await call.response.promise
    const found = { response: line.response, ...head, ...recordedBytes(body) } as RecordedResponse
    const difference = responseDifference(labelOf(call), line, found)
    if (difference) onDifference(difference)
    replayedCalls.delete(line.response)
    call.socket.destroy()
  }

  async function replayLine(line: RecordingLine) {
    if ('call' in line) return sendCall(line)
    if ('body' in line) return sendBody(line)
    if ('hang_up' in line) return hangUp(line)
    if ('response' in line) return compareResponse(line)
    if ('timer' in line) {
      replay.setTime(line.at)
      replay.fireTimer(line.timer)
    }
    if ('sent' in line) {
      replay.setTime(line.at)
      replay.completeSend(line.sent, line.result)
    }
    if ('ran' in line) return timers.next()
  }

  try {
    for (const line of lines) {
      timers.checkExtra()
      await replayLine(line)
      // Let all its consequences happen before the next line.
      await new Promise(setImmediate)
      if (difference) break
    }
    // Copied before the stop below adds more of them.
    return {
      calls,
      webhooks: replay.sends,
      webhook_events: { ...replay.events },
      timers: timers.count,
      timer_kinds: { ...timers.kinds },
      difference,
      notes,
    }
  } finally {
    isFinished = true
    for (const { socket } of replayedCalls.values()) socket.destroy()
    sandbox.stop()
    app.server.closeAllConnections()
    await app.close()
    await sandbox.close()
  }
}

const labelOf = ({ line: { call, method, url, at } }: ReplayedCall) =>
  `call ${call}, ${method} ${url}, ${new Date(at).toISOString()}`

/** Starts the recorded sandbox, in memory. */
function assembleRecorded(
  start: RecordingStart,
  hooks: Pick<Parameters<typeof assemble>[1], 'runtime' | 'timerRan' | 'watch'>,
  log: Log,
) {
  const recorded = Object.entries(start.options).map(([key, value]) => [swapDashes(key), value])
  const options = optionsOf({ ...Object.fromEntries(recorded), memory: true })
  const library = createLibrary(
    new Map(
      start.scenarios.map(({ name, file, definition, source }) => [
        name,
        { file, source, scenario: compileScenario(definition as never, name) },
      ]),
    ),
  )
  return assemble(options, { fixtures: fixturesOf(start.fixtures), library, ...hooks }, log)
}
