import {
  isAccepted,
  type Observation,
  type SeenCall,
  type SeenDelivery,
} from './faults-and-findings.ts'

// What a receiver of webhooks does wrong.

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

/** An event that the receiver accepted while the call that caused it had no response, and about which nobody read later. */
export function outrunEvent({ calls, deliveries, exitCode, probeDifferences }: Observation) {
  if (exitCode === 0 && probeDifferences.length === 0) return undefined
  for (const one of deliveries) {
    const call = calls.find(
      ({ client, operation, beganMs, atMs }) =>
        client === one.client &&
        operation === CAUSES[one.event.split('.')[0]!] &&
        beganMs <= one.beganMs &&
        atMs > one.atMs,
    )
    const isReadLater = calls.some(
      (read) => read.method === 'GET' && !read.isFailed && read.beganMs > one.atMs,
    )
    if (call && isAccepted(one.status) && !one.isAfterEnd && !isReadLater)
      return `the receiver accepted ${one.event} before the ${nameOf(call)} had its response, and nobody read what it was about`
  }
  return undefined
}

/** An event that the receiver accepted although the read inside its handler had failed, and nobody read again. */
export function lostEvent({ calls, deliveries, exitCode, probeDifferences }: Observation) {
  if (exitCode === 0 && probeDifferences.length === 0) return undefined
  const reads = calls.filter(({ method }) => method === 'GET')
  for (const one of deliveries) {
    const read = reads.find((call) => call.isFailed && isInside(call, one))
    if (read === undefined) continue
    const isDone = deliveries.some(
      ({ event_id, client, status, isAfterEnd }) =>
        event_id === one.event_id && client === one.client && isAccepted(status) && !isAfterEnd,
    )
    const isReadLater = reads.some(
      (call) => !call.isFailed && call.path === read.path && call.beganMs > read.atMs,
    )
    if (isDone && !isReadLater)
      return `the receiver accepted ${one.event} although its ${nameOf(read)} had failed, and never read it again`
  }
  return undefined
}
