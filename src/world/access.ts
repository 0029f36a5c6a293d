import type { Assumed } from '../assumptions/assumed.ts'
import type { SandboxTables } from '../tables/tables.ts'
import type { Clock } from '../time/clock.ts'
import { createCallRate } from './call-rate.ts'
import { createTokenAge } from './token-age.ts'

/** Whether a client may make a call: the age of its token, and the rate of its calls. */
export function createAccess(tables: SandboxTables, clock: Clock, assumed: Assumed) {
  const age = createTokenAge(tables, clock, assumed)
  const rate = createCallRate(clock, assumed)
  return {
    start: age.start,
    /** Counts a call; throws `unauthorized` or `rate_limited`. */
    enter(hasToken: () => boolean) {
      age.check(hasToken)
      rate.count()
    },
    /** Forgets the calls that were counted. */
    forget: rate.reset,
  }
}

export type Access = ReturnType<typeof createAccess>
