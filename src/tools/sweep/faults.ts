import { ASSUMPTIONS, type Readings } from '../../assumptions/readings.ts'
import {
  CREATING,
  ENDPOINT_OF,
  type EventName,
  OPERATIONS,
  type OperationId,
} from '../../scenarios/operations-and-events.ts'
import type { RuleDefinition } from '../../scenarios/rule-schema.ts'
import { absorbableReadings } from '../coverage/report.ts'
import {
  CALL_FAULTS,
  type CallFault,
  type CallFaultName,
  LIFECYCLE_FAULTS,
  WEBHOOK_FAULTS,
} from '../faults.ts'
import {
  assumptionOf,
  type Fault,
  type Observation,
  type Plan,
  type SeenCall,
} from './faults-and-findings.ts'
import {
  type EventPoints,
  eventPoints,
  lastOf,
  numbersUpTo,
  onlyAt,
  ordinal,
  otherPayments,
  type PointChoice,
  ruleName,
} from './points.ts'

/** Whether an operation changes nothing; an event is no operation. */
export const isRead = (operation = ''): boolean =>
  ENDPOINT_OF[operation as OperationId]?.startsWith('GET ') === true

/** A fault that one rule makes, at one point. */
const ruleFault = (
  fault: Omit<Fault, 'scenario'> & { operation: string; nth: number },
  rule: RuleDefinition,
): Fault => ({ ...fault, scenario: { rules: [{ name: ruleName(fault), ...rule }] } })

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

/** A call in words: `2nd POST /transaction`. */
const callText = (operation: OperationId, nth: number) =>
  `${ordinal(nth)} ${ENDPOINT_OF[operation]}`

function callFault(
  operation: OperationId,
  nth: number,
  name: CallFaultName,
  { clockSpeed }: Possible,
): Fault {
  const fault: CallFault = CALL_FAULTS[name]
  const options = {
    retryAfter: retryAfterAt(clockSpeed),
    ...(name === 'effect_after_timeout' && { delay: EFFECT_AFTER }),
  }
  return ruleFault(
    { kind: 'call', name, operation, nth, what: fault.what(callText(operation, nth), options) },
    { when: { operation }, ...onlyAt(nth), then: fault.then(options) },
  )
}

function lastingFault(call: SeenCall, name: LastingName, { clockSpeed }: Possible): Fault {
  const operation = call.operation as OperationId
  const nth = call.nth!
  const { every, status } = LASTING[name]
  const seconds = status === 401 ? undefined : retryAfterAt(clockSpeed)
  const gets = `gets ${status}${seconds ? ` with Retry-After: ${seconds}` : ''}, ${LASTS} times`
  const what = `from the ${callText(operation, nth)} on, every ${every ? 'call' : ENDPOINT_OF[operation]} ${gets}`
  const respond = { status, ...(seconds && { headers: { 'retry-after': seconds } }) }
  return ruleFault(
    { kind: 'call', name, operation, nth, what },
    {
      when: { operation: every ? '*' : operation },
      ...onlyAt(every ? call.nthOfAll! : nth),
      times: LASTS,
      then: { respond },
    },
  )
}

function killFault(operation: OperationId, nth: number, possible: Possible): Fault {
  const what = `the command is killed when the ${callText(operation, nth)} was carried out, and started again`
  return { ...callFault(operation, nth, 'hang_after', possible), name: KILL, what, kills: true }
}

const callFaults = (baseline: Observation, choice: PointChoice, possible: Possible): Fault[] => [
  ...OPERATIONS.flatMap((operation) => {
    const isCreating = CREATING.some((one) => one === operation)
    const isPossible = (name: string) =>
      (!WRITES_ONLY.has(name) || !isRead(operation)) && (name !== 'visible_after' || isCreating)
    const swept = SWEPT.filter(isPossible)
    const lasting = LASTING_NAMES.filter(isPossible)
    return numbersUpTo(lastOf(baseline, operation), choice).flatMap((nth) => {
      const call = baseline.calls.find((one) => one.operation === operation && one.nth === nth)!
      return [
        ...swept.map((name) => callFault(operation, nth, name, possible)),
        ...lasting
          .filter((name) => name === 'outage' || nth === 1)
          .map((name) => lastingFault(call, name, possible)),
        ...(possible.restart && !isRead(operation) ? [killFault(operation, nth, possible)] : []),
      ]
    })
  }),
  // Each payment can be made for another reason, such as a retry, a restart or a schedule.
  ...otherPayments(baseline, choice).flatMap((nth) =>
    AT_EACH_PAYMENT.map((name) => callFault('createTransaction', nth, name, possible)),
  ),
]

// ---- lifecycles

export const LIFECYCLE_NAMES = (
  Object.keys(LIFECYCLE_FAULTS) as (keyof typeof LIFECYCLE_FAULTS)[]
).filter((name) => name !== 'payment_pending')

const lifecycleFaults = (baseline: Observation, choice: PointChoice): Fault[] =>
  OPERATIONS.flatMap((operation) => {
    const names = LIFECYCLE_NAMES.filter((name) => LIFECYCLE_FAULTS[name].operation === operation)
    // Rules count each document of a call.
    const lastDocument = Math.max(0, ...baseline.calls.map(({ documents }) => documents))
    const last = operation === 'submitKyc' ? lastDocument : lastOf(baseline, operation)
    return numbersUpTo(last, choice).flatMap((nth) =>
      names.map((name) => {
        const { record, then, ...fault } = LIFECYCLE_FAULTS[name]
        const what = `the ${ordinal(nth)} ${record} ${fault.what}`
        return ruleFault(
          { kind: 'lifecycle', name, operation, nth, what },
          { when: { operation }, ...onlyAt(nth), then: then({}) },
        )
      }),
    )
  })

// ---- webhooks

type WebhookFaultName = keyof typeof WEBHOOK_FAULTS
export const WEBHOOK_NAMES = Object.keys(WEBHOOK_FAULTS) as WebhookFaultName[]

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
        const fault = WEBHOOK_FAULTS[name]
        const what = fault.what(`${ordinal(nth)} event ${event}`, next)
        const point = { kind: 'webhook', name, operation: event, nth } as const
        const then = fault.then(next as EventName)
        const rule = { name: ruleName(point), when: { event }, ...onlyAt(nth), then }
        return { ...point, what, scenario: { webhooks: [rule] } }
      }),
    )
  })

const FORGING = ['signature_wrong', 'signature_missing', 'timestamp_stale', 'body_truncated']

/** Whether nothing but forged events happens: each attempt is forged, so who rejects them cannot know the state. */
export const isForging = (plan: Plan) =>
  plan.length > 0 && plan.every(({ name }) => FORGING.includes(name))

/** Whether an integration must absorb a fault: then a command that fails relies on something that nobody promised. */
export const mustAbsorb = ({ kind, name }: Fault) =>
  kind === 'assumption' || (kind === 'webhook' && !FORGING.includes(name))

// ---- assumptions

/** How many calls and events of a run an assumption concerns. */
export function concernedBy(
  name: string,
  { calls, events }: { calls: readonly Pick<SeenCall, 'operation'>[]; events: number },
): number {
  const { concerns } = ASSUMPTIONS.find((one) => one.name === name)!
  const concerned = concerns.includes('all calls')
    ? calls
    : calls.filter(({ operation }) => concerns.includes(operation))
  return concerned.length + (concerns.includes('webhooks') ? events : 0)
}

const assumptionFaults = (
  seen: Parameters<typeof concernedBy>[1],
  { inForce }: Possible,
): Fault[] =>
  ASSUMPTIONS.filter(({ name }) => concernedBy(name, seen) > 0).flatMap((one) =>
    absorbableReadings(one)
      .filter((reading) => reading !== inForce[one.name])
      .map(
        (reading): Fault => ({
          kind: 'assumption',
          name: `${one.name}=${reading}`,
          what: `the contract is read as ${one.name}=${reading}`,
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
  ...assumptionFaults(baseline, possible),
  ...callFaults(baseline, choice, possible),
  ...lifecycleFaults(baseline, choice),
  ...webhookFaults(baseline, choice),
]

// What tells a caller that recovers least.
const RECOVERY_FAULTS = ['respond_500', 'hang_after'] as const
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
  const calls = OPERATIONS.filter(
    (operation) => lastOf(run, operation) > lastOf(baseline, operation),
  ).map((operation) => ({ operation, nth: lastOf(baseline, operation) + 1 }))
  return [
    ...assumptionFaults({ calls, events: 0 }, possible).filter((fault) =>
      RECOVERY_READINGS.includes(assumptionOf(fault)!),
    ),
    ...calls.flatMap(({ operation, nth }) =>
      RECOVERY_FAULTS.map((name) => callFault(operation, nth, name, possible)),
    ),
  ]
}
