import { formatDuration } from '../model/duration.ts'
import { callerGone, SandboxError } from '../model/errors.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { WorldContext } from '../tables/world-context.ts'

/** The kind of the timers of delayed responses. */
const DELAYED = 'response.delay'
// A request that waits longer than this on a frozen clock is logged, real ms.
const WARN_AFTER_MS = 1_000

type Waiting = { run: () => Promise<void>; reject: (error: SandboxError) => void }

export type DelayedResponsesDeps = WorldContext & {
  /** The name of the client, for messages. */
  name: string
  runtime: Pick<Runtime, 'later'>
  warn: (message: string) => void
}

const cancelled = () =>
  new SandboxError('not_ready', 'The delayed response was cancelled. Send the request again.')

/** Responses that a scenario delays: each has a timer row, and a request that waits for it in this process. */
export function createDelayedResponses(deps: DelayedResponsesDeps) {
  const { store, clock, scheduler, name, runtime, warn } = deps
  const { timers } = store.tables
  const waiting = new Map<string, Waiting>()

  scheduler.handle(DELAYED, ({ timer_id }) => {
    const run = waiting.get(timer_id)?.run
    waiting.delete(timer_id)
    // After the timer's own change: the request is a change of its own.
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
    // If this cannot be written, the timer runs without effect.
    try {
      store.remove('timers', timer_id)
    } catch {}
  }

  return {
    /**
     * Runs a function after `ms` of the client's time; an advance of the clock waits for its end. `call` describes the
     * request in messages. If `signal` is aborted before, the function does not run and the promise rejects.
     */
    after: <T>(ms: number, call: string, run: () => T | Promise<T>, signal: AbortSignal) =>
      new Promise<T>((resolve, reject) => {
        const { timer_id, due_at } = store.change(() =>
          scheduler.schedule({ due_at: clock.now() + ms, kind: DELAYED, payload: {} }),
        )
        const endWarning = runtime.later(WARN_AFTER_MS, () => warnIfFrozen(call, due_at))
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
    /** Rejects the delayed requests whose timer was cancelled or removed by a reset. */
    rejectCancelled() {
      for (const [id, { reject }] of [...waiting]) {
        if (timers.get(id)) continue
        waiting.delete(id)
        reject(cancelled())
      }
    },
    /** Rejects all delayed requests, when the client is deleted. */
    rejectAll() {
      for (const { reject } of waiting.values()) reject(cancelled())
      waiting.clear()
    },
    /** Runs all delayed requests before a stop, since the clock no longer moves. */
    runAll() {
      for (const [id, { run }] of [...waiting]) {
        waiting.delete(id)
        void run()
      }
    },
    /** Removes timers without a waiting request: of an earlier process, another client or an earlier state. */
    removeOrphanedTimers() {
      for (const { timer_id, kind } of [...timers.rows()])
        if (kind === DELAYED && !waiting.has(timer_id)) store.remove('timers', timer_id)
    },
  }
}

export type DelayedResponses = ReturnType<typeof createDelayedResponses>
