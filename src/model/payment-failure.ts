import type { PaymentFailure } from './payment.ts'

/** The description and the source of each failure reason; the source of any other reason is `gateway`. */
const FAILURES: Readonly<Record<string, Omit<PaymentFailure, 'reason'>>> = {
  beneficiary_bank_offline: {
    description: 'The beneficiary bank is offline.',
    source: 'beneficiary_bank',
  },
  beneficiary_bank_failure: {
    description: 'The beneficiary bank reported a failure.',
    source: 'beneficiary_bank',
  },
  beneficiary_bank_rejected: {
    description: 'The beneficiary bank rejected the payment.',
    source: 'beneficiary_bank',
  },
  beneficiary_account_dormant: {
    description: 'The beneficiary account is dormant.',
    source: 'beneficiary_bank',
  },
  bank_account_closed: {
    description: 'The beneficiary account is closed.',
    source: 'beneficiary_bank',
  },
  bank_account_frozen: {
    description: 'The beneficiary account is frozen.',
    source: 'beneficiary_bank',
  },
  bank_account_invalid: {
    description: 'The beneficiary account is invalid.',
    source: 'beneficiary_bank',
  },
  imps_not_allowed: {
    description: 'IMPS is not allowed on the beneficiary account.',
    source: 'beneficiary_bank',
  },
  invalid_ifsc_code: { description: 'The IFSC is invalid.', source: 'business' },
  insufficient_funds: {
    description: 'The balance is too low for the payment.',
    source: 'business',
  },
  transaction_limit_exceeded: { description: 'The payment exceeds a limit.', source: 'business' },
  npci_beneficiary_timeout: {
    description: 'The beneficiary bank did not answer in time.',
    source: 'gateway',
  },
  gateway_down: { description: 'The payment gateway is down.', source: 'gateway' },
  gateway_timeout: {
    description: 'The payment gateway did not answer in time.',
    source: 'gateway',
  },
  server_error: { description: 'An internal error stopped the payment.', source: 'internal' },
}

/** The reasons with a description of their own; other reasons are accepted too. */
export const FAILURE_REASONS: readonly string[] = Object.keys(FAILURES)

/** A full failure from its reason. */
export function failureOf(reason: string, more: Partial<PaymentFailure> = {}): PaymentFailure {
  // An inherited property such as `constructor` is not a known reason.
  const known = (Object.hasOwn(FAILURES, reason) && FAILURES[reason]) || {
    description: `The payment failed: ${reason.replaceAll('_', ' ')}.`,
    source: 'gateway' as const,
  }
  return {
    reason,
    description: more.description ?? known.description,
    source: more.source ?? known.source,
  }
}
