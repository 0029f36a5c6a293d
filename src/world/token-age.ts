import type { Assumed } from '../assumptions/assumed.ts'
import { tokenLifetime } from '../assumptions/token-lifetime.ts'
import { formatDuration } from '../model/duration.ts'
import { SandboxError } from '../model/errors.ts'
import type { SandboxTables } from '../tables/tables.ts'
import type { Clock } from '../time/clock.ts'

/** Stores when the token of a client was issued, on its clock. */
export const storeTokenIssue = (tables: SandboxTables, issued_at: number): void =>
  void tables.put('settings', { name: 'token', value: { issued_at } })

function issuedAt({ tables: { settings } }: SandboxTables) {
  const setting = settings.get('token')
  return setting?.name === 'token' ? setting.value.issued_at : undefined
}

/** Issues the token of a new client, or of a data file of an earlier version. */
export function issueToken(tables: SandboxTables, now: number) {
  if (issuedAt(tables) === undefined) storeTokenIssue(tables, now)
}

/** The age of a client's access token. */
export function createTokenAge(tables: SandboxTables, clock: Clock, assumed: Assumed) {
  return {
    start: () => issueToken(tables, clock.now()),
    /** Throws `unauthorized` if the token of a call has expired; `hasToken` says whether the call has one that counts. */
    check(hasToken: () => boolean) {
      const lifetime = assumed.get(tokenLifetime)
      if (lifetime === Number.POSITIVE_INFINITY || !hasToken()) return
      const end = issuedAt(tables)! + lifetime
      if (clock.now() < end) return
      throw new SandboxError(
        'unauthorized',
        `The access token expired at ${new Date(end).toISOString()}: its lifetime is ${formatDuration(lifetime)} of the client's time (token_lifetime). Reset the client with POST /__admin/reset to renew it.`,
        { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } },
      )
    },
  }
}
