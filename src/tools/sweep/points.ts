import { ENDPOINT_OF, OPERATIONS, type OperationId } from '../../scenarios/operations-and-events.ts'
import type { Observation, SeenDelivery } from './faults-and-findings.ts'

/** Which calls and events of each kind get faults: the first, the second and the last one; or the first one alone, or all. */
export type PointChoice = 'first-last' | 'first' | 'all'

/** A call or an event at which something else can happen. */
export type Point = { nth: number; nthOfAll: number }

// More payments of one run are of one kind.
const MAX_PAYMENTS = 30

function numbersUpTo(last: number, choice: PointChoice): number[] {
  if (choice === 'all') return Array.from({ length: last }, (_, i) => i + 1)
  const wanted = choice === 'first' ? [1] : [1, 2, last]
  return [...new Set(wanted)].filter((n) => n >= 1 && n <= last).sort((a, b) => a - b)
}

/** The points of each operation that the baseline called, in the order of the contract. */
export function callPoints(
  { calls }: Observation,
  choice: PointChoice,
): { operation: OperationId; points: Point[] }[] {
  return OPERATIONS.map((operation) => {
    const own = calls.filter((call) => call.operation === operation && call.nth !== null)
    const last = Math.max(0, ...own.map(({ nth }) => nth!))
    const points = numbersUpTo(last, choice).flatMap((nth) => {
      const call = own.find((one) => one.nth === nth)
      return call ? [{ nth, nthOfAll: call.nthOfAll! }] : []
    })
    return { operation, points }
  }).filter(({ points }) => points.length > 0)
}

/** The payments between the second and the last one, if those of `first-last` are wanted. */
export const otherPayments = (baseline: Observation, choice: PointChoice): Point[] =>
  choice !== 'first-last'
    ? []
    : callPoints(baseline, 'all')
        .filter(({ operation }) => operation === 'createTransaction')
        .flatMap(({ points }) => points.slice(2, -1))
        .slice(0, MAX_PAYMENTS)

/** The numbers of the documents that the baseline submitted. */
export const documentPoints = ({ calls }: Observation, choice: PointChoice): number[] =>
  numbersUpTo(Math.max(0, ...calls.map(({ documents }) => documents)), choice)

/** The events of one type that the baseline's receiver got. */
export type EventPoints = {
  event: string
  numbers: number[]
  signed: SeenDelivery['signed']
  /** The type that follows this one for the same resource; absent for a last one. */
  next?: string
}

/** The points of each type of event that the baseline's receiver got, in order of appearance. */
export function eventPoints({ deliveries }: Observation, choice: PointChoice): EventPoints[] {
  const got = deliveries.filter(({ isAfterEnd, status }) => !isAfterEnd && status !== null)
  const types = [...new Set(got.map(({ event }) => event))]
  return types.map((event) => {
    const own = got.filter((one) => one.event === event)
    const { resource_id, client, signed } = own[0]!
    const ofResource = got.filter((one) => one.resource_id === resource_id && one.client === client)
    const next = ofResource.slice(ofResource.indexOf(own[0]!)).find((one) => one.event !== event)
    return {
      event,
      numbers: numbersUpTo(Math.max(...own.map(({ nth }) => nth)), choice),
      signed,
      ...(next && { next: next.event }),
    }
  })
}

// ---- a point in words

const ENDINGS = ['th', 'st', 'nd', 'rd']

/** `1st`, `2nd`, `11th`. */
export function ordinal(n: number): string {
  const tens = n % 100
  return `${n}${(tens > 10 && tens < 14 ? undefined : ENDINGS[n % 10]) ?? 'th'}`
}

/** An operation in words: `POST /transaction`. */
export const callOf = (operation: OperationId): string => ENDPOINT_OF[operation]

/** The limits of a rule that acts only once, at the n-th match. */
export const onlyAt = (nth: number) => ({ ...(nth > 1 && { skip: nth - 1 }), times: 1 })

/** The name of a fault's rule, in the log and in the scenario file. */
export const ruleName = (name: string, nth: number, of: string) => `${ordinal(nth)} ${of}: ${name}`
