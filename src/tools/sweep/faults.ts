import type { Assumption } from '../../assumptions/assumption.ts'
import { ASSUMPTIONS, type Readings } from '../../assumptions/readings.ts'
import {
  CREATING,
  ENDPOINT_OF,
  type EventName,
  type OperationId,
} from '../../scenarios/operations-and-events.ts'
import type { RuleDefinition } from '../../scenarios/rule-schema.ts'
import {
  CALL_FAULTS,
  type CallFault,
  type CallFaultName,
  LIFECYCLE_FAULTS,
  WEBHOOK_FAULTS,
} from '../faults.ts'
import { assumptionOf, type Fault, type Observation, type Plan } from './faults-and-findings.ts'
import {
  callOf,
  callPoints,
  documentPoints,
  type EventPoints,
  eventPoints,
  onlyAt,
  ordinal,
  otherPayments,
  type Point,
  type PointChoice,
  ruleName,
} from './points.ts'

/** Whether an operation changes nothing; an event is no operation. */
export const isRead = (operation = ''): boolean =>
  ENDPOINT_OF[operation as OperationId]?.startsWith('GET ') === true

/** A fault that one rule makes. */
const ruleFault = (
  { name, operation, nth, ...fault }: Omit<Fault, 'scenario'> & { operation: string; nth: number },
  rule: RuleDefinition,
): Fault => ({
  ...fault,
  name,
  operation,
  nth,
  scenario: { rules: [{ name: ruleName(name, nth, operation), ...rule }] },
})

// ---- calls

/** The faults of one call in a sweep; the other call faults show what one of these shows. */
const SWEPT = [
  'reset',
  'reset_after',
  'respond_500',
  'respond_503',
  'respond_429',
  'respond_504_after',
  'respond_html_after',
  'respond_202_after',
  'truncate_after',
  'hang_after',
  'effect_after_timeout',
  'visible_after',
  'delay',
] as const satisfies readonly CallFaultName[]
/** They differ from another fault only if the call changes something. */
const WRITES_ONLY: ReadonlySet<string> = new Set([
  ...['reset_after', 'respond_504_after', 'effect_after_timeout', 'visible_after'],
  ...['rate_limit', 'token_expired'],
])
// They are tried at every payment. All other faults are tried at the first, second and last call of each kind.
const AT_EACH_PAYMENT = ['reset', 'reset_after'] as const
// An effect so late that a look-up right after the timeout misses it.
const EFFECT_AFTER = '10s'

/** What goes on for several calls, and ends. */
const LASTING = {
  outage: { every: true, status: 503 },
  rate_limit: { every: false, status: 429 },
  token_expired: { every: true, status: 401 },
} as const
type LastingName = keyof typeof LASTING
const LASTING_NAMES = Object.keys(LASTING) as LastingName[]
const LASTS = 8

/** The name of the fault that kills the command. */
const KILL = 'kill'

export const CALL_NAMES: readonly string[] = [...SWEPT, ...LASTING_NAMES, KILL]

// On a fast clock one second is over in a few real ms. A longer Retry-After shows who doesn't wait.
const SPEED_OF_A_SECOND = 200
const MAX_RETRY_AFTER = 10

/** The seconds of Retry-After at a speed of the clock. */
const retryAfterAt = (speed: number) =>
  String(Math.min(MAX_RETRY_AFTER, Math.max(1, Math.ceil(speed / SPEED_OF_A_SECOND))))

/** Which faults are possible, beside those that the baseline shows. */
export type Possible = { inForce: Readings; clockSpeed: number; restart?: boolean | undefined }

function callFault(
  operation: OperationId,
  { nth }: Point,
  name: CallFaultName,
  { clockSpeed }: Possible,
): Fault {
  const fault: CallFault = CALL_FAULTS[name]
  const options = {
    retryAfter: retryAfterAt(clockSpeed),
    ...(name === 'effect_after_timeout' && { delay: EFFECT_AFTER }),
  }
  const what = fault.what(`${ordinal(nth)} ${callOf(operation)}`, options)
  return ruleFault(
    { kind: 'call', name, operation, nth, what, mustAbsorb: false },
    { when: { operation }, ...onlyAt(nth), then: fault.then(options) },
  )
}

function lastingFault(
  operation: OperationId,
  { nth, nthOfAll }: Point,
  name: LastingName,
  { clockSpeed }: Possible,
): Fault {
  const { every, status } = LASTING[name]
  const call = callOf(operation)
  const seconds = status === 401 ? undefined : retryAfterAt(clockSpeed)
  const gets = `gets ${status}${seconds ? ` with Retry-After: ${seconds}` : ''}, ${LASTS} times`
  const what = `from the ${ordinal(nth)} ${call} on, every ${every ? 'call' : call} ${gets}`
  const respond = { status, ...(seconds && { headers: { 'retry-after': seconds } }) }
  return ruleFault(
    { kind: 'call', name, operation, nth, what, mustAbsorb: false },
    {
      when: { operation: every ? '*' : operation },
      ...onlyAt(every ? nthOfAll : nth),
      times: LASTS,
      then: { respond },
    },
  )
}

function killFault(operation: OperationId, point: Point, possible: Possible): Fault {
  const call = `${ordinal(point.nth)} ${callOf(operation)}`
  const what = `the command is killed when the ${call} was carried out, and started again`
  return { ...callFault(operation, point, 'hang_after', possible), name: KILL, what, kills: true }
}

const callFaults = (baseline: Observation, choice: PointChoice, possible: Possible): Fault[] => [
  ...callPoints(baseline, choice).flatMap(({ operation, points }) => {
    const isCreating = CREATING.some((one) => one === operation)
    const isPossible = (name: string) => !WRITES_ONLY.has(name) || !isRead(operation)
    const swept = SWEPT.filter(
      (name) => isPossible(name) && (name !== 'visible_after' || isCreating),
    )
    const lasting = LASTING_NAMES.filter(isPossible)
    return points.flatMap((point, i) => [
      ...swept.map((name) => callFault(operation, point, name, possible)),
      ...lasting
        .filter((name) => name === 'outage' || i === 0)
        .map((name) => lastingFault(operation, point, name, possible)),
      ...(possible.restart && !isRead(operation) ? [killFault(operation, point, possible)] : []),
    ])
  }),
  // Each payment can be made for another reason, such as a retry, a restart or a schedule.
  ...otherPayments(baseline, choice).flatMap((point) =>
    AT_EACH_PAYMENT.map((name) => callFault('createTransaction', point, name, possible)),
  ),
]

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
        const { record, then, ...fault } = LIFECYCLE_FAULTS[name]
        const what = `the ${ordinal(nth)} ${record} ${fault.what}`
        return ruleFault(
          { ...SHOWN_AS[name], kind: 'lifecycle', name, operation, nth, what, mustAbsorb: false },
          { when: { operation }, ...onlyAt(nth), then: then({}) },
        )
      }),
    )
  })
}

// ---- webhooks

type WebhookFaultName = keyof typeof WEBHOOK_FAULTS
export const WEBHOOK_NAMES = Object.keys(WEBHOOK_FAULTS) as WebhookFaultName[]
const MUST_ABSORB: ReadonlySet<WebhookFaultName> = new Set([
  ...(['delay', 'copies', 'hold_until', 'drop', 'signature_rotated'] as const),
])

/** Whether an event can have a fault: one follows it, and it is signed. */
function canHave(name: WebhookFaultName, { next, signed }: EventPoints): boolean {
  if (name === 'hold_until') return next !== undefined
  if (name === 'timestamp_stale' || name === 'signature_rotated') return signed === 'message'
  return !name.startsWith('signature') || signed !== 'none'
}

/** What can happen to the events that the baseline's receiver got. */
const webhookFaults = (baseline: Observation, choice: PointChoice): Fault[] =>
  eventPoints(baseline, choice).flatMap((points) => {
    const { event, next = '', numbers } = points
    const names = WEBHOOK_NAMES.filter((name) => canHave(name, points))
    return numbers.flatMap((nth) =>
      names.map((name): Fault => {
        const { what, then } = WEBHOOK_FAULTS[name]
        const rule = { name: ruleName(name, nth, event), when: { event }, ...onlyAt(nth) }
        return {
          kind: 'webhook',
          name,
          operation: event,
          nth,
          what: what(`${ordinal(nth)} event ${event}`, next),
          mustAbsorb: MUST_ABSORB.has(name),
          scenario: { webhooks: [{ ...rule, then: then(next as EventName) }] },
        }
      }),
    )
  })

const FORGING = ['signature_wrong', 'signature_missing', 'timestamp_stale', 'body_truncated']

/** Whether nothing but forged events happens: each attempt is forged, so who rejects them cannot know the state. */
export const isForging = (plan: Plan) =>
  plan.length > 0 && plan.every(({ name }) => FORGING.includes(name))

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
// What changes how a payment is found, and what it looks like.
const RECOVERY_READINGS = [
  ...['list_order', 'limit_parameter', 'largest_page', 'page_past_the_end', 'reference_id'],
  ...['processing_status', 'new_words'],
]

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
    ...assumptionFaults({ ...run, calls, events: 0 }, possible.inForce).filter((fault) =>
      RECOVERY_READINGS.includes(assumptionOf(fault)!),
    ),
    ...callFaults({ ...run, calls }, 'all', possible).filter(
      ({ name, operation, nth }) =>
        RECOVERY_FAULTS.includes(name) && nth === lastOf(operation!) + 1,
    ),
  ]
}
