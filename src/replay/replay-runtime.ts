import type { RecordedSend } from '../model/recording.ts'
import type { Runtime, SendRequest, SendResult } from '../runtime/runtime.ts'
import { recordedSend } from '../world/recorder.ts'
import { type ReplayDifference, sendDifference } from './differences.ts'
import type { Recording } from './recording.ts'

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
