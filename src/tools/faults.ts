import type { EventName, OperationId } from '../scenarios/operations-and-events.ts'
import type { OutcomeDefinition } from '../scenarios/outcome-schema.ts'
import type { WebhookRuleDefinition } from '../scenarios/rule-schema.ts'

// The one list of faults: a sweep, agents and the docs have these names. A name has the words of its outcome.

/** What a caller can choose of an outcome. */
export type FaultOptions = {
  status?: number | undefined
  delay?: string | undefined
  reason?: string | undefined
  /** Seconds. */
  retryAfter?: string | undefined
}

/** `what` says what happens to a call in words, `takes` which option an agent may choose. */
export type CallFault = {
  what: (call: string, options: FaultOptions) => string
  then: (options: FaultOptions) => OutcomeDefinition
  takes?: keyof FaultOptions
}

/** A duration in words: `30 s`. */
const spaced = (duration: string) => duration.replace(/^\d+/, '$& ')

/** A fault without options; `what` follows the name of the call. */
const fault = <T extends OutcomeDefinition>(what: string, outcome: T) => ({
  what: (call: string) => `the ${call} ${what}`,
  then: () => outcome,
})

const refuses = (status: number) => ({
  what: (call: string, { retryAfter = '1' }: FaultOptions) =>
    `the ${call} gets ${status} with Retry-After: ${retryAfter}, and is not carried out`,
  then: ({ retryAfter = '1' }: FaultOptions): OutcomeDefinition => ({
    respond: { status, headers: { 'retry-after': retryAfter } },
  }),
})

/** A response in place of the one that the service gave. */
const replaced = (status: number, type: string, body: string) =>
  ({ respond: { status, headers: { 'content-type': type }, body }, at: 'after' }) as const

// What answers for a service that is slow is a gateway, and it has no JSON.
const GATEWAY_TIMEOUT = `<html>
<head><title>504 Gateway Time-out</title></head>
<body>
<center><h1>504 Gateway Time-out</h1></center>
<hr><center>nginx</center>
</body>
</html>
`

/** The faults of one call. */
export const CALL_FAULTS = {
  reset: {
    what: (call) => `the connection of the ${call} is closed before it is carried out`,
    then: () => ({ fault: 'reset' }),
  },
  reset_after: fault('is carried out, and its response gets lost', { fault: 'reset', at: 'after' }),
  hang: fault('is not carried out, and never gets a response', { fault: 'hang' }),
  hang_after: fault('is carried out, and never gets a response', { fault: 'hang', at: 'after' }),
  effect_after_timeout: {
    what: (call, { delay = '30s' }) =>
      `the ${call} never gets a response, and is carried out ${spaced(delay)} later`,
    then: ({ delay = '30s' }) => ({ fault: 'hang', effect: 'after_timeout', after: delay }),
    takes: 'delay',
  },
  malformed: fault('is not carried out, and its response is not JSON', { fault: 'malformed' }),
  truncate_after: fault('is carried out, and its response ends in the middle', {
    fault: 'truncate',
    at: 'after',
  }),
  respond_500: {
    what: (call) => `the ${call} gets 500, and is not carried out`,
    then: ({ status = 500 }) => ({ respond: { status } }),
    takes: 'status',
  },
  respond_503: refuses(503),
  respond_429: refuses(429),
  respond_504_after: fault(
    "is carried out, and gets a gateway's 504, an HTML page",
    replaced(504, 'text/html', GATEWAY_TIMEOUT),
  ),
  respond_html_after: fault(
    'is carried out, and gets 200 with the HTML page of a proxy',
    replaced(200, 'text/html', '<html>Wait</html>'),
  ),
  respond_202_after: fault(
    'is carried out, and gets 202 without a body',
    replaced(202, 'text/plain', ''),
  ),
  delay: {
    what: (call) => `the response of the ${call} takes 5 s`,
    then: ({ delay = '5s' }) => ({ delay }),
    takes: 'delay',
  },
  late_response: {
    what: (call) => `the ${call} is carried out, and its response comes 5 s later, after its event`,
    then: ({ delay = '5s' }) => ({ delay, at: 'after' }),
    takes: 'delay',
  },
  visible_after: {
    what: (call) => `reads do not find what the ${call} creates for 5 s`,
    then: ({ delay = '5s' }) => ({ visible_after: delay }),
    takes: 'delay',
  },
} as const satisfies Record<string, CallFault>
export type CallFaultName = keyof typeof CALL_FAULTS

/** What goes on for several calls of a sweep, and ends. */
export const LASTING_FAULTS = {
  outage: { every: true, status: 503 },
  rate_limit: { every: false, status: 429 },
  token_expired: { every: true, status: 401 },
} as const
/** What goes wrong with what a call creates. */
type LifecycleFault = {
  operation: OperationId
  record: string
  what: string
  then: (options: FaultOptions) => OutcomeDefinition
  takes?: keyof FaultOptions
}

const KYC = { operation: 'submitKyc', record: 'KYC document' } as const
const ACCOUNT = { operation: 'addBankAccount', record: 'bank account' } as const
const PAYMENT = { operation: 'createTransaction', record: 'payment' } as const
const BEGUN = [{ status: 'PENDING' }, { status: 'PROCESSING', after: '1s' }] as const

const payment = (what: string, transaction: OutcomeDefinition['transaction']) => ({
  ...PAYMENT,
  what,
  then: () => ({ transaction }),
})

/** The faults of what a call creates. */
export const LIFECYCLE_FAULTS = {
  kyc_failed: { ...KYC, what: 'fails its check', then: () => ({ kyc: [{ status: 'failed' }] }) },
  kyc_pending: { ...KYC, what: 'stays pending', then: () => ({ kyc: [{ status: 'pending' }] }) },
  bank_failed: { ...ACCOUNT, what: 'is refused', then: () => ({ bank: [{ status: 'failed' }] }) },
  bank_pending: {
    ...ACCOUNT,
    what: 'stays pending',
    then: () => ({ bank: [{ status: 'pending' }] }),
  },
  payment_failed: {
    ...PAYMENT,
    what: 'fails after 2 s',
    then: ({ reason = 'beneficiary_bank_offline' }) => ({
      transaction: [{ status: 'PENDING' }, { status: 'FAILED', after: '2s', reason }],
    }),
    takes: 'reason',
  },
  payment_failed_late: payment('fails after 25 minutes in processing', [
    ...BEGUN,
    { status: 'FAILED', after: '25m', reason: 'beneficiary_bank_failure' },
  ]),
  payment_late_success: payment('fails after 2 s, and succeeds a minute later', [
    { status: 'PENDING' },
    { status: 'FAILED', after: '2s', reason: 'npci_beneficiary_timeout' },
    { status: 'SUCCESS', after: '1m' },
  ]),
  payment_late: payment('stays pending for 25 minutes', [
    { status: 'PENDING' },
    { status: 'PROCESSING', after: '25m' },
    { status: 'SUCCESS', after: '5s' },
  ]),
  payment_pending: payment('stays pending for ever', [{ status: 'PENDING' }]),
  payment_stuck: payment('stays in processing for a day', [
    ...BEGUN,
    { status: 'SUCCESS', after: '1d' },
  ]),
  payment_reversed: payment('succeeds, and comes back a day later', [
    ...BEGUN,
    { status: 'SUCCESS', after: '2s' },
    { status: 'FAILED', after: '1d', reason: 'beneficiary_bank_rejected' },
  ]),
} as const satisfies Record<string, LifecycleFault>

type WebhookThen = WebhookRuleDefinition['then']

/** A fault of an event alone; `what` follows its name. */
const sent = (what: string, then: WebhookThen) => ({
  what: (event: string) => `the ${event} ${what}`,
  then: () => then,
})

/** The faults of one event; `next` is the event that follows it. */
export const WEBHOOK_FAULTS = {
  delay: sent('is sent 5 s late', { delay: '5s' }),
  copies: sent('is sent twice', { copies: 2 }),
  copies_at_once: sent('arrives 8 times at once', { copies: 8 }),
  hold_until: {
    what: (event, next) => `the ${event} is sent after the ${next} that follows it`,
    then: (next) => ({ hold_until: next }),
  },
  together: {
    what: (event, next) =>
      `the ${event} is sent at the same instant as the ${next} that follows it`,
    then: () => ({ together: true }),
  },
  drop: sent('is never sent', { drop: true }),
  signature_wrong: sent('has a wrong signature', { signature: 'wrong' }),
  signature_missing: sent('has no signature', { signature: 'missing' }),
  signature_rotated: sent('is signed with a new secret first, then with the right one', {
    signature: 'rotated',
  }),
  timestamp_stale: sent('is signed with a time far in the past', { timestamp: 'stale' }),
  body_truncated: {
    what: (event) => `the body of the ${event} ends in the middle`,
    then: () => ({ body: 'truncated' }),
  },
} as const satisfies Record<
  string,
  { what: (event: string, next: string) => string; then: (next: EventName) => WebhookThen }
>
