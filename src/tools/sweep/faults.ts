import type { Assumption } from '../../assumptions/assumption.ts'
import { ASSUMPTIONS, type Readings } from '../../assumptions/readings.ts'
import { OPERATIONS } from '../../routes/v1/operations.ts'
import type { OperationId } from '../../scenarios/operations-and-events.ts'
import { CALL_FAULTS, type CallFaultName, LIFECYCLE_FAULTS } from '../faults.ts'
import type { Fault, Observation } from './faults-and-findings.ts'
import {
  callOf,
  callPoints,
  documentPoints,
  onlyAt,
  ordinal,
  type Point,
  type PointChoice,
  ruleName,
} from './points.ts'
import { webhookFaults } from './webhook-faults.ts'

const isRead = (operation: OperationId) =>
  OPERATIONS.find(({ id }) => id === operation)?.method === 'GET'

// ---- calls

/** The call faults of a sweep; the others show what one of these shows. */
const SWEPT = [
  'reset',
  'reset_after',
  'respond_500',
  'respond_503',
  'respond_429',
  'truncate_after',
  'hang_after',
  'delay',
] as const satisfies readonly CallFaultName[]
type Swept = (typeof SWEPT)[number]

/** They differ from another fault only if the call changes something. */
const WRITES_ONLY: ReadonlySet<string> = new Set(['reset_after'])

export const CALL_NAMES: readonly string[] = [...SWEPT, 'outage']

const callFault =
  (operation: OperationId, { nth }: Point) =>
  (name: Swept): Fault => ({
    kind: 'call',
    name,
    operation,
    nth,
    what: CALL_FAULTS[name].what(`${ordinal(nth)} ${callOf(operation)}`),
    mustAbsorb: name === 'delay',
    scenario: {
      rules: [
        {
          name: ruleName(name, nth, operation),
          when: { operation },
          ...onlyAt(nth),
          then: CALL_FAULTS[name].then({}),
        },
      ],
    },
  })

const outage = (operation: OperationId, { nth, nthOfAll }: Point): Fault => ({
  kind: 'call',
  name: 'outage',
  operation,
  nth,
  what: `from the ${ordinal(nth)} ${callOf(operation)} on, every call gets 503 with Retry-After: 1`,
  mustAbsorb: false,
  scenario: {
    rules: [
      {
        name: ruleName('outage', nth, operation),
        when: { operation: '*' },
        ...(nthOfAll > 1 && { skip: nthOfAll - 1 }),
        then: CALL_FAULTS.respond_503.then({}),
      },
    ],
  },
})

const callFaults = (baseline: Observation, choice: PointChoice): Fault[] =>
  callPoints(baseline, choice).flatMap(({ operation, points }) =>
    points.flatMap((point) => [
      ...SWEPT.filter((name) => !WRITES_ONLY.has(name) || !isRead(operation)).map(
        callFault(operation, point),
      ),
      outage(operation, point),
    ]),
  )

// ---- lifecycles

export const LIFECYCLE_NAMES = (
  Object.keys(LIFECYCLE_FAULTS) as (keyof typeof LIFECYCLE_FAULTS)[]
).filter((name) => name !== 'payment_pending')

function lifecycleFaults(baseline: Observation, choice: PointChoice): Fault[] {
  const points = new Map(
    callPoints(baseline, choice).map(({ operation, points: own }) => [
      operation,
      own.map(({ nth }) => nth),
    ]),
  )
  // Rules count each document of a call.
  points.set('submitKyc', documentPoints(baseline, choice))
  return [...points].flatMap(([operation, own]) => {
    const names = LIFECYCLE_NAMES.filter((name) => LIFECYCLE_FAULTS[name].operation === operation)
    return own.flatMap((nth) =>
      names.map((name): Fault => {
        const { record, what, then } = LIFECYCLE_FAULTS[name]
        const rule = ruleName(name, nth, operation)
        return {
          kind: 'lifecycle',
          name,
          operation,
          nth,
          what: `the ${ordinal(nth)} ${record} ${what}`,
          mustAbsorb: false,
          scenario: {
            rules: [{ name: rule, when: { operation }, ...onlyAt(nth), then: then({}) }],
          },
        }
      }),
    )
  })
}

// ---- assumptions

/** How many calls and events of a run an assumption concerns. */
export function concernedBy(
  name: string,
  { calls, events }: Pick<Observation, 'calls' | 'events'>,
): number {
  const { concerns } = ASSUMPTIONS.find((one) => one.name === name)!
  const isConcerned = concerns.includes('all calls')
    ? () => true
    : ({ operation }: Observation['calls'][number]) => concerns.includes(operation)
  const sent = concerns.includes('webhooks') ? events : 0
  return calls.filter(isConcerned).length + sent
}

/** The readings that an integration can absorb, with what they do. */
const absorbable = ({ readings, form }: Assumption): { reading: string; does: string }[] =>
  [
    ...Object.entries(readings).map(([reading, way]) => ({ reading, ...way })),
    ...(form ? [{ reading: form.example, ...form }] : []),
  ].filter(({ notAbsorbable }) => notAbsorbable === undefined)

const assumptionFaults = (baseline: Observation, inForce: Readings): Fault[] =>
  ASSUMPTIONS.filter(({ name }) => concernedBy(name, baseline) > 0).flatMap((one) =>
    absorbable(one)
      .filter(({ reading }) => reading !== inForce[one.name])
      .map(
        ({ reading }): Fault => ({
          kind: 'assumption',
          name: `${one.name}=${reading}`,
          what: `the contract is read as ${one.name}=${reading}`,
          mustAbsorb: true,
          scenario: { assume: { [one.name]: reading } },
        }),
      ),
  )

/** Everything that the contract permits to happen otherwise than in the baseline, one by one. */
export const faultsOf = (
  baseline: Observation,
  choice: PointChoice,
  inForce: Readings,
): readonly Fault[] => [
  ...assumptionFaults(baseline, inForce),
  ...callFaults(baseline, choice),
  ...lifecycleFaults(baseline, choice),
  ...webhookFaults(baseline, choice),
]
