import { DeliveryStatus } from '../../model/delivery.ts'
import { formatDuration } from '../../model/duration.ts'
import { SandboxError } from '../../model/errors.ts'
import { maskSecrets } from '../../model/mask.ts'
import {
  checkOf,
  failedChecks,
  missErrors,
  type NearMiss,
  nearestOf,
} from '../../requests/near-miss.ts'
import type { Test } from '../../scenarios/match.ts'
import { EVENTS } from '../../scenarios/operations-and-events.ts'
import type { World } from '../../world/world.ts'

const STATUSES = ['pending', 'success', 'failed']
/** The fields that have only a few known values, with these values. */
const KNOWN_VALUES: Readonly<Record<string, readonly string[]>> = {
  transaction_status: [...STATUSES, 'processing'],
  kyc_status: [...STATUSES, 'verified'],
  bank_status: [...STATUSES, 'in_progress', 'rejected'],
  status: DeliveryStatus.options,
  event: EVENTS,
}
// Only the newest records are compared: a test has just created them.
const MAX_COMPARED = 500

/** Returns the error of a wait that timed out; each reason is a sentence that starts with a space. */
export const timeoutError = (
  what: string,
  timeoutMs: number,
  reasons: readonly string[],
  misses: readonly NearMiss[],
) =>
  new SandboxError(
    'wait_timeout',
    `No ${what} matched within ${timeoutMs} ms.${reasons.join('')}`,
    { errors: missErrors(misses) },
  )

/** Returns a hint if a test requires a value that the field never has, such as SUCCESS. */
export function unknownValueHint(tests: readonly Test[]): string {
  for (const { operator, path, argument } of tests) {
    const [field = ''] = path
    const known = path.length === 1 && operator === 'eq' ? KNOWN_VALUES[field] : undefined
    if (!known || typeof argument !== 'string' || known.includes(argument)) continue
    const suggestion = known.find((word) => word === argument.toLowerCase())
    const advice = suggestion ? `write "${suggestion}"` : `use one of ${known.join(', ')}`
    return ` ${field} is never ${JSON.stringify(maskSecrets(argument.slice(0, 100)))}: ${advice}.`
  }
  return ''
}

/** Returns when the next timer of the client is due, and how to advance a frozen clock. */
export function clockHint({ clock }: World): string {
  const isFrozen = clock.state.mode === 'frozen'
  const frozen = ` The client's clock is frozen at ${clock.iso()}`
  const next = clock.timers.next()
  if (!next) return isFrozen ? `${frozen}, and no timer is pending.` : ' No timer is pending.'
  const left = formatDuration(Math.max(0, next.due_at - clock.now()))
  if (!isFrozen) return ` The next timer is due in ${left} of the client's time.`
  return `${frozen}; the next timer is due in ${left}: POST /__admin/clock/advance {"by":"${left}"}.`
}

/** Returns the newest rows, newest first; `rows` are oldest first. */
export const newestFirst = <T>(rows: readonly T[]): T[] => rows.slice(-MAX_COMPARED).reverse()

function* take<T>(items: Iterable<T>, max: number): Generator<T> {
  let left = max
  for (const item of items) {
    if (left-- === 0) return
    yield item
  }
}

/** Returns the records that come closest to passing the tests; `records` are newest first. */
export const nearestRecords = <T extends object>(
  records: Iterable<T>,
  tests: readonly Test[],
  nameOf: (record: T) => string,
): NearMiss[] => {
  const checks = tests.map((test) => checkOf(test, test.path.join('.')))
  return nearestOf(take(records, MAX_COMPARED), {
    failuresOf: (data) => failedChecks(checks, { data }),
    describe: nameOf,
  })
}
