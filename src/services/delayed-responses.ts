import { formatDuration } from '../core/duration.ts'
import type { Runtime } from '../core/runtime.ts'
import { callerGone, SandboxError } from '../model/errors.ts'
import type { WorldContext } from './world-context.ts'

/** The kind of timer that a held-back answer is. */
const DELAYED = 'answer.delay'
// Whoever waits for longer than this, real ms, on a frozen clock is told why.
const WARN_AFTER_MS = 1_000

type Waiting = { run: () => Promise<void>; reject: (error: SandboxError) => void }

export type DelayedResponsesDeps = WorldContext & {
  /** How the client is called in a message. */
  name: string
  outside: Pick<Runtime, 'later'>
  warn: (message: string) => void
}

const cancelled = () =>
  new SandboxError('not_ready', 'The delayed response was cancelled. Send the request again.')

/** Answers that a scenario delays: a timer row each, and the request that waits for it in this process. */
export function createDelayedResponses(deps: DelayedResponsesDeps) {
  const { store, clock, scheduler, name, outside, warn } = deps
  const { timers } = store.tables
  const waiting = new Map<string, Waiting>()

  scheduler.handle(DELAYED, ({ timer_id }) => {
    const run = waiting.get(timer_id)?.run
    waiting.delete(timer_id)
    // After the timer's own change: what the request then does stands or falls by itself.
    return run && Promise.resolve().then(run)
  })

  function warnIfFrozen(call: string, due_at: number) {
    const left = due_at - clock.now()
    if (clock.state.mode !== 'frozen' || left <= 0) return
    warn(
      `client ${name}: ${call} waits for ${formatDuration(left)} of the client's time, but the client's clock is frozen. Advance it with POST /__admin/clock/advance {"by":"${formatDuration(left)}"}`,
    )
  }

  function drop(timer_id: string) {
    waiting.delete(timer_id)
    // Where that can't be written the timer runs without effect.
    try {
      store.remove('timers', timer_id)
    } catch {}
  }

  return {
    /**
     * Runs a function after a span of the client's time; whoever advances the clock waits for its end. `call` is what
     * waits, in words; where `signal` is aborted before, nothing is run.
     */
    after: <T>(ms: number, call: string, run: () => T | Promise<T>, signal: AbortSignal) =>
      new Promise<T>((resolve, reject) => {
        const { timer_id, due_at } = store.change(() =>
          scheduler.schedule({ due_at: clock.now() + ms, kind: DELAYED, payload: {} }),
        )
        const endWarning = outside.later(WARN_AFTER_MS, () => warnIfFrozen(call, due_at))
        const onAbort = () => {
          drop(timer_id)
          giveUp(callerGone())
        }
        function cleanUp() {
          endWarning()
          signal.removeEventListener('abort', onAbort)
        }
        function giveUp(error: SandboxError) {
          cleanUp()
          reject(error)
        }
        async function runNow() {
          cleanUp()
          try {
            resolve(await run())
          } catch (error) {
            reject(error)
          }
        }
        waiting.set(timer_id, { run: runNow, reject: giveUp })
        if (signal.aborted) onAbort()
        else signal.addEventListener('abort', onAbort)
      }),
    /** Answers the delayed requests whose timer is gone: cancelled, or dropped by a reset. */
    rejectCancelled() {
      for (const [id, { reject: giveUp }] of [...waiting]) {
        if (timers.get(id)) continue
        waiting.delete(id)
        giveUp(cancelled())
      }
    },
    /** Refuses all that waits: the client is deleted. */
    rejectAll() {
      for (const { reject: giveUp } of waiting.values()) giveUp(cancelled())
      waiting.clear()
    },
    /** Carries out and answers, before a stop, what was to be answered later: nobody moves the clock any more. */
    runAll() {
      for (const [id, { run }] of [...waiting]) {
        waiting.delete(id)
        void run()
      }
    },
    /** Drops the timers of answers that nobody waits for: of an earlier process, another client or another moment. */
    removeOrphanedTimers() {
      for (const { timer_id, kind } of [...timers.rows()])
        if (kind === DELAYED && !waiting.has(timer_id)) store.remove('timers', timer_id)
    },
  }
}
