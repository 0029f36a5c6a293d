import { isUtf8 } from 'node:buffer'
import { closeSync, fstatSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { openNewPrivate } from '../config/output-file.ts'
import type {
  RecordedBody,
  RecordedBytes,
  RecordedCall,
  RecordingLine,
} from '../model/recording.ts'
import { createSteadyWall, wallNow } from '../runtime/real-time.ts'
import type { Runtime, SendRequest } from '../runtime/runtime.ts'
import type { TimerRow } from '../time/scheduler.ts'

/** The recording file cannot be created. */
export class RecordingError extends Error {}

function openFile(file: string): number {
  try {
    return openNewPrivate(file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new RecordingError(
      code === 'EEXIST'
        ? `The file ${file} already exists. A recording never overwrites a file. Delete it, or choose another name with --record FILE.`
        : `The recording ${file} cannot be written (${code}). Use --record FILE with a folder that you can write to.`,
    )
  }
}

/** The head of a received call. */
export type IncomingRequest = Pick<RecordedCall, 'method' | 'url' | 'http' | 'headers'>

/** The response that was sent; without a status the connection was broken before. */
export type SentResponse = {
  status?: number
  headers?: Readonly<Record<string, unknown>>
  fault?: string
  body: Buffer
}

/** Why a body is incomplete: the server `rejected` the rest, or the sender disconnected (`hang_up`). */
export type PartialBodyReason = NonNullable<RecordedBody['partial']>

/** Observes calls and responses: a recorder, or a replay that compares them with a recording. */
export type RequestObserver = {
  /** Returns the number of the call, which the other methods take. */
  onRequest: (call: IncomingRequest, hasBody: boolean) => number
  /** `partial`: the response was sent before the whole body arrived. */
  onBody: (call: number, body: Buffer, partial?: PartialBodyReason) => void
  /** The caller closed the connection before the response, and that ended the call. */
  onHangUp: (call: number) => void
  onResponse: (call: number, answer: SentResponse) => void
}

/** Called for each timer that runs, with the name of its client. */
export type TimerObserver = (client: string, timer: TimerRow) => void

/** Bytes in the form of a recording line. */
export function recordedBytes(bytes: Buffer): RecordedBytes {
  if (bytes.length === 0) return {}
  return isUtf8(bytes) ? { text: bytes.toString('utf8') } : { base64: bytes.toString('base64') }
}

/** A sent request in the form of a recording line. */
export const recordedSend = ({ method = 'POST', url, headers, body }: SendRequest) => ({
  method,
  url,
  headers: { ...headers },
  ...recordedBytes(Buffer.from(body as Uint8Array)),
})

/**
 * Records everything that a sandbox receives, responds and sends, one line each, in order. Between two lines the wall
 * clock does not move, so each line has the one instant at which its consequences happened.
 *
 * Only the owner can read the file. Throws `RecordingError` if the file cannot be created or already exists. If a line
 * cannot be written, the recording ends and the sandbox continues.
 */
export function createRecorder({
  file,
  onFailure,
}: {
  file: string
  onFailure: (error: unknown) => void
}) {
  const fd = openFile(file)
  const steadyWall = createSteadyWall({ wall: wallNow, elapsed: () => performance.now() })
  let now = Math.floor(steadyWall())
  let failure: string | undefined
  let isClosed = false
  // A call that waits for its body, as long as nothing else happens.
  let pendingCall: RecordedCall | undefined
  let [calls, timers, sends] = [0, 0, 0]

  function writeLine(line: object) {
    if (isClosed || failure !== undefined) return
    try {
      writeSync(fd, `${JSON.stringify(line)}\n`)
    } catch (error) {
      failure = (error as NodeJS.ErrnoException).code ?? String(error)
      onFailure(error)
    }
  }

  function write(line: RecordingLine) {
    const earlier = pendingCall
    pendingCall = undefined
    if (earlier) writeLine({ ...earlier, body_later: true })
    writeLine(line)
  }

  function step() {
    now = Math.max(now, Math.floor(steadyWall()))
    return now
  }

  const observer: RequestObserver = {
    onRequest(call, hasBody) {
      const line = { call: ++calls, at: step(), ...call }
      if (!hasBody) write(line)
      else {
        if (pendingCall) writeLine({ ...pendingCall, body_later: true })
        pendingCall = line
      }
      return line.call
    },
    onBody(call, body, partial) {
      const at = step()
      const line = pendingCall?.call === call && !partial ? pendingCall : undefined
      if (!line) {
        write({ body: call, at, ...(partial && { partial }), ...recordedBytes(body) })
        return
      }
      pendingCall = undefined
      write({ ...line, ...(at !== line.at && { body_at: at }), ...recordedBytes(body) })
    },
    onHangUp: (call) => write({ hang_up: call, at: step() }),
    onResponse(call, { status, headers, fault, body }) {
      write({
        response: call,
        ...(status !== undefined && { status }),
        ...(headers && { headers: { ...headers } }),
        ...(fault !== undefined && { fault }),
        ...recordedBytes(body),
      })
    },
  }

  /** Ends the recording; later calls are not recorded. */
  function close() {
    if (isClosed) return
    isClosed = true
    closeSync(fd)
  }

  const timerRan: TimerObserver = (client, { timer_id, kind, due_at }) =>
    write({ ran: timer_id, client, kind, due_at })

  return {
    file,
    /** When the recording began, ms. */
    startedAt: now,
    begin: writeLine,
    calls: observer,
    timerRan,
    /** Wraps a runtime so that everything it returns is recorded. */
    wrapRuntime: (real: Runtime): Runtime => ({
      ...real,
      wall: () => now,
      elapsed: () => now,
      yieldsToOthers: false,
      later(ms, run) {
        const timer = ++timers
        return real.later(ms, () => {
          write({ timer, at: step() })
          run()
        })
      },
      async send(request) {
        const send = ++sends
        write({ send, ...recordedSend(request) })
        const result = await real.send(request)
        write({ sent: send, at: step(), result })
        return result
      },
      secret() {
        const secret = real.secret()
        write({ secret })
        return secret
      },
    }),
    /** The errno of the line that could not be written, which ended the recording; undefined otherwise. */
    get failure() {
      return failure
    },
    /** The whole text written so far. */
    text: () => readFileSync(file, 'utf8'),
    close,
    /**
     * Closes the recording of a sandbox that failed to start, and removes its file, so that the next start can use it.
     */
    discard() {
      // Only a regular file was created here; a device was not.
      const isOwnFile = !isClosed && fstatSync(fd).isFile()
      close()
      if (isOwnFile) rmSync(file, { force: true })
    },
  }
}

export type Recorder = ReturnType<typeof createRecorder>
