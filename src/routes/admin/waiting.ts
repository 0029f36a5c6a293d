import type * as z from 'zod'
import { formatDuration } from '../../model/duration.ts'
import { callerGone, SandboxError } from '../../model/errors.ts'
import { Timestamp } from '../../model/formats.ts'
import { countOf } from '../../model/words.ts'
import { missErrors, type NearMiss } from '../../requests/near-miss.ts'
import type { Later } from '../../runtime/real-time.ts'
import { MAX_FIRED } from '../../time/advance.ts'
import type { Fired } from '../../time/runner.ts'
import type { AnyFeedEvent } from '../../world/feed.ts'
import type { World } from '../../world/world.ts'
import { FiredResponse, requireClockTime } from './clock.ts'

/** How long to wait in real time, and for whom; `hint` ends the message of one that was too late. */
type Waiting = { later: Later; timeoutMs: number; signal: AbortSignal; hint: () => string }

/** An advance of a wait: where it began, where it ends at the latest, ms, and how many timers ran. */
export type Progress = { from: string; end: number; ran: number }

/** Something to wait for: `findExisting` searches the present state, `onEvent` checks each later event of the feed. */
export type WaitTarget<T> = {
  noun: string
  findExisting: () => Promise<T | undefined> | T | undefined
  onEvent: (event: AnyFeedEvent) => T | undefined
  /** The closest requests, and why none matched: sentences that start with a space. */
  explain: () => { misses: NearMiss[]; reason: string }
}

const feedEnded = () =>
  new SandboxError('not_ready', 'The client was deleted or the sandbox is shutting down.')

/** When the next timer of the client is due, and how to advance a frozen clock. */
export function clockHint({ clock }: World): string {
  const isFrozen = clock.state.mode === 'frozen'
  const frozen = ` The client's clock is frozen at ${clock.iso()}`
  const next = clock.timers.next()
  if (!next) return isFrozen ? `${frozen}, and no timer is pending.` : ' No timer is pending.'
  const left = formatDuration(Math.max(0, next.due_at - clock.now()))
  if (!isFrozen) return ` The next timer is due in ${left} of the client's time.`
  return `${frozen}; the next timer is due in ${left}: POST /__admin/clock/advance {"by":"${left}"}.`
}

/** How far a wait has moved the clock, and why it went no further. */
export function movedHint({ clock }: World, { from, end, ran }: Progress): string {
  const isThere = clock.now() >= end
  const why = isThere
    ? ', the limit of `advance`'
    : clock.timers.isWaitingForReceivers()
      ? ', where your receiver has not responded to a webhook'
      : ''
  return ` The wait moved the clock from ${from} to ${clock.iso()}${why}, and ran ${countOf(ran, 'timer')}.`
}

/**
 * Resolves with the match as soon as it exists; rejects with `wait_timeout` after this real time, or with `not_ready` if
 * the feed closes. `signal` is aborted when the caller stops waiting.
 */
export function waitFor<T>(
  { noun, findExisting, onEvent, explain }: WaitTarget<T>,
  { feed }: World,
  { later, timeoutMs, signal, hint }: Waiting,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let stop: (() => void) | undefined
    let searching: Promise<unknown> = Promise.resolve()
    // Before the feed is watched: one that has ended says so immediately.
    const onAbort = () => fail(callerGone())
    function failInTime() {
      const { misses, reason } = explain()
      const message = `No ${noun} matched within ${timeoutMs} ms.${reason}${hint()}`
      fail(new SandboxError('wait_timeout', message, { errors: missErrors(misses) }))
    }
    // A search that is still running may find it.
    const cancelTimeout = later(timeoutMs, () => searching.then(failInTime).catch(fail))
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

export const Advanced = FiredResponse.extend({ from: Timestamp }).meta({ id: 'Advanced' })
type Advanced = z.input<typeof Advanced>

/** The advance of a wait by a span, before it begins. */
export function progressOf({ clock }: World, span: number): Progress {
  return { from: clock.iso(), end: requireClockTime(clock.now() + span, 'advance'), ran: 0 }
}

/**
 * Runs the timers of a frozen clock, those of one instant after the other, until a wait has ended; after the last of
 * them the clock goes to the end of the span.
 */
export async function advanceUntil(
  waiting: Promise<unknown>,
  { clock }: World,
  progress: Progress,
  { signal, later }: Pick<Waiting, 'signal' | 'later'>,
): Promise<Advanced> {
  const { from, end } = progress
  const fired: Fired[] = []
  let isOver = false
  const over = () => {
    isOver = true
  }
  waiting.then(over, over)
  const persist = () => clock.change(() => {})
  for (let isLast = false; ; ) {
    // What the timers caused may be what is waited for, or cause a call that is.
    await new Promise<void>((resolve) => void later(0, resolve))
    if (isOver || isLast) break
    const { due_at = end + 1 } = clock.timers.next() ?? {}
    isLast = due_at > end
    const moved = await clock.timers.advanceTo(Math.min(due_at, end), { persist, signal })
    fired.push(...moved.fired.slice(0, MAX_FIRED - fired.length))
    progress.ran += moved.omitted + moved.fired.length
  }
  const left_out = progress.ran - fired.length
  return { from, now: clock.iso(), fired, ...(left_out > 0 && { left_out }) }
}
