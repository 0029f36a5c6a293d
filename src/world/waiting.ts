import { callerGone, SandboxError } from '../model/errors.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { AnyFeedEvent, Feed } from './feed.ts'

/** Something to wait for: `findExisting` searches the present state, `onEvent` checks each later event of the feed. */
export type WaitTarget<T> = {
  findExisting: () => Promise<T | undefined> | T | undefined
  onEvent: (event: AnyFeedEvent) => T | undefined
  /** Real ms. */
  timeout_ms: number
  /** Makes the error that is thrown after the timeout. */
  timeoutError: () => SandboxError | Promise<SandboxError>
  /** Aborted when the caller stops waiting. */
  signal: AbortSignal
}

const feedEnded = () =>
  new SandboxError('not_ready', 'The client was deleted or the sandbox is shutting down.')

/** Resolves with the match as soon as it exists; rejects with `timeoutError()`, or with `not_ready` if the feed closes. */
export function waitFor<T>(
  { feed, runtime }: { feed: Feed; runtime: Pick<Runtime, 'later'> },
  { findExisting, onEvent, timeout_ms: timeoutMs, timeoutError, signal }: WaitTarget<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let stop: (() => void) | undefined
    let searching: Promise<unknown> = Promise.resolve()
    // Before the feed is watched: one that has ended says so immediately.
    const onAbort = () => fail(callerGone())
    // A search that is still running may find it.
    const cancelTimeout = runtime.later(timeoutMs, () =>
      searching.then(timeoutError).then(fail, fail),
    )
    stop = feed.watch({
      onEvent(event) {
        // The whole state was replaced: the match may be in the new one.
        if (event.kind === 'reset' || event.kind === 'restore') search()
        else resolveIfFound(onEvent(event))
      },
      onEnd: () => fail(feedEnded()),
    })

    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort)

    function cleanUp() {
      signal.removeEventListener('abort', onAbort)
      cancelTimeout()
      stop?.()
    }
    function fail(error: unknown) {
      cleanUp()
      reject(error)
    }
    function resolveIfFound(item: T | undefined) {
      if (item === undefined) return
      cleanUp()
      resolve(item)
    }
    function search() {
      searching = Promise.resolve().then(findExisting).then(resolveIfFound, fail)
    }
    search()
  })
}

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
