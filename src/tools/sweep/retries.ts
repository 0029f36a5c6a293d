import { groupBy, seconds, times } from '../counting.ts'
import { mostOf, type Observation, type SeenCall } from './faults-and-findings.ts'
import { isInside, nameOf } from './receivers.ts'

type RetryLimits = { baselines: readonly Observation[]; maxRetries: number }

// A caller's timer may be a little early.
const TOLERANCE = 0.9

const UUID = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/

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

/** Whether a call leaves after the time for which an earlier response had asked to wait, if it had. */
const hasWaited = (call: SeenCall, { atMs, answeredClockMs, retryAfterMs = 0 }: SeenCall) => {
  const least = retryAfterMs * TOLERANCE
  return call.beganMs - atMs >= least || call.clockMs - answeredClockMs >= least
}

/**
 * A call with Retry-After that was repeated too early. Each call is given to a worker who has waited as long as told, or to one who
 * makes his first; so several of them may call side by side.
 */
function hurried(equal: readonly SeenCall[], { deliveries }: Observation, workers: number) {
  const last: SeenCall[] = []
  for (const call of equal.toSorted((a, b) => a.beganMs - b.beganMs)) {
    // The handler of the next event does not know of the failure.
    if (deliveries.some((event) => isInside(call, event))) continue
    // Who has made what he wanted doesn't make it again.
    const isDone = ({ method, isFailed }: SeenCall) => method !== 'GET' && !isFailed
    const free = last.findIndex((one) => !isDone(one) && hasWaited(call, one))
    const early = last.find(({ atMs, retryAfterMs }) => retryAfterMs && atMs < call.beganMs)
    if (free >= 0) last.splice(free, 1)
    else if (last.length >= workers && early) return early
    last.push(call)
  }
  return undefined
}

/** Calls that hammer the service: too many at once, or sooner than it has asked for. */
export function retryStorm(
  run: Observation,
  { baselines, maxRetries }: RetryLimits,
): string | undefined {
  // A fault may have prevented payments that the calls were made for.
  const payments = Math.max(
    1,
    mostOf([run, ...baselines], (one) => one.payments.length),
  )
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
    const workers = Math.max(atOnce, mostOf(baselines, countSame))
    const early = owners === 1 ? hurried(equal, run, workers) : undefined
    if (early)
      return `${nameOf(call)} was repeated too early: the response had asked to wait ${seconds(early.retryAfterMs!)}`
  }
  return undefined
}
