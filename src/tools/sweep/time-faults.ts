import { ENDPOINT_OF, type OperationId } from '../../scenarios/operations-and-events.ts'
import { seconds } from '../counting.ts'
import type { PointChoice, Possible } from './faults.ts'
import { callText, isRead, lastOf, pointsOf, ruleFault } from './faults.ts'
import type { Fault, Observation, Plan, Run } from './faults-and-findings.ts'

// Faults of time: calls that meet, and calls that take long.

// ---- calls that meet

export const RACE_NAMES = ['two_workers', 'race', 'event_before_read', 'event_after_read'] as const
type RaceName = (typeof RACE_NAMES)[number]

const raceFault = (fault: Omit<Fault, 'kind' | 'scenario'> & { name: RaceName }): Fault => ({
  kind: 'race',
  scenario: {},
  ...fault,
})

// The reads right before a payment are those that decide about it.
const MAX_HELD_READS = 3

/** The calls that race: the payment, and the reads before the first one, the last one first. */
function racing({ calls }: Observation): OperationId[] {
  const first = calls.findIndex(({ operation }) => operation === 'createTransaction')
  if (first < 0) return []
  const reads = calls.slice(0, first).filter(({ operation }) => isRead(operation))
  const names = [...new Set(reads.reverse().map(({ operation }) => operation as OperationId))]
  return ['createTransaction', ...names.slice(0, MAX_HELD_READS)]
}

/** The first read of a payment about which an event followed. */
const readBeforeEvent = ({ calls, deliveries }: Observation) =>
  calls.find(
    ({ operation, path, nth, atMs }) =>
      operation === 'getTransaction' &&
      nth !== null &&
      deliveries.some((one) => path.includes(one.resource_id) && one.beganMs > atMs),
  )

const WORKER_WORDS = ['', 'one worker', 'two workers', 'three workers', 'four workers']

/** Calls of two workers that meet, and an event that meets a read of its payment. */
export function raceFaults(baseline: Observation, { workers }: Possible): Fault[] {
  if (workers === undefined) return []
  const who = WORKER_WORDS[workers]
  const at = workers > 1 ? `${who} run at once, and ` : ''
  const alone = raceFault({ name: 'two_workers', what: `${who} run at once`, race: { workers } })
  const isTwice = (one: OperationId) => workers > 1 || lastOf(baseline, one) > 1
  const held = racing(baseline)
    .filter(isTwice)
    .flatMap((holds) =>
      [1, 2].map((nth) => {
        const call = ENDPOINT_OF[holds]
        const next = workers > 1 ? `worker ${nth}'s` : nth === 1 ? 'the first' : 'the second'
        return raceFault({
          name: 'race',
          operation: holds,
          nth,
          what: `${at}two ${call} meet, ${next} first`,
          race: { workers, holds, isReversed: nth === 2 },
        })
      }),
    )
  const read = readBeforeEvent(baseline)
  const names = read ? (['event_before_read', 'event_after_read'] as const) : []
  const meets = names.map((name): Fault => {
    const point = { name, operation: 'getTransaction', nth: read!.nth! } as const
    const isAfter = name === 'event_after_read'
    const what = `an event arrives while the ${callText(point)} of its payment is under way, and the response ${isAfter ? "doesn't show it yet" : 'shows it'}`
    const then = { delay: '5s', ...(isAfter && { at: 'after' as const }) }
    const race = { workers: 1, bringsEvent: true }
    return { ...ruleFault({ ...point, kind: 'race', what }, { then }), race }
  })
  return [...(workers > 1 ? [alone] : []), ...held, ...meets]
}

// ---- calls that take long

export const SLOW_NAMES = ['slow', 'slow_after'] as const

/** Whether a fault shows how long the command waits for a payment's response. */
export const showsTimeout = ({ name, operation, nth }: Fault) =>
  name === 'hang_after' && operation === 'createTransaction' && nth === 1

// A call that takes this part of the time which its caller waits succeeds, and outlasts a shorter lease.
const PART = 0.8
const MAX_MS = 24_000

/** Payments that take most of the time which the command waits for one, and succeed: alone, and with several workers if it has them. */
export function slowPlans(
  runs: readonly Run[],
  baseline: Observation,
  choice: PointChoice,
  workers: Fault | undefined,
): Plan[] {
  const hanging = runs.find(
    ({ plan: [fault, ...more] }) => more.length === 0 && showsTimeout(fault!),
  )
  const { patienceMs, isHung } = hanging?.observation ?? {}
  // Who waits for ever has no lease that this could outlast.
  if (patienceMs === undefined || isHung) return []
  const delayMs = Math.round(Math.min(patienceMs * PART, MAX_MS))
  return pointsOf(baseline, 'createTransaction', choice).flatMap((point) =>
    SLOW_NAMES.flatMap((name): Plan[] => {
      const isFirst = name === 'slow_after'
      const what = `the ${callText(point)} takes ${seconds(delayMs)} of the ${seconds(patienceMs)} that its caller waits, and is carried out ${isFirst ? 'at once' : 'at the end'}`
      const then = { delay: `${delayMs}ms`, ...(isFirst && { at: 'after' as const }) }
      const fault = ruleFault({ ...point, kind: 'call', name, what }, { then })
      return [[fault], ...(workers && point.nth === 1 ? [[workers, fault]] : [])]
    }),
  )
}
