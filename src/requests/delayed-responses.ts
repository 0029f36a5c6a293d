// requests/: the calls that a client has made: the log, those whose response still waits, and how a rule, a wait or a
// verification finds them.

import { callerGone, SandboxError } from '../model/errors.ts'
import type { Runtime } from '../runtime/runtime.ts'

type Waiting = { run: () => Promise<void>; reject: (error: SandboxError) => void }

const cancelled = () =>
  new SandboxError('not_ready', 'The delayed response was cancelled. Send the request again.')

/**
 * Responses that a scenario delays. They wait in real time on every clock, because a delay tests the real timeout of the
 * caller. They exist only in this process.
 */
export class DelayedResponses {
  readonly #waiting = new Set<Waiting>()
  readonly #later: Runtime['later']

  readonly #onCount: (count: number) => void

  constructor({ later }: Pick<Runtime, 'later'>, onCount: (count: number) => void) {
    this.#later = later
    this.#onCount = onCount
  }

  get count() {
    return this.#waiting.size
  }

  /** Runs a function after `ms` real ms. If `signal` is aborted before, it does not run and the promise rejects. */
  after<T>(ms: number, run: () => T | Promise<T>, signal: AbortSignal): Promise<T> {
    if (signal.aborted) return Promise.reject(callerGone())
    return new Promise<T>((resolve, reject) => {
      const end = () => {
        cancelTimer()
        signal.removeEventListener('abort', onAbort)
        this.#waiting.delete(waiting)
        this.#onCount(this.count)
      }
      const onAbort = () => waiting.reject(callerGone())
      const waiting: Waiting = {
        async run() {
          end()
          try {
            resolve(await run())
          } catch (error) {
            reject(error)
          }
        },
        reject(error) {
          end()
          reject(error)
        },
      }
      const cancelTimer = this.#later(ms, () => void waiting.run())
      signal.addEventListener('abort', onAbort)
      this.#waiting.add(waiting)
      this.#onCount(this.count)
    })
  }

  /** Rejects all delayed requests: the client was deleted, or its content replaced. */
  rejectAll() {
    for (const { reject } of [...this.#waiting]) reject(cancelled())
  }

  /** Runs all delayed requests before a stop. */
  runAll() {
    for (const { run } of [...this.#waiting]) void run()
  }
}
