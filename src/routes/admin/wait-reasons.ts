import { formatDuration } from '../../core/duration.ts'
import { DeliveryStatus } from '../../model/delivery.ts'
import { SandboxError } from '../../model/errors.ts'
import { maskSecrets } from '../../model/mask.ts'
import type { Test } from '../../scenarios/match.ts'
import { EVENTS } from '../../scenarios/words.ts'
import {
  checkOf,
  failedChecks,
  missErrors,
  type NearMiss,
  nearestOf,
} from '../../services/near-miss.ts'
import type { World } from '../../world.ts'

const STATUSES = ['pending', 'success', 'failed']
/** The fields that have one of a few words. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  transaction_status: STATUSES,
  kyc_status: STATUSES,
  bank_status: STATUSES,
  status: DeliveryStatus.options,
  event: EVENTS,
}
// Only the newest are looked at: they are what a test has just made.
const MAX_LOOKED_AT = 500

/** The refusal of a wait: each reason is a sentence that begins with a space. */
export const lateFor = (
  what: string,
  timeoutMs: number,
  reasons: readonly string[],
  misses: readonly NearMiss[],
) =>
  new SandboxError(
    'wait_timeout',
    `No ${what} was like this within ${timeoutMs} ms.${reasons.join('')}`,
    { errors: missErrors(misses) },
  )

/** What is wrong with a word that no record ever has, such as SUCCESS. */
export function spellingReason(tests: readonly Test[]): string {
  for (const { operator, path, argument } of tests) {
    const [field = ''] = path
    const words = path.length === 1 && operator === 'eq' ? WORDS[field] : undefined
    if (!words || typeof argument !== 'string' || words.includes(argument)) continue
    const meant = words.find((word) => word === argument.toLowerCase())
    const advice = meant ? `write "${meant}"` : `it is one of ${words.join(', ')}`
    return ` ${field} is never ${JSON.stringify(maskSecrets(argument.slice(0, 100)))}: ${advice}.`
  }
  return ''
}

/** When something happens next on the client's clock, and how to move a clock that is frozen. */
export function clockReason({ clock, scheduler }: World): string {
  const isFrozen = clock.state.mode === 'frozen'
  const frozen = ` The client's clock is frozen at ${clock.iso()}`
  const next = scheduler.next()
  if (!next) return isFrozen ? `${frozen}, and no timer is pending.` : ' No timer is pending.'
  const left = formatDuration(Math.max(0, next.due_at - clock.now()))
  if (!isFrozen) return ` The next timer is due in ${left} of the client's time.`
  return `${frozen}; the next timer is due in ${left}: POST /__admin/clock/advance {"by":"${left}"}.`
}

/** The newest of rows in the order they came, newest first. */
export const newest = <T>(rows: readonly T[]): T[] => rows.slice(-MAX_LOOKED_AT).reverse()

function* firstOf<T>(items: Iterable<T>, most: number): Generator<T> {
  let left = most
  for (const item of items) {
    if (left-- === 0) return
    yield item
  }
}

/** Of records as they are shown, newest first, those that come nearest to meeting the tests. */
export const nearestRecords = <T extends object>(
  records: Iterable<T>,
  tests: readonly Test[],
  whatIs: (record: T) => string,
): NearMiss[] => {
  const checks = tests.map((test) => checkOf(test, test.path.join('.')))
  return nearestOf(firstOf(records, MAX_LOOKED_AT), {
    failuresOf: (data) => failedChecks(checks, { data }),
    describe: whatIs,
  })
}
