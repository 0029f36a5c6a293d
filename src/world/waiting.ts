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
