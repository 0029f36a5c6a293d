import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { swapDashes } from '../config/options.ts'
import { VERSION } from '../config/version.ts'
import { type RequestObserver, recordedBytes, type SentResponse } from '../core/recorder.ts'
import type {
  RecordedBody,
  RecordedBytes,
  RecordedCall,
  RecordedHangUp,
  RecordedResponse,
  RecordingLine,
  RecordingStart,
} from '../model/recording.ts'
import type { Log } from '../sandbox.ts'
import { compileScenario } from '../scenarios/compile.ts'
import { createLibrary } from '../scenarios/library.ts'
import { loadReader } from '../scenarios/reader.ts'
import { assemble, optionsOf } from '../server.ts'
import { fixturesOf } from '../services/fixtures.ts'
import { type Difference, responseDifference } from './differences.ts'
import { awaited, happens } from './happens.ts'
import { BadRecording, readRecording } from './recording.ts'
import { createReplayRuntime } from './replay-runtime.ts'
import { createTimerCheck } from './timer-check.ts'

/** What a replay came to. */
export type Replayed = {
  calls: number
  /** Attempts that were made, and of which events. */
  webhooks: number
  webhook_events: Record<string, number>
  /** Timers of clients that ran, within a call that moved time too, and of which kinds. */
  timers: number
  timer_kinds: Record<string, number>
  /** The first thing that is not as recorded. */
  difference: Difference | undefined
  /** What the person should know besides. */
  notes: string[]
}

const bufferOf = ({ text, base64 }: RecordedBytes): Buffer =>
  base64 === undefined ? Buffer.from(text ?? '') : Buffer.from(base64, 'base64')

/** The request line and headers, byte for byte as they came. */
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

function bodyOf(call: RecordedCall, bytes: Buffer, isWhole: boolean): Buffer {
  if (!isChunked(call)) return bytes
  const chunk = bytes.length === 0 ? '' : `${bytes.length.toString(16)}\r\n`
  const end = `${bytes.length === 0 ? '' : '\r\n'}${isWhole ? '0\r\n\r\n' : ''}`
  return Buffer.concat([Buffer.from(chunk), bytes, Buffer.from(end)])
}

/** One call as it is sent again. */
type Sending = {
  line: RecordedCall
  socket: Socket
  whole: ReturnType<typeof awaited<void>>
  left: ReturnType<typeof awaited<void>>
  answer: ReturnType<typeof awaited<SentResponse>>
}

/**
 * Plays a recording against a sandbox that is started for it in this process, and holds every answer and every webhook
 * against what was recorded, byte for byte, up to the first difference. Nothing is sent to a receiver. Throws
 * `BadRecording`.
 */
export async function replayRun(text: string, log: Log): Promise<Replayed> {
  const recording = readRecording(text)
  const { start, lines, isTorn } = recording
  const notes: string[] = []
  let calls = 0
  let difference: Difference | undefined
  let isOver = false
  if (isTorn) notes.push('the last line is torn and left out')
  if (start.version !== VERSION)
    notes.push(`recorded by version ${start.version}, replayed by ${VERSION}`)
  const differs = (found: Difference) => {
    // What ends with the replay is no part of the run.
    if (!isOver) difference ??= found
  }

  const fed = createReplayRuntime(recording, differs)
  const timers = createTimerCheck(recording, differs)
  const sendings = new Map<number, Sending>()
  let expected: { call: Sending; came: () => void } | undefined
  const watch: RequestObserver = {
    onRequest() {
      const mine = expected
      expected = undefined
      // A stranger found the port.
      if (!mine) return 0
      fed.set(mine.call.line.at)
      mine.came()
      return mine.call.line.call
    },
    onBody(id) {
      const call = sendings.get(id)
      if (call?.line.body_at !== undefined) fed.set(call.line.body_at)
      call?.whole.resolve()
    },
    onHangUp: (id) => sendings.get(id)?.left.resolve(),
    onResponse: (id, answer) => sendings.get(id)?.answer.resolve(answer),
  }

  await loadReader()
  const { sandbox, app } = await assembled(
    start,
    { outside: () => fed.outside, timerRan: timers.ran, watch },
    log,
  )
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo

  /** Sends a call up to where something else happened in the recording. */
  async function send(line: RecordedCall) {
    const socket = connect(port, '127.0.0.1')
    // What comes back is seen where it is sent; a broken connection may be what was recorded.
    socket.on('error', () => {}).resume()
    await once(socket, 'connect')
    const call = {
      line,
      socket,
      whole: awaited<void>(),
      left: awaited<void>(),
      answer: awaited<SentResponse>(),
    }
    sendings.set(line.call, call)
    const came = awaited<void>()
    expected = { call, came: came.resolve }
    const withBody = hasBody(line) && line.body_later === undefined
    const body = withBody ? bodyOf(line, bufferOf(line), true) : Buffer.alloc(0)
    socket.write(Buffer.concat([headOf(line), body]))
    const reached = await happens(withBody ? call.whole.promise : came.promise)
    if (!reached) differs({ at: placeOf(call), what: 'does not come through in the replay' })
    calls++
  }

  async function sendBody({ body: id, at, partial, ...bytes }: RecordedBody) {
    const call = sendings.get(id)
    if (!call) throw new BadRecording(`the body of call ${id} comes before its call`)
    call.line.body_at = at
    const body = bodyOf(call.line, bufferOf(bytes), !partial)
    if (partial === 'left') call.socket.end(body)
    else call.socket.write(body)
    const there = partial ? call.answer.promise : call.whole.promise
    if (!(await happens(there)))
      differs({ at: placeOf(call), what: 'its body does not come through in the replay' })
  }

  async function hangUp({ left: id, at }: RecordedHangUp) {
    const call = sendings.get(id)
    if (!call) throw new BadRecording(`the end of call ${id} comes before its call`)
    fed.set(at)
    call.socket.destroy()
    if (!(await happens(call.left.promise)))
      differs({ at: placeOf(call), what: 'was ended by its caller in the recording, not here' })
  }

  async function compare(line: RecordedResponse) {
    const call = sendings.get(line.answer)
    if (!call) throw new BadRecording(`the answer ${line.answer} comes before its call`)
    if (!(await happens(call.answer.promise))) {
      differs({ at: placeOf(call), what: 'was answered in the recording, and is not here' })
      return
    }
    const { body, ...given } = await call.answer.promise
    const found = { answer: line.answer, ...given, ...recordedBytes(body) } as RecordedResponse
    const difference = responseDifference(placeOf(call), line, found)
    if (difference) differs(difference)
    sendings.delete(line.answer)
    call.socket.destroy()
  }

  async function feed(line: RecordingLine) {
    if ('call' in line) return send(line)
    if ('body' in line) return sendBody(line)
    if ('left' in line) return hangUp(line)
    if ('answer' in line) return compare(line)
    if ('timer' in line) {
      fed.set(line.at)
      fed.ring(line.timer)
    }
    if ('sent' in line) {
      fed.set(line.at)
      fed.end(line.sent, line.result)
    }
    if ('ran' in line) return timers.next()
  }

  try {
    for (const line of lines) {
      timers.refuseExtra()
      await feed(line)
      // All that follows from it happens before the next.
      await new Promise(setImmediate)
      if (difference) break
    }
    // Before the stop below makes more of them.
    return {
      calls,
      webhooks: fed.sends,
      webhook_events: { ...fed.events },
      timers: timers.count,
      timer_kinds: { ...timers.kinds },
      difference,
      notes,
    }
  } finally {
    isOver = true
    for (const { socket } of sendings.values()) socket.destroy()
    sandbox.stop()
    app.server.closeAllConnections()
    await app.close()
    await sandbox.close()
  }
}

const placeOf = ({ line: { call, method, url, at } }: Sending) =>
  `call ${call}, ${method} ${url}, ${new Date(at).toISOString()}`

/** The sandbox as it was started, in memory. */
function assembled(
  start: RecordingStart,
  watched: Pick<Parameters<typeof assemble>[1], 'outside' | 'timerRan' | 'watch'>,
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
  return assemble(options, { fixtures: fixturesOf(start.fixtures), library, ...watched }, log)
}
