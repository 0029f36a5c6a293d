import type { RecordedSend, RecordedTimer } from '../../model/recording.ts'
import type { Runtime, SendRequest, SendResult } from '../../runtime/runtime.ts'
import { recordedSend, type TimerObserver } from '../../world/recorder.ts'
import type { Recording } from '../../world/recording.ts'
import { type ReplayDifference, sendDifference } from './differences.ts'

/** The event of a webhook request, or `probe`. A truncated body also contains the event, at its start. */
function eventOf({ method, body }: SendRequest): string {
  if (method === 'GET') return 'probe'
  return /"type":"([\w.]+)"/.exec(Buffer.from(body as Uint8Array).toString('utf8'))?.[1] ?? 'other'
}

/**
 * The runtime of a replay. Time, timers, receivers and secrets come from the recording. Calls `onDifference` if the replay
 * needs one that was not recorded.
 */
export function createReplayRuntime(
  { start, lines }: Recording,
  onDifference: (difference: ReplayDifference) => void,
) {
  const sends = new Map<number, RecordedSend>()
  const secrets: string[] = []
  for (const line of lines) {
    if ('send' in line) sends.set(line.send, line)
    if ('secret' in line) secrets.push(line.secret)
  }
  const timers = new Map<number, () => void>()
  const pendingSends = new Map<number, (result: SendResult) => void>()
  let now = start.at
  let [timerCount, sendCount] = [0, 0]
  const events: Record<string, number> = {}

  const runtime: Runtime = {
    wall: () => now,
    elapsed: () => now,
    yieldsToOthers: false,
    later(_ms, run) {
      const timer = ++timerCount
      timers.set(timer, run)
      return () => timers.delete(timer)
    },
    send(request) {
      const send = ++sendCount
      const recorded = sends.get(send)
      const found = recordedSend(request)
      const difference = sendDifference(send, recorded, found)
      if (difference) onDifference(difference)
      const event = eventOf(request)
      events[event] = (events[event] ?? 0) + 1
      return new Promise((resolve) => pendingSends.set(send, resolve))
    },
    secret() {
      const secret = secrets.shift()
      if (secret === undefined)
        onDifference({
          at: 'a secret',
          what: 'was generated in the replay, but not in the recording',
        })
      return secret ?? ''
    },
    close() {},
  }
  return {
    runtime,
    /** The number of webhook attempts of the replay, by event. */
    events,
    get sends() {
      return sendCount
    },
    setTime(at: number) {
      now = at
    },
    /** Fires a timer that fired in the recording. */
    fireTimer(timer: number) {
      const run = timers.get(timer)
      timers.delete(timer)
      if (run) run()
      else
        onDifference({
          at: `timer ${timer}`,
          what: 'fired in the recording, but does not exist in the replay',
        })
    },
    /** Completes a webhook attempt with its recorded result. */
    completeSend(send: number, result: object) {
      const resolve = pendingSends.get(send)
      pendingSends.delete(send)
      if (resolve) resolve(result as SendResult)
      else
        onDifference({
          at: `webhook ${send}`,
          what: 'was sent in the recording, but not in the replay',
        })
    },
  }
}

// An event that does not occur within this real time, ms, never occurs: a replay waits for no clock.
const MAX_WAIT_MS = 10_000

/** A promise with its `resolve` function, like `Promise.withResolvers()`. */
export function createDeferred<T>() {
  let resolve!: (value: T) => void
  const promise = new Promise<T>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

/** Waits for a promise, but not longer than `MAX_WAIT_MS`. Returns whether it was resolved in time. */
export async function resolvesInTime(promise: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), MAX_WAIT_MS)
  })
  const inTime = await Promise.race([promise.then(() => true), timeout])
  clearTimeout(timer)
  return inTime
}

const labelOf = ({ ran, kind, client }: RecordedTimer) =>
  `timer ${ran} (${kind}) of client ${client}`

/** Compares the timers that run in a replay with the timers of the recording, in their order. */
export function createTimerCheck(
  { lines }: Recording,
  onDifference: (difference: ReplayDifference) => void,
) {
  const expected = lines.filter((line) => 'ran' in line)
  const deferreds = expected.map(() => createDeferred<void>())
  const kinds: Record<string, number> = {}
  let [count, nextIndex] = [0, 0]
  // A recording can end between a call and its timers, so an extra timer is a difference only if the recording goes on.
  let extra: RecordedTimer | undefined

  function compare(found: RecordedTimer, recorded: RecordedTimer | undefined) {
    if (!recorded) extra ??= found
    else if (JSON.stringify(recorded) !== JSON.stringify(found))
      onDifference({
        at: labelOf(found),
        what: 'is not the timer that ran in the recording',
        recorded: JSON.stringify(recorded),
        found: JSON.stringify(found),
      })
  }

  const onTimer: TimerObserver = (client, { timer_id, kind, due_at }) => {
    compare({ ran: timer_id, client, kind, due_at }, expected[count])
    deferreds[count++]?.resolve()
    kinds[kind] = (kinds[kind] ?? 0) + 1
  }

  return {
    onTimer,
    kinds,
    get count() {
      return count
    },
    /** Reports an extra timer. Call it only if the recording goes on. */
    checkExtra() {
      if (extra)
        onDifference({ at: labelOf(extra), what: 'ran in the replay, but not in the recording' })
    },
    /** Waits for the next timer of the recording. */
    async next() {
      const index = nextIndex++
      if (await resolvesInTime(deferreds[index]!.promise)) return
      onDifference({
        at: labelOf(expected[index]!),
        what: 'ran in the recording, but not in the replay',
      })
    },
  }
}
