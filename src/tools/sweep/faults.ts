import type { Assumption } from '../../assumptions/assumption.ts'
import { ASSUMPTIONS, type Readings } from '../../assumptions/readings.ts'
import { OPERATIONS } from '../../routes/v1/operations.ts'
import type { OperationId } from '../../scenarios/operations-and-events.ts'
import type { OutcomeDefinition } from '../../scenarios/outcome-schema.ts'
import { callOf, onlyAt, ordinal, ruleName } from './fault-words.ts'
import type { Fault, Observation } from './faults-and-findings.ts'
import { callPoints, documentPoints, type Point, type PointChoice } from './points.ts'
import { webhookFaults } from './webhook-faults.ts'

const isRead = (operation: OperationId) =>
  OPERATIONS.find(({ id }) => id === operation)?.method === 'GET'

// ---- calls

type CallFault = {
  name: string
  what: (call: string) => string
  then: OutcomeDefinition
  mustAbsorb?: boolean
  /** It differs from another fault only if the call changes something. */
  writesOnly?: true
}

const RETRY_AFTER = { 'retry-after': '1' }

const CALL_FAULTS: readonly CallFault[] = [
  {
    name: 'reset',
    what: (call) => `the connection of the ${call} is closed before it is carried out`,
    then: { fault: 'reset' },
  },
  {
    name: 'answer_lost',
    what: (call) => `the ${call} is carried out, and its response is lost`,
    then: { fault: 'reset', at: 'after' },
    writesOnly: true,
  },
  {
    name: 'error_500',
    what: (call) => `the ${call} gets 500, and is not carried out`,
    then: { respond: { status: 500 } },
  },
  {
    name: 'unavailable',
    what: (call) => `the ${call} gets 503 with Retry-After: 1, and is not carried out`,
    then: { respond: { status: 503, headers: RETRY_AFTER } },
  },
  {
    name: 'rate_limited',
    what: (call) => `the ${call} gets 429 with Retry-After: 1, and is not carried out`,
    then: { respond: { status: 429, headers: RETRY_AFTER } },
  },
  {
    name: 'truncated',
    what: (call) => `the ${call} is carried out, and its response ends in the middle`,
    then: { fault: 'truncate', at: 'after' },
  },
  {
    name: 'no_answer',
    what: (call) => `the ${call} is carried out, and never gets a response`,
    then: { fault: 'hang', at: 'after' },
  },
  {
    name: 'slow',
    what: (call) => `the response of the ${call} takes 5 s`,
    then: { delay: '5s' },
    mustAbsorb: true,
  },
]

export const CALL_NAMES: readonly string[] = [...CALL_FAULTS.map(({ name }) => name), 'outage']

const callFault =
  (operation: OperationId, { nth }: Point) =>
  ({ name, what, then, mustAbsorb = false }: CallFault): Fault => ({
    kind: 'call',
    name,
    operation,
    nth,
    what: what(`${ordinal(nth)} ${callOf(operation)}`),
    mustAbsorb,
    scenario: {
      rules: [{ name: ruleName(name, nth, operation), when: { operation }, ...onlyAt(nth), then }],
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
        then: { respond: { status: 503, headers: RETRY_AFTER } },
      },
    ],
  },
})

const callFaults = (baseline: Observation, choice: PointChoice): Fault[] =>
  callPoints(baseline, choice).flatMap(({ operation, points }) =>
    points.flatMap((point) => [
      ...CALL_FAULTS.filter(({ writesOnly }) => !writesOnly || !isRead(operation)).map(
        callFault(operation, point),
      ),
      outage(operation, point),
    ]),
  )

// ---- lifecycles

type LifecycleFault = { name: string; what: string; then: OutcomeDefinition }

const LIFECYCLE_FAULTS: readonly {
  operation: OperationId
  /** What the call creates. */
  record: string
  faults: readonly LifecycleFault[]
}[] = [
  {
    operation: 'submitKyc',
    record: 'KYC document',
    faults: [
      { name: 'kyc_failed', what: 'fails its check', then: { kyc: [{ status: 'failed' }] } },
      { name: 'kyc_pending', what: 'stays pending', then: { kyc: [{ status: 'pending' }] } },
    ],
  },
  {
    operation: 'addBankAccount',
    record: 'bank account',
    faults: [
      { name: 'account_refused', what: 'is refused', then: { bank: [{ status: 'failed' }] } },
      { name: 'account_pending', what: 'stays pending', then: { bank: [{ status: 'pending' }] } },
    ],
  },
  {
    operation: 'createTransaction',
    record: 'payment',
    faults: [
      {
        name: 'payment_failed',
        what: 'fails after 2 s',
        then: {
          transaction: [
            { status: 'PENDING' },
            { status: 'FAILED', after: '2s', reason: 'beneficiary_bank_offline' },
          ],
        },
      },
      {
        name: 'payment_late',
        what: 'stays pending for 25 minutes',
        then: {
          transaction: [
            { status: 'PENDING' },
            { status: 'PROCESSING', after: '25m' },
            { status: 'SUCCESS', after: '5s' },
          ],
        },
      },
      {
        name: 'payment_stuck',
        what: 'stays in processing for ever',
        then: { transaction: [{ status: 'PENDING' }, { status: 'PROCESSING', after: '1s' }] },
      },
      {
        name: 'payment_reversed',
        what: 'succeeds, and comes back a day later',
        then: {
          transaction: [
            { status: 'PENDING' },
            { status: 'PROCESSING', after: '1s' },
            { status: 'SUCCESS', after: '2s' },
            { status: 'FAILED', after: '1d', reason: 'beneficiary_bank_rejected' },
          ],
        },
      },
    ],
  },
]

export const LIFECYCLE_NAMES: readonly string[] = LIFECYCLE_FAULTS.flatMap(({ faults }) =>
  faults.map(({ name }) => name),
)

function lifecycleFaults(baseline: Observation, choice: PointChoice): Fault[] {
  const points = new Map(
    callPoints(baseline, choice).map(({ operation, points: own }) => [
      operation,
      own.map(({ nth }) => nth),
    ]),
  )
  // Rules count each document of a call.
  points.set('submitKyc', documentPoints(baseline, choice))
  return LIFECYCLE_FAULTS.flatMap(({ operation, record, faults }) =>
    (points.get(operation) ?? []).flatMap((nth) =>
      faults.map(
        ({ name, what, then }): Fault => ({
          kind: 'lifecycle',
          name,
          operation,
          nth,
          what: `the ${ordinal(nth)} ${record} ${what}`,
          mustAbsorb: false,
          scenario: {
            rules: [
              { name: ruleName(name, nth, operation), when: { operation }, ...onlyAt(nth), then },
            ],
          },
        }),
      ),
    ),
  )
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
