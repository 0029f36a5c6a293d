import { recordedSend } from '../core/recorder.ts'
import type { Runtime } from '../core/runtime.ts'
import type { SendRequest, SendResult } from '../core/send.ts'
import type { RecordedSend } from '../model/recording.ts'
import { type Difference, sendDifference } from './differences.ts'
import type { Recording } from './recording.ts'

/** Which event a request is about; a cut body begins with it too. */
function eventOf({ method, body }: SendRequest): string {
  if (method === 'GET') return 'probe'
  return /"type":"([\w.]+)"/.exec(Buffer.from(body as Uint8Array).toString('utf8'))?.[1] ?? 'other'
}

/** The outside of a replay: time, timers, receivers and secrets are those of the recording; `differs` is told of what it has none for. */
export function createReplayRuntime(
  { start, lines }: Recording,
  differs: (difference: Difference) => void,
) {
  const sends = new Map<number, RecordedSend>()
  const secrets: string[] = []
  for (const line of lines) {
    if ('send' in line) sends.set(line.send, line)
    if ('secret' in line) secrets.push(line.secret)
  }
  const timers = new Map<number, () => void>()
  const waiting = new Map<number, (result: SendResult) => void>()
  let now = start.at
  let [laters, sent] = [0, 0]
  const events: Record<string, number> = {}

  const outside: Runtime = {
    wall: () => now,
    elapsed: () => now,
    yieldsToOthers: false,
    later(_ms, run) {
      const timer = ++laters
      timers.set(timer, run)
      return () => timers.delete(timer)
    },
    send(request) {
      const send = ++sent
      const recorded = sends.get(send)
      const found = recordedSend(request)
      const difference = sendDifference(send, recorded, found)
      if (difference) differs(difference)
      const event = eventOf(request)
      events[event] = (events[event] ?? 0) + 1
      return new Promise((resolve) => waiting.set(send, resolve))
    },
    secret() {
      const secret = secrets.shift()
      if (secret === undefined) differs({ at: 'a secret', what: 'none was made in the recording' })
      return secret ?? ''
    },
    close() {},
  }
  return {
    outside,
    /** How many attempts were made here, by event. */
    events,
    get sends() {
      return sent
    },
    set(at: number) {
      now = at
    },
    /** Ends a timer that ended in the recording. */
    ring(timer: number) {
      const run = timers.get(timer)
      timers.delete(timer)
      if (run) run()
      else differs({ at: `timer ${timer}`, what: 'ran in the recording, and there is none here' })
    },
    /** Ends an attempt as it ended in the recording. */
    end(send: number, result: object) {
      const resolve = waiting.get(send)
      waiting.delete(send)
      if (resolve) resolve(result as SendResult)
      else differs({ at: `webhook ${send}`, what: 'was sent in the recording, and is not here' })
    },
  }
}
