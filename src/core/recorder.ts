import { isUtf8 } from 'node:buffer'
import { closeSync, fstatSync, readFileSync, rmSync, writeSync } from 'node:fs'
import type {
  RecordedBody,
  RecordedBytes,
  RecordedCall,
  RecordingLine,
} from '../model/recording.ts'
import { createSteadyWall, wallNow } from './clock.ts'
import { openNewPrivate } from './private-file.ts'
import type { Runtime } from './runtime.ts'
import type { TimerRow } from './scheduler.ts'
import type { SendRequest } from './send.ts'

/** A file that a run can't be recorded in. */
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

/** A call as it came. */
export type IncomingRequest = Pick<RecordedCall, 'method' | 'url' | 'http' | 'headers'>

/** What was answered; without a status the connection was broken before. */
export type SentResponse = {
  status?: number
  headers?: Readonly<Record<string, unknown>>
  fault?: string
  body: Buffer
}

/** Why a body is not whole: it was `refused` on its way, or its sender `left`. */
export type Partial = NonNullable<RecordedBody['partial']>

/** Who is told of calls and answers: a recorder, or a replay that holds them against a recording. */
export type RequestObserver = {
  /** Answers with the number by which the rest is told. */
  onRequest: (call: IncomingRequest, hasBody: boolean) => number
  /** `partial`: it was answered before all of it was there. */
  onBody: (call: number, body: Buffer, partial?: Partial) => void
  /** The caller closed the connection before the response, and that ended the call. */
  left: (call: number) => void
  onResponse: (call: number, answer: SentResponse) => void
}

/** Who is told of each timer that runs, and of whose client it is. */
export type TimerObserver = (client: string, timer: TimerRow) => void

/** Bytes as a line of a recording has them. */
export function recordedBytes(bytes: Buffer): RecordedBytes {
  if (bytes.length === 0) return {}
  return isUtf8(bytes) ? { text: bytes.toString('utf8') } : { base64: bytes.toString('base64') }
}

/** What is sent, as a line of a recording has it. */
export const recordedSend = ({ method = 'POST', url, headers, body }: SendRequest) => ({
  method,
  url,
  headers: { ...headers },
  ...recordedBytes(Buffer.from(body as Uint8Array)),
})

/**
 * Writes down all that reaches a sandbox and all that it answers and sends, a line each, in the order in which it
 * happened. Between two lines the wall clock stands still: so each line has the one instant of all that followed from it.
 *
 * The file is for its owner alone. Throws `RecordingError`, also if the file exists already. A line that can't be written
 * ends the recording, and the sandbox goes on.
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
  // A call whose body is still to come, as long as nothing else happens.
  let open: RecordedCall | undefined
  let [calls, timers, sends] = [0, 0, 0]

  function put(line: object) {
    if (isClosed || failure !== undefined) return
    try {
      writeSync(fd, `${JSON.stringify(line)}\n`)
    } catch (error) {
      failure = (error as NodeJS.ErrnoException).code ?? String(error)
      onFailure(error)
    }
  }

  function write(line: RecordingLine) {
    const earlier = open
    open = undefined
    if (earlier) put({ ...earlier, body_later: true })
    put(line)
  }

  function step() {
    now = Math.max(now, Math.floor(steadyWall()))
    return now
  }

  const calling: RequestObserver = {
    onRequest(call, hasBody) {
      const line = { call: ++calls, at: step(), ...call }
      if (!hasBody) write(line)
      else {
        if (open) put({ ...open, body_later: true })
        open = line
      }
      return line.call
    },
    onBody(call, body, partial) {
      const at = step()
      const line = open?.call === call && !partial ? open : undefined
      if (!line) {
        write({
          body: call,
          at,
          ...(partial && { partial }),
          ...recordedBytes(body),
        })
        return
      }
      open = undefined
      write({ ...line, ...(at !== line.at && { body_at: at }), ...recordedBytes(body) })
    },
    left: (call) => write({ left: call, at: step() }),
    onResponse(call, { status, headers, fault, body }) {
      write({
        answer: call,
        ...(status !== undefined && { status }),
        ...(headers && { headers: { ...headers } }),
        ...(fault !== undefined && { fault }),
        ...recordedBytes(body),
      })
    },
  }

  /** What comes now is no part of the run any more. */
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
    begin: put,
    calls: calling,
    timerRan,
    /** The real outside, written down. */
    outside: (real: Runtime): Runtime => ({
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
    /** Why it ended, where a line could not be written. */
    get failure() {
      return failure
    },
    /** All that was written until now. */
    text: () => readFileSync(file, 'utf8'),
    close,
    /** Closes a recording whose sandbox never served, and removes its file, so that the next start can record there. */
    discard() {
      // A file was created here; a device was not.
      const isOwnFile = !isClosed && fstatSync(fd).isFile()
      close()
      if (isOwnFile) rmSync(file, { force: true })
    },
  }
}

export type Recorder = ReturnType<typeof createRecorder>
