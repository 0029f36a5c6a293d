import type { Assumed } from '../assumptions/assumed.ts'
import { rateLimit } from '../assumptions/rate-limit.ts'
import { SandboxError } from '../model/errors.ts'
import type { Clock } from '../time/clock.ts'

const MINUTE_MS = 60_000

/** Limits the calls of a client by a token bucket on its clock. It is in memory: a replay fills it in the same way. */
export function createCallRate(clock: Clock, assumed: Assumed) {
  // Calls that may be made now; `undefined` if the bucket is full.
  let left: number | undefined
  let filledAt = 0

  return {
    /** Counts a call; throws `rate_limited` if no more are allowed now. */
    count() {
      const perMinute = assumed.get(rateLimit)
      if (perMinute === Number.POSITIVE_INFINITY) return
      const now = clock.now()
      // The clock can be set back.
      const gained = (Math.max(0, now - filledAt) * perMinute) / MINUTE_MS
      const allowed = Math.min(perMinute, (left ?? perMinute) + gained)
      filledAt = now
      left = allowed >= 1 ? allowed - 1 : allowed
      if (allowed >= 1) return
      const seconds = Math.ceil(((1 - allowed) * MINUTE_MS) / perMinute / 1_000)
      throw new SandboxError(
        'rate_limited',
        `The client made more than ${perMinute} calls in a minute of its time (rate_limit). Call again ${seconds} s of the client's time later; on a frozen clock, advance it.`,
        { headers: { 'retry-after': String(seconds) } },
      )
    },
    /** Fills the bucket. */
    reset() {
      left = undefined
    },
  }
}
