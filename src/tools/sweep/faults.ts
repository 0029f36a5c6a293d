import { ASSUMPTIONS, type Readings } from '../../assumptions/readings.ts'
import type { EventName, OperationId } from '../../scenarios/operations-and-events.ts'
import { CREATING, ENDPOINT_OF, OPERATIONS } from '../../scenarios/operations-and-events.ts'
import type { RuleDefinition } from '../../scenarios/rule-schema.ts'
import { groupBy, ordinal } from '../counting.ts'
import { absorbableReadings } from '../coverage/report.ts'
import type { CallFault, CallFaultName } from '../faults.ts'
import { CALL_FAULTS, LASTING_FAULTS, LIFECYCLE_FAULTS, WEBHOOK_FAULTS } from '../faults.ts'
import type { Fault, Observation, Plan, SeenCall, SeenDelivery } from './faults-and-findings.ts'
import { assumptionOf } from './faults-and-findings.ts'

/** Whether an operation changes nothing; an event is no operation. */
export const isRead = (operation = ''): boolean =>
  ENDPOINT_OF[operation as OperationId]?.startsWith('GET ') === true

// ---- points

/** Which calls and events of each kind get faults: the first, the second and the last one; or the first one alone, or all. */
export type PointChoice = 'first-last' | 'first' | 'all'

/** A call, or the document of a call, at which something else can happen. */
type Point = { operation: OperationId; nth: number } & Pick<Fault, 'decides'>

// More payments of one run are of one kind.
const MAX_PAYMENTS = 30

/** The numbers of the calls, documents or events that get faults, of those up to the last one. */
function numbersUpTo(last: number, choice: PointChoice): number[] {
  if (choice === 'all') return Array.from({ length: last }, (_, i) => i + 1)
  const wanted = choice === 'first' ? [1] : [1, 2, last]
  return [...new Set(wanted)].filter((n) => n >= 1 && n <= last).sort((a, b) => a - b)
}

/** The number of the last call of an operation, or event of a type, as rules count them; 0 if there is none. */
export function lastOf({ calls, deliveries }: Observation, name: string): number {
  const own = [
    ...calls.filter(({ operation }) => operation === name),
    ...deliveries.filter(({ event }) => event === name),
  ]
  return Math.max(0, ...own.map(({ nth }) => nth ?? 0))
}

/** The number of the last KYC document: rules count each one of a call. */
export const lastDocument = ({ calls }: Observation): number =>
  Math.max(0, ...calls.map(({ documents }) => documents))

/**
 * The calls of an operation that get faults. Of reads the last one before the first payment, with which it was decided, and the first
 * one after it come first: the very first read often belongs to something else.
 */
export function pointsOf(
  baseline: Observation,
  operation: OperationId,
  choice: PointChoice,
): Point[] {
  const numbers = numbersUpTo(lastOf(baseline, operation), choice)
  const own = baseline.calls.filter((one) => one.operation === operation && one.nth !== null)
  const payment = baseline.calls.find((one) => one.operation === 'createTransaction')
  if (!payment || !isRead(operation)) return numbers.map((nth) => ({ operation, nth }))
  const before = own.findLast(({ beganMs }) => beganMs < payment.beganMs)
  const after = own.find(({ beganMs }) => beganMs > payment.beganMs)
  const deciding = [before, after].flatMap((one) => one?.nth ?? [])
  const others = choice === 'first-last' ? numbers.filter((n) => n !== 2) : numbers
  const all = [...new Set([...deciding, ...others])].slice(0, choice === 'first' ? 1 : undefined)
  return all.map((nth) => ({ operation, nth, decides: deciding.includes(nth) }))
}

/** The limits of a rule that acts only once, at the n-th match. */
const onlyAt = (nth: number) => ({ ...(nth > 1 && { skip: nth - 1 }), times: 1 })

/** The name of a fault's rule, in the log and in the scenario file. */
const ruleName = ({ name, nth, operation }: Pick<Fault, 'name' | 'nth' | 'operation'>) =>
  `${ordinal(nth!)} ${operation}: ${name}`

/** A fault that one rule makes, once at one point unless the rule says otherwise. */
export function ruleFault(
  fault: Omit<Fault, 'scenario'> & Point,
  rule: Partial<RuleDefinition>,
): Fault {
  const once = { when: { operation: fault.operation }, ...onlyAt(fault.nth) }
  return { ...fault, scenario: { rules: [{ name: ruleName(fault), ...once, ...rule }] } }
}

// ---- calls

const CALL_FAULT_NAMES = Object.keys(CALL_FAULTS) as CallFaultName[]
// Another fault shows what these show.
const SWEPT = CALL_FAULT_NAMES.filter((name) => name !== 'hang' && name !== 'malformed')
/** They differ from another fault only if the call changes something. */
const WRITES_ONLY: ReadonlySet<string> = new Set([
  ...['reset_after', 'respond_504_after', 'effect_after_timeout', 'visible_after', 'late_response'],
  ...['rate_limit', 'token_expired'],
])
// They are tried at every payment. All other faults are tried at the first, second and last call of each kind.
const AT_EACH_PAYMENT = ['reset', 'reset_after'] as const
// An effect so late that a look-up right after the timeout misses it.
const EFFECT_AFTER = '10s'

type LastingName = keyof typeof LASTING_FAULTS
const LASTING_NAMES = Object.keys(LASTING_FAULTS) as LastingName[]
const LASTS = 8

const KILL = 'kill'

export const CALL_NAMES: readonly string[] = [...SWEPT, ...LASTING_NAMES, KILL]

// On a fast clock one second is over in a few real ms. A longer Retry-After shows who doesn't wait.
const SPEED_OF_A_SECOND = 200
const MAX_RETRY_AFTER = 10

const retryAfterAt = (speed: number) =>
  String(Math.min(MAX_RETRY_AFTER, Math.max(1, Math.ceil(speed / SPEED_OF_A_SECOND))))

/** Which faults are possible, beside those that the baseline shows. */
export type Possible = {
  inForce: Readings
  clockSpeed: number
  restart?: boolean | undefined
  /** How often the command can be started at once; undefined in a sandbox that already runs. */
  workers: number | undefined
}

export const callText = ({ operation, nth }: Point) => `${ordinal(nth)} ${ENDPOINT_OF[operation]}`

function callFault(point: Point, name: CallFaultName, { clockSpeed }: Possible): Fault {
  const { what, then }: CallFault = CALL_FAULTS[name]
  const options = {
    retryAfter: retryAfterAt(clockSpeed),
    ...(name === 'effect_after_timeout' && { delay: EFFECT_AFTER }),
  }
  const fault = { ...point, kind: 'call', name, what: what(callText(point), options) } as const
  return ruleFault(fault, { then: then(options) })
}

function lastingFault(point: Point, nthOfAll: number, name: LastingName, { clockSpeed }: Possible) {
  const { every, status } = LASTING_FAULTS[name]
  const seconds = status === 401 ? undefined : retryAfterAt(clockSpeed)
  const each = every ? 'call' : ENDPOINT_OF[point.operation]
  const gets = `gets ${status}${seconds ? ` with Retry-After: ${seconds}` : ''}, ${LASTS} times`
  const what = `from the ${callText(point)} on, every ${each} ${gets}`
  const respond = { status, ...(seconds && { headers: { 'retry-after': seconds } }) }
  const all = every ? { when: { operation: '*' }, ...onlyAt(nthOfAll) } : {}
  const rule = { ...all, times: LASTS, then: { respond } }
  return ruleFault({ ...point, kind: 'call', name, what }, rule)
}

function killFault(point: Point, possible: Possible): Fault {
  const what = `the command is killed when the ${callText(point)} was carried out, and started again`
  return { ...callFault(point, 'hang_after', possible), name: KILL, what, kills: true }
}

const callFaults = (baseline: Observation, choice: PointChoice, possible: Possible): Fault[] =>
  OPERATIONS.flatMap((operation) => {
    const isCreating = CREATING.some((one) => one === operation)
    const emitsEvent = Object.values(LIFECYCLE_FAULTS).some((one) => one.operation === operation)
    const isPossible = (name: string) =>
      (!WRITES_ONLY.has(name) || !isRead(operation)) &&
      (isCreating || name !== 'visible_after') &&
      (emitsEvent || name !== 'late_response')
    const counted = baseline.calls.filter((one) => one.nth !== null)
    const swept = SWEPT.filter(isPossible)
    const lasting = LASTING_NAMES.filter(isPossible)
    return pointsOf(baseline, operation, choice).flatMap((point, i) => {
      const { nth } = point
      const isHere = (one: SeenCall) => one.operation === operation && one.nth === nth
      const nthOfAll = counted.findIndex(isHere) + 1
      return [
        ...swept.map((name) => callFault(point, name, possible)),
        ...lasting
          .filter((name) => name === 'outage' || i === 0)
          .map((name) => lastingFault(point, nthOfAll, name, possible)),
        ...(possible.restart && !isRead(operation) ? [killFault(point, possible)] : []),
      ]
    })
  })

/** The payments between the second and the last one: each can be made for another reason, such as a retry or a schedule. */
const otherPayments = (baseline: Observation): Point[] =>
  numbersUpTo(lastOf(baseline, 'createTransaction'), 'all')
    .slice(2, -1)
    .slice(0, MAX_PAYMENTS)
    .map((nth) => ({ operation: 'createTransaction', nth }))

// ---- lifecycles

export const LIFECYCLE_NAMES = (
  Object.keys(LIFECYCLE_FAULTS) as (keyof typeof LIFECYCLE_FAULTS)[]
).filter((name) => name !== 'payment_pending')

const lifecycleFaults = (
  baseline: Observation,
  choice: PointChoice,
  { inForce }: Possible,
): Fault[] =>
  OPERATIONS.flatMap((operation) => {
    const names = LIFECYCLE_NAMES.filter(
      (name) =>
        LIFECYCLE_FAULTS[name].operation === operation &&
        (name !== 'payment_late_success' || inForce['late_success'] === 'possible'),
    )
    const last = operation === 'submitKyc' ? lastDocument(baseline) : lastOf(baseline, operation)
    return numbersUpTo(last, choice).flatMap((nth) =>
      names.map((name) => {
        const { record, then, ...fault } = LIFECYCLE_FAULTS[name]
        const what = `the ${ordinal(nth)} ${record} ${fault.what}`
        return ruleFault({ kind: 'lifecycle', name, operation, nth, what }, { then: then({}) })
      }),
    )
  })

// ---- webhooks

type WebhookFaultName = keyof typeof WEBHOOK_FAULTS
export const WEBHOOK_NAMES = Object.keys(WEBHOOK_FAULTS) as WebhookFaultName[]

/** Whether an event can have a fault: one follows it, and it is signed. */
function canHave(name: WebhookFaultName, next: string, signed: SeenDelivery['signed']): boolean {
  if (name === 'hold_until' || name === 'together') return next !== ''
  if (name === 'timestamp_stale' || name === 'signature_rotated') return signed === 'message'
  return !name.startsWith('signature') || signed !== 'none'
}

/** What can happen to the events that the baseline's receiver got, by their types in order of appearance. */
function webhookFaults({ deliveries }: Observation, choice: PointChoice): Fault[] {
  const got = deliveries.filter(({ isAfterEnd, status }) => !isAfterEnd && status !== null)
  return [...groupBy(got, (one) => one.event)].flatMap(([event, own]) => {
    const [{ resource_id, client, signed }] = own
    const ofResource = got.filter((one) => one.resource_id === resource_id && one.client === client)
    const later = ofResource.slice(ofResource.indexOf(own[0]))
    // The type that follows this one for the same resource.
    const next = later.find((one) => one.event !== event)?.event ?? ''
    const names = WEBHOOK_NAMES.filter((name) => canHave(name, next, signed))
    const last = Math.max(...own.map(({ nth }) => nth))
    return numbersUpTo(last, choice).flatMap((nth) =>
      (nth > 1 ? names.filter((one) => one !== 'copies_at_once') : names).map((name): Fault => {
        const fault = WEBHOOK_FAULTS[name]
        const what = fault.what(`${ordinal(nth)} event ${event}`, next)
        const point = { kind: 'webhook', name, operation: event, nth } as const
        const then = fault.then(next as EventName)
        const rule = { name: ruleName(point), when: { event }, ...onlyAt(nth), then }
        return { ...point, what, scenario: { webhooks: [rule] } }
      }),
    )
  })
}

const FORGING = ['signature_wrong', 'signature_missing', 'timestamp_stale', 'body_truncated']

/** Whether nothing but forged events happens: each attempt is forged, so who rejects them cannot know the state. */
export const isForging = (plan: Plan) =>
  plan.length > 0 && plan.every(({ name }) => FORGING.includes(name))

/** Whether an integration must absorb a fault: then a command that fails relies on something that nobody promised. */
export const mustAbsorb = ({ kind, name, race }: Fault) =>
  kind === 'assumption' ||
  (kind === 'webhook' && !FORGING.includes(name)) ||
  race?.bringsEvent === true

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
          what: `"${one.question}" is answered with "${one.readings[reading]?.does ?? reading}" (${one.name}=${reading})`,
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
  ...(choice === 'first-last' ? otherPayments(baseline) : []).flatMap((point) =>
    AT_EACH_PAYMENT.map((name) => callFault(point, name, possible)),
  ),
  ...lifecycleFaults(baseline, choice, possible),
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
  const calls = OPERATIONS.map((operation) => ({
    operation,
    nth: lastOf(baseline, operation) + 1,
  })).filter(({ operation, nth }) => nth <= lastOf(run, operation))
  return [
    ...assumptionFaults({ calls, events: 0 }, possible).filter((fault) =>
      RECOVERY_READINGS.includes(assumptionOf(fault)!),
    ),
    ...calls.flatMap((point) => RECOVERY_FAULTS.map((name) => callFault(point, name, possible))),
  ]
}
