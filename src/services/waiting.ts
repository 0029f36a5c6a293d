import type { Runtime } from '../core/runtime.ts'
import { isSliceOver, ownTurn } from '../core/turns.ts'
import { callerGone, SandboxError } from '../model/errors.ts'
import type { AnyFeedEvent, Feed } from './feed.ts'

/** Something to wait for: `look` searches what is there, `see` judges what is told of from now on. */
export type WaitTarget<T> = {
  findExisting: () => Promise<T | undefined> | T | undefined
  onEvent: (told: AnyFeedEvent) => T | undefined
  /** Real ms. */
  timeout_ms: number
  /** The refusal where it does not come in time. */
  timeoutError: () => SandboxError
  /** Aborted when nobody waits any more. */
  signal: AbortSignal
}

const feedEnded = () =>
  new SandboxError('not_ready', 'The client was deleted or the sandbox is shutting down.')

/** Answers with what is waited for, as soon as it is there; throws `wait_timeout`, or `not_ready` where the feed ends. */
export function waitFor<T>(
  { feed, outside }: { feed: Feed; outside: Pick<Runtime, 'later'> },
  {
    findExisting: look,
    onEvent: see,
    timeout_ms: timeoutMs,
    timeoutError: late,
    signal,
  }: WaitTarget<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let stop: (() => void) | undefined
    let searching: Promise<unknown> = Promise.resolve()
    // What is being looked through may have it already.
    const cancelTimeout = outside.later(timeoutMs, () => searching.then(() => fail(late())))
    stop = feed.watch({
      onEvent(told) {
        // All there is was exchanged: what is waited for may be among it.
        if (told.kind === 'reset' || told.kind === 'restore') search()
        else resolveIfFound(see(told))
      },
      onEnd: () => fail(feedEnded()),
    })

    const onAbort = () => fail(callerGone())
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
      searching = Promise.resolve().then(look).then(resolveIfFound, fail)
    }
    search()
  })
}

/** The first of many things that is like this, looked for in slices that let others come in between, where it `pauses`. */
export async function firstOf<R, T>(
  rows: Iterable<R>,
  take: (row: R) => T | undefined,
  pauses: boolean,
): Promise<T | undefined> {
  for (const row of rows) {
    const taken = take(row)
    if (taken !== undefined) return taken
    if (pauses && isSliceOver()) await ownTurn()
  }
  return undefined
}
