// requests/: the calls that a client has made: the log, those whose response still waits, and how a rule, a wait or a
// verification finds them.

import { callerGone, SandboxError } from '../model/errors.ts'
import type { Runtime } from '../runtime/runtime.ts'

type Waiting = { run: () => void; reject: (error: SandboxError) => void }

/** Responses that a scenario delays: in real time on every clock, because a delay tests the real timeout of the caller. */
export function createDelayedResponses(
  { later }: Pick<Runtime, 'later'>,
  onCount: (count: number) => void,
) {
  const all = new Set<Waiting>()
  return {
    get count() {
      return all.size
    },
    /** Runs a function after `ms` real ms. If `signal` is aborted before, it does not run and the promise rejects. */
    after<T>(ms: number, run: () => T | Promise<T>, signal: AbortSignal): Promise<T> {
      if (signal.aborted) return Promise.reject(callerGone())
      return new Promise<T>((resolve, reject) => {
        const end = () => {
          cancelTimer()
          signal.removeEventListener('abort', onAbort)
          all.delete(waiting)
          onCount(all.size)
        }
        const onAbort = () => waiting.reject(callerGone())
        const waiting: Waiting = {
          run() {
            end()
            resolve(new Promise((done) => done(run())))
          },
          reject(error) {
            end()
            reject(error)
          },
        }
        const cancelTimer = later(ms, waiting.run)
        signal.addEventListener('abort', onAbort)
        all.add(waiting)
        onCount(all.size)
      })
    },
    /** Rejects all delayed requests: the client was deleted, or its content replaced. */
    rejectAll() {
      const message = 'The delayed response was cancelled. Send the request again.'
      for (const { reject } of [...all]) reject(new SandboxError('not_ready', message))
    },
    runAll() {
      for (const { run } of [...all]) run()
    },
  }
}
