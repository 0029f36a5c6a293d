import { groupBy, seconds, times } from '../counting.ts'
import type { Observation, SeenCall, SeenDelivery } from './faults-and-findings.ts'
import { isAccepted, mostOf } from './faults-and-findings.ts'

// What a caller and a receiver of webhooks do wrong, whatever becomes of the money.

// ---- events

export const nameOf = ({ method, path, traceparent }: SeenCall) =>
  `${method} ${path}${traceparent ? ` (trace ${traceparent.split('-')[1]})` : ''}`

/** Whether a handler made a call while it had an event of the same resource. */
export const isInside = (call: SeenCall, one: SeenDelivery) =>
  call.client === one.client &&
  call.path.includes(one.resource_id) &&
  call.beganMs >= one.beganMs - 1 &&
  call.atMs <= one.atMs + 1

export function acceptedForged({ deliveries }: Observation): string | undefined {
  const found = deliveries.find(({ isForged, status }) => isForged && isAccepted(status))
  return found && `the receiver answered ${found.status} to this ${found.event}`
}

/** The operation whose response an event can outrun, by the event's kind. */
const CAUSES: Readonly<Record<string, string>> = {
  transaction: 'createTransaction',
  kyc: 'submitKyc',
  bank: 'addBankAccount',
}

/** An event that the receiver accepted though its own read had failed, or before the call that caused it had a response, and that nobody read again. */
export function lostEvent({ calls, deliveries, exitCode, probeDifferences }: Observation) {
  if (exitCode === 0 && probeDifferences.length === 0) return undefined
  const reads = calls.filter(({ method }) => method === 'GET')
  const isReadAfter = (ms: number, path?: string) =>
    reads.some((one) => !one.isFailed && one.beganMs > ms && (path ?? one.path) === one.path)
  for (const one of deliveries) {
    const { client, event, event_id, beganMs, atMs } = one
    const isDone = deliveries.some(
      (other) =>
        other.event_id === event_id &&
        other.client === client &&
        isAccepted(other.status) &&
        !other.isAfterEnd,
    )
    if (!isDone) continue
    const read = reads.find((call) => call.isFailed && isInside(call, one))
    if (read && !isReadAfter(read.atMs, read.path))
      return `the receiver accepted ${event} although its ${nameOf(read)} had failed, and never read it again`
    const cause = calls.find(
      (call) =>
        call.client === client &&
        call.operation === CAUSES[event.split('.')[0]!] &&
        call.beganMs <= beganMs &&
        call.atMs > atMs,
    )
    if (cause && isAccepted(one.status) && !one.isAfterEnd && !isReadAfter(atMs))
      return `the receiver accepted ${event} before the ${nameOf(cause)} had its response, and nobody read what it was about`
  }
  return undefined
}

// ---- retries

// A caller's timer may be a little early.
const TOLERANCE = 0.9

const UUID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/

type RetryLimits = { baselines: readonly Observation[]; maxRetries: number }

/** The equal calls of each client, and of each worker if several are started. */
const equalCalls = ({ calls }: Observation) => [
  ...groupBy(calls, ({ client, worker, content }) => `${client} ${worker} ${content}`).values(),
]

/** How many equal calls came within a second, in real time and in the client's time: writes, and reads after one that failed. */
function fastest(equal: readonly SeenCall[]): number {
  const calls = equal.filter(({ method }, i) => method !== 'GET' || equal[i - 1]?.isFailed)
  let [from, most] = [0, 0]
  for (const [i, { atMs, clockMs }] of calls.entries()) {
    while (atMs - calls[from]!.atMs > 1_000 || clockMs - calls[from]!.clockMs > 1_000) from++
    most = Math.max(most, i - from + 1)
  }
  return most
}

/** Whether a call came before the time for which an earlier response had asked to wait, by both clocks. */
function isEarly(
  { beganMs, clockMs }: SeenCall,
  { atMs, answeredClockMs, retryAfterMs = 0 }: SeenCall,
) {
  const leastMs = retryAfterMs * TOLERANCE
  return beganMs > atMs && beganMs - atMs < leastMs && clockMs - answeredClockMs < leastMs
}

/** A call with Retry-After that was repeated too early, by more than those who call side by side. */
const hurried = (equal: readonly SeenCall[], { deliveries }: Observation, callers: number) =>
  equal.find((one) => {
    // The handler of the next event does not know of the failure.
    const isOther = (call: SeenCall) => deliveries.some((event) => isInside(call, event))
    return equal.filter((call) => isEarly(call, one) && !isOther(call)).length >= callers
  })

/** Calls that hammer the service: too many at once, or sooner than it has asked for. */
export function retryStorm(
  run: Observation,
  { baselines, maxRetries }: RetryLimits,
): string | undefined {
  // A fault may have prevented payments that the calls were made for.
  const payments = mostOf([run, ...baselines], (one) => one.payments.length) || 1
  const usual = mostOf(baselines, (one) => Math.max(0, ...equalCalls(one).map(fastest)))
  for (const equal of equalCalls(run)) {
    const [call] = equal
    // Every payment looks at the same list.
    const owners = call.method !== 'GET' || UUID.test(call.path) ? 1 : payments
    const count = fastest(equal)
    if (count > usual + maxRetries * owners)
      return `${nameOf(call)} was sent ${times(count)} within a second`
    const countSame = ({ calls }: Observation) =>
      calls.filter(({ content }) => content === call.content).length
    // Independent parts of a program can make equal calls, and two workers can have payments to one payee.
    const isOfPayment = run.payments.some(({ transaction_id: id }) => call.path.includes(id))
    const atOnce = call.method === 'GET' && !isOfPayment ? Math.min(2, payments) : 1
    const callers = Math.max(atOnce, mostOf(baselines, countSame))
    const early = owners === 1 ? hurried(equal, run, callers) : undefined
    if (early)
      return `${nameOf(call)} was repeated too early: the response had asked to wait ${seconds(early.retryAfterMs!)}`
  }
  return undefined
}
