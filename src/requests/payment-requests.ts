import type { PaymentRow } from '../model/payment.ts'
import type { RequestLogEntry } from './request-log.ts'

/** The calls of the log that concern a payment, and the one that created it. */
export type PaymentRequests = {
  created: RequestLogEntry | undefined
  all: RequestLogEntry[]
}

/**
 * Finds the calls that concern a payment in a log, newest first: those that created it, that named its reference again, or
 * that read it alone.
 */
export function requestsOfPayment(
  newestFirst: Iterable<RequestLogEntry>,
  { transaction_id: id, reference_id: reference }: PaymentRow,
): PaymentRequests {
  const referenceText = reference === null ? undefined : JSON.stringify(reference)
  const all: RequestLogEntry[] = []
  let created: RequestLogEntry | undefined
  let lost: RequestLogEntry | undefined
  for (const call of newestFirst) {
    const isCreation = call.operation === 'createTransaction'
    const hasId = call.url.includes(id) || (isCreation && (call.made ?? call.response).includes(id))
    // The response may have been lost; a retry sends the same reference.
    const hasReference =
      isCreation && referenceText !== undefined && call.body.includes(referenceText)
    if (!hasId && !hasReference) continue
    all.push(call)
    // A call that was not valid created nothing.
    if (!isCreation || !call.isDecided || call.replayed) continue
    if (hasId) created = call
    else if (call.status === undefined || call.status >= 300) lost ??= call
  }
  // Of the calls without a response of their own, earlier ones did not arrive: after the one that created it, the reference is in use.
  return { created: created ?? lost, all }
}
