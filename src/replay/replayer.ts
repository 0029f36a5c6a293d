import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { VERSION } from '../config/version.ts'
import type { Outside } from '../core/outside.ts'
import { type CallWatch, type GivenAnswer, recordedBytes } from '../core/recorder.ts'
import type {
  RecordedAnswer,
  RecordedBody,
  RecordedBytes,
  RecordedCall,
  RecordedLeft,
  RecordingLine,
  RecordingStart,
} from '../model/recording.ts'
import type { Log } from '../sandbox.ts'
import { compileScenario } from '../scenarios/compile.ts'
import { createLibrary } from '../scenarios/library.ts'
import { loadReader } from '../scenarios/reader.ts'
import { assemble, optionsOf } from '../server.ts'
import { fixturesOf } from '../services/fixtures.ts'
import { answerDifference, type Difference } from './differences.ts'
import { createFedOutside } from './fed-outside.ts'
import { BadRecording, readRecording } from './recording.ts'

/** What a replay came to. */
export type Replayed = {
  calls: number
  webhooks: number
  timers: number
  /** The first thing that is not as recorded. */
  difference: Difference | undefined
  /** What the person should know besides. */
  notes: string[]
}

// What does not happen within this, real ms, does not happen: nothing in a replay waits for time.
const LONGEST_MS = 10_000

const bufferOf = ({ text, base64 }: RecordedBytes): Buffer =>
  base64 === undefined ? Buffer.from(text ?? '') : Buffer.from(base64, 'base64')

/** A promise with its end in hand. */
function awaited<T>() {
  let resolve!: (value: T) => void
  const promise = new Promise<T>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

/** Whether something happens in time. */
async function happens(promise: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), LONGEST_MS)
  })
  const inTime = await Promise.race([promise.then(() => true), late])
  clearTimeout(timer)
  return inTime
}

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
  answer: ReturnType<typeof awaited<GivenAnswer>>
}

/**
 * Plays a recording against a sandbox that is started for it in this process, and holds every answer and every webhook
 * against what was recorded, byte for byte, up to the first difference. Nothing is sent to a receiver. Throws
 * `BadRecording`.
 */
export async function replayRun(text: string, log: Log): Promise<Replayed> {
  const recording = readRecording(text)
  const { start, lines, isTorn } = recording
  const replayed: Replayed = { calls: 0, webhooks: 0, timers: 0, difference: undefined, notes: [] }
  if (isTorn) replayed.notes.push('the last line is torn and left out')
  if (start.version !== VERSION)
    replayed.notes.push(`recorded by version ${start.version}, replayed by ${VERSION}`)
  const differs = (difference: Difference) => {
    replayed.difference ??= difference
  }

  const fed = createFedOutside(recording, differs)
  const calls = new Map<number, Sending>()
  let expected: { call: Sending; came: () => void } | undefined
  const watch: CallWatch = {
    came() {
      const mine = expected
      expected = undefined
      // A stranger found the port.
      if (!mine) return 0
      fed.set(mine.call.line.at)
      mine.came()
      return mine.call.line.call
    },
    bodyCame(id) {
      const call = calls.get(id)
      if (call?.line.bodyAt !== undefined) fed.set(call.line.bodyAt)
      call?.whole.resolve()
    },
    left: (id) => calls.get(id)?.left.resolve(),
    answered: (id, answer) => calls.get(id)?.answer.resolve(answer),
  }

  await loadReader()
  const { sandbox, app } = await assembled(start, fed.outside, watch, log)
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
      answer: awaited<GivenAnswer>(),
    }
    calls.set(line.call, call)
    const came = awaited<void>()
    expected = { call, came: came.resolve }
    const withBody = hasBody(line) && line.bodyLater === undefined
    const body = withBody ? bodyOf(line, bufferOf(line), true) : Buffer.alloc(0)
    socket.write(Buffer.concat([headOf(line), body]))
    const reached = await happens(withBody ? call.whole.promise : came.promise)
    if (!reached) differs({ at: placeOf(call), what: 'does not come through in the replay' })
    replayed.calls++
  }

  async function sendBody({ body: id, at, partial, ...bytes }: RecordedBody) {
    const call = calls.get(id)
    if (!call) throw new BadRecording(`the body of call ${id} comes before its call`)
    call.line.bodyAt = at
    const body = bodyOf(call.line, bufferOf(bytes), !partial)
    if (partial === 'left') call.socket.end(body)
    else call.socket.write(body)
    const there = partial ? call.answer.promise : call.whole.promise
    if (!(await happens(there)))
      differs({ at: placeOf(call), what: 'its body does not come through in the replay' })
  }

  async function hangUp({ left: id, at }: RecordedLeft) {
    const call = calls.get(id)
    if (!call) throw new BadRecording(`the end of call ${id} comes before its call`)
    fed.set(at)
    call.socket.destroy()
    if (!(await happens(call.left.promise)))
      differs({ at: placeOf(call), what: 'was ended by its caller in the recording, not here' })
  }

  async function compare(line: RecordedAnswer) {
    const call = calls.get(line.answer)
    if (!call) throw new BadRecording(`the answer ${line.answer} comes before its call`)
    if (!(await happens(call.answer.promise))) {
      differs({ at: placeOf(call), what: 'was answered in the recording, and is not here' })
      return
    }
    const { body, ...given } = await call.answer.promise
    const found = { answer: line.answer, ...given, ...recordedBytes(body) } as RecordedAnswer
    const difference = answerDifference(placeOf(call), line, found)
    if (difference) differs(difference)
    calls.delete(line.answer)
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
      replayed.timers++
    }
    if ('sent' in line) {
      fed.set(line.at)
      fed.end(line.sent, line.result)
      replayed.webhooks++
    }
  }

  try {
    for (const line of lines) {
      await feed(line)
      // All that follows from it happens before the next.
      await new Promise(setImmediate)
      if (replayed.difference) break
    }
  } finally {
    for (const { socket } of calls.values()) socket.destroy()
    sandbox.stop()
    app.server.closeAllConnections()
    await app.close()
    await sandbox.close()
  }
  return replayed
}

const placeOf = ({ line: { call, method, url, at } }: Sending) =>
  `call ${call}, ${method} ${url}, ${new Date(at).toISOString()}`

/** The sandbox as it was started, in memory. */
function assembled(start: RecordingStart, outside: Outside, watch: CallWatch, log: Log) {
  const options = optionsOf({ ...start.options, memory: true })
  const library = createLibrary(
    new Map(
      start.scenarios.map(({ name, file, definition, source }) => [
        name,
        { file, source, scenario: compileScenario(definition as never, name) },
      ]),
    ),
  )
  const content = { fixtures: fixturesOf(start.fixtures), library, outside: () => outside, watch }
  return assemble(options, content, log)
}
