import type { Fault, Observation, SeenDelivery } from './faults-and-findings.ts'

/** Which calls and events of each kind get faults: the first, the second and the last one; or the first one alone, or all. */
export type PointChoice = 'first-last' | 'first' | 'all'

// More payments of one run are of one kind.
const MAX_PAYMENTS = 30

/** The numbers of the calls, documents or events that get faults, of those up to the last one. */
export function numbersUpTo(last: number, choice: PointChoice): number[] {
  if (choice === 'all') return Array.from({ length: last }, (_, i) => i + 1)
  const wanted = choice === 'first' ? [1] : [1, 2, last]
  return [...new Set(wanted)].filter((n) => n >= 1 && n <= last).sort((a, b) => a - b)
}

/** The number of the last call of an operation, as rules count them; 0 if there is none. */
export const lastOf = ({ calls }: Observation, operation: string): number =>
  Math.max(0, ...calls.map((one) => (one.operation === operation ? (one.nth ?? 0) : 0)))

/** The payments between the second and the last one, if those of `first-last` are wanted. */
export const otherPayments = (baseline: Observation, choice: PointChoice): number[] =>
  choice === 'first-last'
    ? numbersUpTo(lastOf(baseline, 'createTransaction'), 'all').slice(2, -1).slice(0, MAX_PAYMENTS)
    : []

/** The events of one type that the baseline's receiver got. */
export type EventPoints = {
  event: string
  numbers: number[]
  signed: SeenDelivery['signed']
  /** The type that follows this one for the same resource; absent for a last one. */
  next?: string | undefined
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
    const last = Math.max(...own.map(({ nth }) => nth))
    return { event, numbers: numbersUpTo(last, choice), signed, next: next?.event }
  })
}

const ENDINGS = ['th', 'st', 'nd', 'rd']

/** `1st`, `2nd`, `11th`. */
export function ordinal(n: number): string {
  const tens = n % 100
  return `${n}${(tens > 10 && tens < 14 ? undefined : ENDINGS[n % 10]) ?? 'th'}`
}

/** The limits of a rule that acts only once, at the n-th match. */
export const onlyAt = (nth: number) => ({ ...(nth > 1 && { skip: nth - 1 }), times: 1 })

/** The name of a fault's rule, in the log and in the scenario file. */
export const ruleName = ({ name, nth, operation }: Pick<Fault, 'name' | 'nth' | 'operation'>) =>
  `${ordinal(nth!)} ${operation}: ${name}`
