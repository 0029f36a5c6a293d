import { ENDPOINT_OF, type OperationId } from '../../scenarios/operations-and-events.ts'
import { groupBy } from '../counting.ts'
import type { Divergence, Observation, SeenCall, SeenDelivery } from './faults-and-findings.ts'
import { isAccepted } from './faults-and-findings.ts'
import { PLAN_NAME } from './plans.ts'

type Timed = Divergence & { atMs: number }

const nameOf = ({ operation, method, path }: SeenCall): string =>
  ENDPOINT_OF[operation as OperationId] ?? `${method} ${path}`
const isFaulty = ({ rule }: SeenCall) => rule?.includes(`${PLAN_NAME}: `) === true
const isRead = ({ method }: SeenCall) => method === 'GET' || method === 'HEAD'
const responseOf = ({ status }: SeenCall) => status ?? 'no response'

/** Calls without the repeats of a poll. */
const steps = (calls: readonly SeenCall[]) =>
  calls.filter((one, i) => {
    const last = calls[i - 1]
    const isPoll = last && isRead(one) && nameOf(last) === nameOf(one)
    return !isPoll || last.isFailed !== one.isFailed
  })

/** The steps of two runs side by side: of steps that differ, whichever run comes back to the other's step sooner has its own alone. */
export function inPairs<T>(
  a: readonly T[],
  b: readonly T[],
  keyOf: (step: T) => string,
): (readonly [T | undefined, T | undefined])[] {
  const distance = (steps: readonly T[], from: number, key: string) => {
    const at = steps.findIndex((step, i) => i >= from && keyOf(step) === key)
    return at < 0 ? Number.POSITIVE_INFINITY : at - from
  }
  const pairs: [T | undefined, T | undefined][] = []
  for (let [i, j] = [0, 0]; i < a.length || j < b.length; ) {
    const [left, right] = [a[i], b[j]]
    const isSame = left && right && keyOf(left) === keyOf(right)
    const isRight = right && (!left || distance(b, j, keyOf(left)) <= distance(a, i, keyOf(right)))
    pairs.push([isSame || !isRight ? a[i++] : undefined, isSame || isRight ? b[j++] : undefined])
  }
  return pairs
}

/** Whether one run has more calls of a kind than another: of reads it counts whether there is any. */
function hasMore(call: SeenCall, more: Observation, less: Observation): boolean {
  const [a, b] = [more, less].map(
    ({ calls }) => calls.filter((one) => nameOf(one) === nameOf(call)).length,
  )
  return isRead(call) ? b === 0 : a! > b!
}

/** The first call or response after a fault that the run without faults doesn't have. */
function divergentCall(run: Observation, baseline: Observation): Timed | undefined {
  const from = Math.max(0, run.calls.findIndex(isFaulty))
  const at = run.calls[from]
  const start = baseline.calls.findIndex(
    (one) => one.operation === at?.operation && one.nth === at.nth,
  )
  const [a, b] = [steps(baseline.calls.slice(Math.max(0, start))), steps(run.calls.slice(from))]
  for (const [left, right] of inPairs(a, b, nameOf)) {
    const name = nameOf((right ?? left)!)
    if (left && right) {
      if (isFaulty(right) || left.isFailed === right.isFailed) continue
      const text = `${name} got ${responseOf(right)}; without the fault ${responseOf(left)}`
      return { key: `response ${name}`, text, atMs: right.atMs }
    }
    // Each of several workers prepares itself.
    const isOwn = right?.worker && right.operation !== 'createTransaction'
    if (right && !isOwn && hasMore(right, run, baseline)) {
      const earlier = run.calls.filter((one) => one.beganMs < right.beganMs && nameOf(one) === name)
      const same = earlier.filter(({ content }) => content === right.content)
      const isAgain = (same[0] ? same : earlier).some(({ worker }) => worker === right.worker)
      const who = isAgain || !right.worker ? '' : ` by worker ${right.worker}`
      const again = isAgain ? ' again' : earlier.length > 0 ? ' too' : ''
      const text = `${name} was sent${who}${again}, which doesn't happen without the fault`
      return { key: `sent ${name}`, text, atMs: right.beganMs }
    }
    if (left && hasMore(left, baseline, run)) {
      const text = `${name} was not sent; without the fault it is`
      return { key: `unsent ${name}`, text, atMs: Number.POSITIVE_INFINITY }
    }
  }
  return undefined
}

/** The first event that comes again, never, or with another answer. */
function divergentEvent(run: Observation, baseline: Observation): Timed | undefined {
  const until = ({ deliveries }: Observation) => deliveries.filter((one) => !one.isAfterEnd)
  const usual = groupBy(until(baseline), ({ event }) => event)
  const counts = new Map<string, number>()
  for (const { event, status, atMs } of until(run)) {
    const count = counts.get(event) ?? 0
    counts.set(event, count + 1)
    const other: SeenDelivery | undefined = usual.get(event)?.[count]
    const text = `the event ${event} came${count > 0 ? ' again' : ''}, which it doesn't without the fault`
    if (!other) return { key: 'event', text, atMs }
    if (isAccepted(other.status) !== isAccepted(status)) {
      const answers = `the receiver answered ${status ?? 'nothing'} to ${event}; without the fault ${other.status ?? 'nothing'}`
      return { key: 'answer', text: answers, atMs }
    }
  }
  const missed = [...usual].find(([event, all]) => (counts.get(event) ?? 0) < all.length)
  const text = `the event ${missed?.[0]} did not come before the command ended`
  return missed && { key: 'no event', text, atMs: Number.POSITIVE_INFINITY }
}

/** A payment that ends otherwise than without the fault. */
function divergentStatus(run: Observation, baseline: Observation): Divergence | undefined {
  for (const { key, statusAtEnd, status } of run.payments) {
    const usual = baseline.payments.filter((one) => one.key === key)
    for (const [now, field] of [
      [statusAtEnd, 'statusAtEnd'],
      [status, 'status'],
    ] as const)
      if (usual.length > 0 && !usual.some((one) => one[field] === now)) {
        const text = `a payment was ${now}${field === 'status' ? ' a day later' : ''}; without the fault ${usual[0]![field]}`
        return { key: `status ${status}`, text }
      }
  }
  return undefined
}

/** What a fault caused first: the first call, response, event or status that the run without faults doesn't have. */
export function firstDivergence(run: Observation, baseline: Observation): Divergence | undefined {
  const [call, event] = [divergentCall(run, baseline), divergentEvent(run, baseline)]
  const isCallFirst = call && (!event || call.atMs <= event.atMs || Number.isNaN(event.atMs))
  return isCallFirst ? call : (event ?? divergentStatus(run, baseline))
}
