import type { Assumption } from '../../assumptions/assumption.ts'
import { ASSUMPTIONS, type Readings } from '../../assumptions/readings.ts'
import { OPERATIONS } from '../../routes/v1/operations.ts'
import type { OperationId } from '../../scenarios/operations-and-events.ts'
import type { OutcomeDefinition } from '../../scenarios/outcome-schema.ts'
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

type Swept = { name: CallFaultName; of: 'all' | 'writes' }

/** The faults of one call in a sweep; the other call faults show what one of these shows. */
const SWEPT: readonly Swept[] = [
  { name: 'reset', of: 'all' },
  { name: 'reset_after', of: 'writes' },
  { name: 'respond_500', of: 'all' },
  { name: 'respond_503', of: 'all' },
  { name: 'respond_429', of: 'all' },
  { name: 'respond_504_after', of: 'writes' },
  { name: 'respond_html_after', of: 'all' },
  { name: 'respond_202_after', of: 'all' },
  { name: 'truncate_after', of: 'all' },
  { name: 'hang_after', of: 'all' },
  { name: 'effect_after_timeout', of: 'writes' },
  { name: 'visible_after', of: 'writes' },
  { name: 'delay', of: 'all' },
]
// An effect so late that a look-up right after the timeout misses it.
const EFFECT_AFTER = '10s'

/** What goes on for several calls, and ends. */
const LASTING = {
  outage: { every: true, status: 503, of: 'all', what: 'gets 503 with Retry-After: 1' },
  rate_limit: { every: false, status: 429, of: 'writes', what: 'gets 429 with Retry-After: 1' },
  token_expired: { every: true, status: 401, of: 'writes', what: 'gets 401' },
} as const
const LASTS = 8

/** The name of the fault that kills the command. */
const KILL = 'kill'

export const CALL_NAMES: readonly string[] = [
  ...SWEPT.map(({ name }) => name),
  ...Object.keys(LASTING),
  KILL,
]

/** The operations of which a created row can be read later. */
const CREATES: readonly string[] = [
  'createUser',
  'addBankAccount',
  'submitKyc',
  'createTransaction',
]

// A client whose clock runs fast waits so many real ms at least, so that one that does not wait can be told from it.
const SPEED_OF_A_SECOND = 200
const MAX_RETRY_AFTER = 10

/** The seconds of Retry-After at a speed of the clock. */
const retryAfterAt = (speed: number) =>
  String(Math.min(MAX_RETRY_AFTER, Math.max(1, Math.ceil(speed / SPEED_OF_A_SECOND))))

/** Which faults are possible, beside those that the baseline shows. */
export type Possible = { inForce: Readings; clockSpeed: number; restart?: boolean | undefined }

/** An outcome and its words with the seconds of Retry-After. */
function withRetryAfter(then: OutcomeDefinition, what: string, seconds: string) {
  const { respond } = then
  if (respond?.headers?.['retry-after'] === undefined) return { then, what }
  const headers = { ...respond.headers, 'retry-after': seconds }
  return {
    then: { ...then, respond: { ...respond, headers } },
    what: what.replace(/Retry-After: \d+/, `Retry-After: ${seconds}`),
  }
}

const callFault = (
  operation: OperationId,
  { nth }: Point,
  name: CallFaultName,
  { clockSpeed }: Possible,
): Fault => {
  const { what, then } = CALL_FAULTS[name]
  const words = what(`${ordinal(nth)} ${callOf(operation)}`).replace('30 s later', '10 s later')
  const outcome: OutcomeDefinition = then({
    ...(name === 'effect_after_timeout' && { delay: EFFECT_AFTER }),
  })
  const own = withRetryAfter(outcome, words, retryAfterAt(clockSpeed))
  return {
    kind: 'call',
    name,
    operation,
    nth,
    what: own.what,
    mustAbsorb: name === 'delay',
    scenario: {
      rules: [
        {
          name: ruleName(name, nth, operation),
          when: { operation },
          ...onlyAt(nth),
          then: own.then,
        },
      ],
    },
  }
}

function lastingFault(
  operation: OperationId,
  { nth, nthOfAll }: Point,
  name: keyof typeof LASTING,
  { clockSpeed }: Possible,
): Fault {
  const { every, status, what } = LASTING[name]
  const call = callOf(operation)
  const words = `from the ${ordinal(nth)} ${call} on, every ${every ? 'call' : call} ${what}, ${LASTS} times`
  const headers = { 'retry-after': '1' }
  const outcome = { respond: { status, ...(status !== 401 && { headers }) } }
  const own = withRetryAfter(outcome, words, retryAfterAt(clockSpeed))
  const skip = (every ? nthOfAll : nth) - 1
  return {
    kind: 'call',
    name,
    operation,
    nth,
    what: own.what,
    mustAbsorb: false,
    scenario: {
      rules: [
        {
          name: ruleName(name, nth, operation),
          when: { operation: every ? '*' : operation },
          ...(skip > 0 && { skip }),
          times: LASTS,
          then: own.then,
        },
      ],
    },
  }
}

const killFault = (operation: OperationId, point: Point, possible: Possible): Fault => {
  const fault = callFault(operation, point, 'hang_after', possible)
  const call = `${ordinal(point.nth)} ${callOf(operation)}`
  return {
    ...fault,
    name: KILL,
    what: `the command is killed when the ${call} was carried out, and started again`,
    kills: true,
  }
}

const callFaults = (baseline: Observation, choice: PointChoice, possible: Possible): Fault[] =>
  callPoints(baseline, choice).flatMap(({ operation, points }) => {
    const isPossible = ({ of }: { of: 'all' | 'writes' }) => of === 'all' || !isRead(operation)
    const swept = SWEPT.filter(isPossible).filter(
      ({ name }) => name !== 'visible_after' || CREATES.includes(operation),
    )
    const lasting = (Object.keys(LASTING) as (keyof typeof LASTING)[]).filter((name) =>
      isPossible(LASTING[name]),
    )
    return points.flatMap((point, i) => [
      ...swept.map(({ name }) => callFault(operation, point, name, possible)),
      ...lasting
        .filter((name) => name === 'outage' || i === 0)
        .map((name) => lastingFault(operation, point, name, possible)),
      ...(possible.restart && !isRead(operation) ? [killFault(operation, point, possible)] : []),
    ])
  })

// ---- lifecycles

export const LIFECYCLE_NAMES = (
  Object.keys(LIFECYCLE_FAULTS) as (keyof typeof LIFECYCLE_FAULTS)[]
).filter((name) => name !== 'payment_pending')

/** How a payment shows its fault before the command ends. */
const SHOWN_AS: Partial<Record<string, Pick<Fault, 'showsAs' | 'laterBy'>>> = {
  payment_failed: { showsAs: 'failed' },
  payment_late: { showsAs: 'late' },
  payment_stuck: { showsAs: 'late' },
  payment_reversed: { showsAs: 'reversed', laterBy: '25h' },
}

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
          ...SHOWN_AS[name],
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
  possible: Possible,
): readonly Fault[] => [
  ...assumptionFaults(baseline, possible.inForce),
  ...callFaults(baseline, choice, possible),
  ...lifecycleFaults(baseline, choice),
  ...webhookFaults(baseline, choice),
]

// What tells a caller that recovers least.
const RECOVERY_FAULTS = ['respond_500', 'hang_after']

/** The faults of calls that a run made in addition to the baseline: those after a lost response. */
export function recoveryFaults(
  run: Observation,
  baseline: Observation,
  possible: Possible,
): readonly Fault[] {
  const lastOf = (operation: string) =>
    Math.max(0, ...baseline.calls.map((one) => (one.operation === operation ? (one.nth ?? 0) : 0)))
  const calls = run.calls.filter(({ operation, nth }) => nth !== null && nth > lastOf(operation))
  return [
    ...assumptionFaults({ ...run, calls, events: 0 }, possible.inForce),
    ...callFaults({ ...run, calls }, 'all', possible).filter(
      ({ name, operation, nth }) =>
        RECOVERY_FAULTS.includes(name) && nth === lastOf(operation!) + 1,
    ),
  ]
}
