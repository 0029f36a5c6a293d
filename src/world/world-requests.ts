import { callerGone, SandboxError } from '../model/errors.ts'
import { RequestLog } from '../requests/request-log.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { WorldContext } from '../tables/world-context.ts'
import { type Access, createAccess } from './access.ts'
import type { Feed } from './feed.ts'
import type { WorldDeps } from './world-deps.ts'

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

  /** The number of responses that wait. */
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

/** The calls of one client: which it may make, those that wait for a delayed response, and the log of the others. */
export class WorldRequests extends RequestLog {
  readonly access: Access
  readonly delayed: DelayedResponses

  constructor(context: WorldContext, { tables, shared }: WorldDeps, feed: Feed) {
    const { logBudget, allRequests, runtime } = shared
    super({
      budget: logBudget,
      addToAll: (call, era) => allRequests.add(tables.name, call, era),
      runtime,
      onLogged: (entry) => feed.publish('request', entry),
    })
    this.access = createAccess(context)
    this.delayed = new DelayedResponses(runtime, (count) => feed.publish('waiting', { count }))
  }
}
