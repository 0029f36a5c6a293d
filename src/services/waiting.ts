import type { Runtime } from '../core/runtime.ts'
import { isSliceOver, ownTurn } from '../core/turns.ts'
import { callerGone, SandboxError } from '../model/errors.ts'
import type { AnyFeedEvent, Feed } from './feed.ts'

/** Something to wait for: `look` searches what is there, `see` judges what is told of from now on. */
export type WaitedFor<T> = {
  look: () => Promise<T | undefined> | T | undefined
  see: (told: AnyFeedEvent) => T | undefined
  /** Real ms. */
  timeoutMs: number
  /** The refusal where it does not come in time. */
  late: () => SandboxError
  /** Aborted when nobody waits any more. */
  signal: AbortSignal
}

const stopped = () =>
  new SandboxError('not_ready', 'The client was deleted or the sandbox is shutting down.')

/** Answers with what is waited for, as soon as it is there; throws `wait_timeout`, or `not_ready` where the feed ends. */
export function waitFor<T>(
  { feed, outside }: { feed: Feed; outside: Pick<Runtime, 'later'> },
  { look, see, timeoutMs, late, signal }: WaitedFor<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let stop: (() => void) | undefined
    let searching: Promise<unknown> = Promise.resolve()
    // What is being looked through may have it already.
    const giveUp = outside.later(timeoutMs, () => searching.then(() => fail(late())))
    stop = feed.watch({
      see(told) {
        // All there is was exchanged: what is waited for may be among it.
        if (told.kind === 'reset' || told.kind === 'restore') search()
        else found(see(told))
      },
      end: () => fail(stopped()),
    })

    const hungUp = () => fail(callerGone())
    if (signal.aborted) hungUp()
    else signal.addEventListener('abort', hungUp)

    function leave() {
      signal.removeEventListener('abort', hungUp)
      giveUp()
      stop?.()
    }
    function fail(error: unknown) {
      leave()
      reject(error)
    }
    function found(item: T | undefined) {
      if (item === undefined) return
      leave()
      resolve(item)
    }
    function search() {
      searching = Promise.resolve().then(look).then(found, fail)
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
