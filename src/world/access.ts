// world/: one client with all its parts, and all clients of a sandbox. world.ts puts the parts together, each in a file of
// its name; sandbox.ts has the clients.

import { rateLimit, tokenLifetime } from '../assumptions/requests.ts'
import { formatDuration } from '../model/duration.ts'
import { SandboxError } from '../model/errors.ts'
import { type SandboxTables, settingOf } from '../tables/tables.ts'
import type { WorldContext } from '../tables/world-context.ts'

const MINUTE_MS = 60_000

/** Stores when the token of a client was issued, on its clock. */
export const storeTokenIssue = (tables: SandboxTables, issued_at: number): void =>
  void tables.put('settings', { name: 'token', value: { issued_at } })

const issuedAt = ({ tables }: SandboxTables) => settingOf(tables.settings, 'token')?.issued_at

/** Whether a client may make a call: the age of its token, and the rate of its calls. */
export function createAccess({ store: tables, clock, assumed }: WorldContext) {
  // The token bucket of the rate: calls that may be made now; `undefined` if it is full.
  let left: number | undefined
  let filledAt = 0

  /** Throws `unauthorized` if the token of a call has expired; `hasToken` says whether the call has one that counts. */
  function checkAge(hasToken: () => boolean) {
    const lifetime = assumed.get(tokenLifetime)
    if (lifetime === Number.POSITIVE_INFINITY || !hasToken()) return
    const end = issuedAt(tables)! + lifetime
    if (clock.now() < end) return
    throw new SandboxError(
      'unauthorized',
      `The access token expired at ${new Date(end).toISOString()}: its lifetime is ${formatDuration(lifetime)} of the client's time (token_lifetime). Reset the client with POST /__admin/reset to renew it.`,
      { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } },
    )
  }

  /** Counts a call; throws `rate_limited` if no more are allowed now. */
  function countCall() {
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
  }

  return {
    start() {
      if (issuedAt(tables) === undefined) storeTokenIssue(tables, clock.now())
    },
    /** Counts a call; throws `unauthorized` or `rate_limited`. */
    enter(hasToken: () => boolean) {
      checkAge(hasToken)
      countCall()
    },
    forget() {
      left = undefined
    },
  }
}
