import { OPERATIONS } from '../app.ts'
import type { Assumption } from '../assumptions/assumption.ts'
import { ASSUMPTIONS } from '../assumptions/list.ts'
import type { Readings } from '../assumptions/readings.ts'
import type { OutcomeDefinition } from '../scenarios/outcome-schema.ts'
import type { WebhookRuleDefinition } from '../scenarios/rule-schema.ts'
import type { OperationId } from '../scenarios/words.ts'
import {
  callPoints,
  documentPoints,
  type EventPoints,
  eventPoints,
  type Point,
  type PointChoice,
} from './points.ts'
import type { Fault, Observation } from './types.ts'

const ENDINGS = ['th', 'st', 'nd', 'rd']

/** `1st`, `2nd`, `11th`. */
export function ordinal(n: number): string {
  const tens = n % 100
  return `${n}${(tens > 10 && tens < 14 ? undefined : ENDINGS[n % 10]) ?? 'th'}`
}

/** An operation in words: `POST /transaction`. */
export function callOf(operation: string): string {
  const found = OPERATIONS.find(({ id }) => id === operation)
  return found ? `${found.method} ${found.url}` : operation
}

const isRead = (operation: OperationId) =>
  OPERATIONS.find(({ id }) => id === operation)?.method === 'GET'

/** The limits of a rule that acts only once, at the n-th match. */
const onlyAt = (nth: number) => ({ ...(nth > 1 && { skip: nth - 1 }), times: 1 })

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

/** The name of a fault's rule, in the log and in the scenario file. */
const ruleName = (name: string, nth: number, of: string) => `${ordinal(nth)} ${of}: ${name}`

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

// ---- webhooks

type WebhookFault = {
  name: string
  what: (event: string) => string
  then: WebhookRuleDefinition['then']
  mustAbsorb?: boolean
}

function faultsOfEvent({ next, signed }: EventPoints): WebhookFault[] {
  return [
    {
      name: 'late',
      what: (event) => `the ${event} is sent 5 s late`,
      then: { delay: '5s' },
      mustAbsorb: true,
    },
    {
      name: 'twice',
      what: (event) => `the ${event} is sent twice`,
      then: { copies: 2 },
      mustAbsorb: true,
    },
    ...(next === undefined
      ? []
      : [
          {
            name: 'out_of_order',
            what: (event: string) => `the ${event} is sent after the ${next} that follows it`,
            then: { hold_until: next as NonNullable<WebhookFault['then']['hold_until']> },
            mustAbsorb: true,
          },
        ]),
    {
      name: 'dropped',
      what: (event) => `the ${event} is never sent`,
      then: { drop: true },
    },
    ...(signed === 'none'
      ? []
      : [
          {
            name: 'forged',
            what: (event: string) => `the ${event} has a wrong signature`,
            then: { signature: 'wrong' as const },
          },
        ]),
    ...(signed === 'message'
      ? [
          {
            name: 'stale',
            what: (event: string) => `the ${event} is signed with a time far in the past`,
            then: { timestamp: 'stale' as const },
          },
        ]
      : []),
    {
      name: 'truncated',
      what: (event) => `the body of the ${event} ends in the middle`,
      then: { body: 'truncated' },
    },
  ]
}

const webhookFaults = (baseline: Observation, choice: PointChoice): Fault[] =>
  eventPoints(baseline, choice).flatMap((points) =>
    points.numbers.flatMap((nth) =>
      faultsOfEvent(points).map(
        ({ name, what, then, mustAbsorb = false }): Fault => ({
          kind: 'webhook',
          name,
          operation: points.event,
          nth,
          what: what(`${ordinal(nth)} event ${points.event}`),
          mustAbsorb,
          scenario: {
            webhooks: [
              {
                name: ruleName(name, nth, points.event),
                when: { event: points.event },
                ...onlyAt(nth),
                then,
              },
            ],
          },
        }),
      ),
    ),
  )

// ---- assumptions

type Seen = {
  calls: Observation['calls']
  deliveries: Observation['deliveries']
}

/** How many calls and messages of a run an assumption concerns. */
export function concernedBy(name: string, { calls, deliveries }: Seen): number {
  const { concerns } = ASSUMPTIONS.find((one) => one.name === name)!
  const isConcerned = concerns.includes('all calls')
    ? () => true
    : ({ operation }: Observation['calls'][number]) => concerns.includes(operation)
  const sent = concerns.includes('webhooks') ? deliveries.length : 0
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
