// What happened to a payment and its events, in sentences. No part of the page: a test needs no browser.
import type { ResponseBody } from '../../../admin/caller.ts'
import { countText, ordinalWord, rupeesText, spanText, untilText } from '../format.ts'

// As in api.ts, which needs a browser.
type PaymentWithAll = ResponseBody<'readTransaction'>
type Delivery = PaymentWithAll['deliveries'][number]
type ShortRequest = PaymentWithAll['requests'][number]

const STATUS_WORDS: Readonly<Record<string, string>> = {
  PENDING: 'is pending',
  PROCESSING: 'is being processed',
  SUCCESS: 'has settled',
}

/** The name that a rule has for people: without what the log puts before those that were pushed. */
export const ruleText = (rule: string) => rule.replace(/(^|, )rule:\w+: (trouble: )?/g, '$1')

export function outcomeText(all: PaymentWithAll, now: number): string {
  const { transaction: payment, timers } = all
  const { history, failure } = payment
  const who = `${rupeesText(payment.amount, payment.currency_code)} to ${history.account_holder_name}`
  const next = timers.find(({ kind }) => kind === 'transaction.step')
  const left = next ? Date.parse(next.at) - now : 0
  const when = left < 1_000 ? 'In a moment' : `In ${spanText(left)}`
  const word = next && String(next.payload['status'])
  if (history.status === 'FAILED') {
    const why = failure === null ? '.' : `: ${failure.description}`
    return `${who} ${payment.outcome === 'came_back' ? 'came back' : 'failed'}${why}`
  }
  const is = `${who} ${STATUS_WORDS[history.status] ?? history.status}.`
  if (next)
    return `${is} ${when} it ${word === 'FAILED' && history.status === 'SUCCESS' ? 'comes back' : `becomes ${word}`}.`
  return history.status === 'SUCCESS' ? is : `${is} Nothing is scheduled to change that.`
}

export const CALLERS = {
  code: 'Your code',
  console: 'This page',
  agent: 'An agent',
  scenario: 'The scenario',
} as const
type By = { by?: ShortRequest['by'] }
type CallResult = By & Pick<ShortRequest, 'operation' | 'status'>

/** Says which error the caller of a payment got, or that it got no response. Returns `undefined` if the call succeeded. */
export function errorText(call: CallResult | undefined): string | undefined {
  if (call?.operation !== 'createTransaction') return undefined
  const who = CALLERS[call.by ?? 'code']
  if (call.status === null) return `${who} got no response.`
  return call.status >= 400 ? `${who} was told ${call.status}.` : undefined
}

const answerOf = ({ status, error }: Delivery['attempts'][number]) =>
  status === null ? (error?.message ?? 'no response') : String(status)

/** A reason such as `bank_account_closed` in words. */
export const wordsOf = (reason: string) => reason.replaceAll('_', ' ').replace(/\bnpci\b/, 'NPCI')

/** Says whether the webhook got an event; nothing if none was set. */
export function receiptText({ status, attempts, rule }: Delivery): string {
  const got = attempts.findIndex(({ ok }) => ok)
  const tries = attempts.length === 1 ? '1 try' : `${attempts.length || 'no'} tries`
  if (got === 0) return ' Your webhook got it.'
  if (got > 0) return ` Your webhook got it at the ${ordinalWord(got + 1)} try.`
  if (status === 'failed') return ` Your webhook never got it, after ${tries}.`
  if (status === 'dropped') return ` Its event was dropped by ${rule ?? 'a rule'}.`
  if (status === 'cancelled') return ' Its event was cancelled.'
  if (status === 'recorded') return ''
  return ` Your webhook doesn’t have it yet: ${tries} so far.`
}

/** The outcomes of a client's own payments, as the overview counts them. */
export const OUTCOMES = {
  settled: { tone: 'good', title: 'Settled', verb: 'settled' },
  in_flight: { tone: 'open', title: 'In flight', verb: 'is on its way' },
  failed: { tone: 'bad', title: 'Failed', verb: 'failed' },
  came_back: { tone: 'came', title: 'Came back', verb: 'came back' },
} as const
export const ENDS = ['settled', 'failed', 'came_back'] as const

type DescribedCall = By &
  Pick<ShortRequest, 'method' | 'path' | 'operation' | 'amount' | 'rule' | 'status' | 'reason'>

export const isBad = ({ status }: Pick<DescribedCall, 'status'>) => status === null || status >= 400

export function callText(call: DescribedCall): string {
  const { method, path, amount, rule, status, reason, by = 'code' } = call
  const of = amount === null ? '' : ` of ${rupeesText(amount)}`
  const verb = (status ?? 0) >= 500 ? 'got an error' : isBad(call) ? 'was refused' : 'was answered'
  const end = status === null ? 'got no response' : `${verb} (${status})`
  const why = reason === null ? '' : `: ${reason.replace(/\.$/, '')}`
  const because = rule === null ? why : `, by the rule “${ruleText(rule)}”`
  return `${by === 'code' ? 'Your' : `${CALLERS[by]}’s`} ${method} ${path}${of} ${end}${isBad(call) ? because : ''}.`
}

export function webhookText(deliveries: readonly Delivery[], now: number): string | undefined {
  if (deliveries.length === 0) return undefined
  const waits = deliveries.find(
    ({ status, attempts }) => status === 'pending' && attempts.length > 0,
  )
  const last = waits?.attempts.at(-1)
  if (waits && last) {
    const next = waits.next_attempt_at
    const when = next === null ? '' : `; the next try is ${untilText(Date.parse(next) - now)}`
    return `Your webhook hasn't accepted ${waits.event} after ${countText(waits.attempts.length, 'attempt')}: ${answerOf(last)}${when}.`
  }
  const lost = deliveries.find(({ status }) => status === 'failed')
  if (lost)
    return `Your webhook never accepted ${lost.event} in ${countText(lost.attempts.length, 'attempt')}; the last: ${answerOf(lost.attempts.at(-1)!)}.`
  if (deliveries.every(({ status }) => status === 'recorded'))
    return 'No webhook was set, so your code heard nothing.'
  const taken = deliveries.filter(({ status }) => status === 'delivered')
  // An event that was sent again by hand has more attempts than it needed.
  const tries = taken.map(({ attempts }) => attempts.findIndex(({ ok }) => ok) + 1)
  const late = tries.filter((count) => count > 1)
  if (taken.length === 0) return undefined
  const many = late.length === 1 ? 'one' : String(late.length)
  const upTo = new Set(late).size > 1 ? 'by the' : 'at the'
  const end =
    late.length > 0 ? `, ${many} of them ${upTo} ${ordinalWord(Math.max(...late))} try` : ''
  return `Your webhook accepted ${countText(taken.length, 'event')}${end}.`
}

/** Returns the number of a copy: `dlv_…_2` is the second. An event that was only recorded, such as `rec_2`, has no copies. */
export const copyOf = (delivery_id: string): string | undefined =>
  /^dlv_[^_]+_(\d+)$/.exec(delivery_id)?.[1]

export function deliveryText(delivery: Omit<Delivery, 'delivery_id'>): string {
  const { status, attempts, rule, hold_until, next_attempt_at } = delivery
  const tried = countText(attempts.length, 'attempt')
  switch (status) {
    case 'delivered':
      return attempts.length === 1 ? 'delivered' : `delivered after ${tried}`
    case 'failed':
      return `delivery failed after ${tried}`
    case 'dropped':
      return `not sent: dropped by ${rule ?? 'a rule'}`
    case 'cancelled':
      return attempts.length === 0 ? 'cancelled before it was sent' : `cancelled after ${tried}`
    case 'recorded':
      return 'not sent: no webhook was set'
    default:
      if (attempts.length > 0) return `not delivered after ${tried}, will be retried`
      if (hold_until !== null) return `waits for ${hold_until}`
      return next_attempt_at === null ? 'waits for the previous event' : 'not sent yet'
  }
}
