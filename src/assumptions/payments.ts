import { AmountNumber, amountFrom } from '../model/payment.ts'
import {
  assumption,
  changeFields,
  ignored,
  type SchemaChange,
  UTR_SHOWN,
  unchanged,
} from './assumption.ts'

export const referenceId = assumption<{ isUnique: boolean; request: SchemaChange }>({
  name: 'reference_id',
  section: '2.5, 4.2',
  concerns: ['createTransaction'],
  question: 'What does a `reference_id` in the body of POST /transaction do?',
  basis: 'guess',
  why: "The contract shows the field in responses (2.4, 2.5) and no request field for it (4.2). If it isn't unique in the live service, a retry that relies on the 409 pays twice. Look a payment up by its reference before you pay again.",
  default: 'stored',
  readings: {
    stored: {
      does: 'a payment stores it, and several payments can have the same one',
      value: { isUnique: false, request: unchanged },
    },
    unique: {
      does: 'a payment stores it, also as `client_transaction_id`; a second payment with the same one is 409 `duplicate_reference`',
      value: { isUnique: true, request: unchanged },
    },
    ignored: {
      does: 'it is neither validated nor stored: `reference_id` is null, and `client_transaction_id` is made up',
      value: { isUnique: false, request: changeFields(['reference_id'], ignored) },
    },
  },
})

export const amountAsText = assumption<SchemaChange>({
  name: 'amount_as_text',
  section: '4.2',
  concerns: ['createTransaction'],
  question: 'Can `amount` in POST /transaction be a string, such as `"1500.50"`?',
  basis: 'guess',
  why: 'The contract lists a number, and responses contain a string. A service that takes only a number says so on the first call.',
  default: 'accepted',
  readings: {
    accepted: {
      does: 'a decimal text is checked by its text, a number by the value that a JSON parser reads (`1e2` is 100)',
      value: unchanged,
    },
    refused: {
      does: 'an amount that is not a number is 400',
      value: changeFields(['amount'], () => AmountNumber),
    },
  },
})

const amountOfAtLeast = (minPaise: number): SchemaChange =>
  changeFields(['amount'], (field) => amountFrom(minPaise, field !== AmountNumber))

export const smallestAmount = assumption<SchemaChange>({
  name: 'smallest_amount',
  section: '4.2',
  concerns: ['createTransaction'],
  question: 'What is the smallest `amount` of POST /transaction?',
  basis: 'convention',
  why: 'Indian payout services start at one rupee. A service with another minimum rejects the payment, which is loud.',
  default: '1.00',
  readings: {
    '1.00': { does: 'one rupee', value: unchanged },
    '0.01': { does: 'one paisa', value: amountOfAtLeast(1) },
    '100.00': {
      does: 'a hundred rupees',
      value: amountOfAtLeast(100_00),
      notAbsorbable: 'a smaller payment is refused, whatever the caller does',
    },
  },
})

/** Whether a payment or a KYC record that failed can still succeed. */
export const lateSuccess = assumption<boolean>({
  name: 'late_success',
  section: '2.2, 2.4',
  concerns: ['createTransaction', 'submitKyc', 'webhooks'],
  question: 'Can a payment that is FAILED, or a KYC record that is failed, still become a success?',
  basis: 'guess',
  why: 'The contract shows no transitions, and payment systems have deemed approvals. Code that pays again after a failure, or ignores what follows it, pays twice or loses the payment on the day that it happens.',
  default: 'possible',
  readings: {
    possible: {
      does: 'yes, if a scenario, a timeline or a call of the admin API says so. Nothing changes by itself',
      value: true,
    },
    never: {
      does: 'no: such a call is 422 `invalid_transition`, and such a step of a scenario is skipped',
      value: false,
    },
  },
})

export const unverifiedAccount = assumption<boolean>({
  name: 'unverified_account',
  section: '4.2, 7',
  concerns: ['createTransaction'],
  question: 'What does POST /transaction do if the bank account is pending or failed its check?',
  basis: 'guess',
  why: 'The contract shows no error for it. The 422 of `refused` would protect code that never reads `bank_status`, and the live service may pay to an account that nobody has verified.',
  default: 'accepted',
  readings: {
    accepted: { does: 'it pays, as to a verified account', value: true },
    refused: { does: 'the response is 422 `bank_not_verified`', value: false },
  },
})

export const processingStatus = assumption<'pending' | 'processing'>({
  name: 'processing_status',
  section: '2.4',
  concerns: ['createTransaction', 'getTransaction', 'listTransactions', 'webhooks'],
  question: 'What is the `transaction_status` of a payment that is PROCESSING in history?',
  basis: 'observed',
  why: 'The contract shows only pending and success for `transaction_status`.',
  default: 'pending',
  readings: {
    pending: { does: 'pending', value: 'pending' },
    processing: { does: 'processing', value: 'processing' },
  },
})

/** The payment system whose form a UTR has. */
export type UtrSystem = 'imps' | 'neft' | 'rtgs'

// IMPS ends at 5 lakh rupees. Above it banks use NEFT or RTGS; 10 lakh is the border of the sandbox.
const [FIVE_LAKH, TEN_LAKH] = [500_000_00, 1_000_000_00]

const systemOf = (paise: number): UtrSystem =>
  paise <= FIVE_LAKH ? 'imps' : paise <= TEN_LAKH ? 'neft' : 'rtgs'

export const utrForm = assumption<(paise: number) => UtrSystem>({
  name: 'utr_form',
  section: '2.5',
  concerns: UTR_SHOWN,
  question: 'What does a UTR look like?',
  basis: 'convention',
  why: 'IMPS ends at 5 lakh rupees. Code that stores a UTR as a number or in 12 characters would lose the UTR of a large payment.',
  default: 'by_amount',
  readings: {
    by_amount: {
      does: 'up to 5 lakh rupees 12 digits, as in IMPS; up to 10 lakh 16 characters, as in NEFT (`N351200478962883`); above it 22 characters, as in RTGS (`HDFCR52026010112345678`)',
      value: systemOf,
    },
    imps: {
      does: '12 digits: the last digit of the year, the day of the year in India, and a series that does not repeat',
      value: () => 'imps',
    },
  },
})

/** The time from SUCCESS to the UTR, ms on the client's clock. */
export const utrOfSuccess = assumption<{ after_ms: number }>({
  name: 'utr_of_success',
  section: '2.5',
  concerns: UTR_SHOWN,
  question: 'When does a payment get its UTR?',
  basis: 'contract',
  why: 'The contract says that the UTR is set after completion. Code that stores the UTR from the event of the success stores null.',
  default: 'later',
  readings: {
    later: {
      does: '5 s after SUCCESS on the client’s clock. Until then `utr` is null. The step changes `updated_at` and sends no event. A payment that is reversed before it gets no UTR',
      value: { after_ms: 5_000 },
    },
    with_status: { does: 'with the status SUCCESS', value: { after_ms: 0 } },
  },
})

export const missingRemark = assumption<'' | null>({
  name: 'missing_remark',
  section: '2.5',
  concerns: ['listTransactionHistory', 'listUserTransactionHistory', 'webhooks'],
  question: 'What is the `remark` of a history record if the payment has no remark?',
  basis: 'contract',
  why: 'The contract calls the field a string.',
  default: 'empty_text',
  readings: {
    empty_text: { does: 'an empty text', value: '' },
    null: { does: 'null, also for a remark that is an empty text', value: null },
  },
})
