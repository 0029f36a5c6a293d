import { AmountNumber, amountFrom } from '../model/payment.ts'
import {
  assumption,
  changeFields,
  choice,
  ignored,
  type SchemaChange,
  UTR_SHOWN,
  unchanged,
} from './assumption.ts'

export const referenceId = assumption<{ isUnique: boolean; request: SchemaChange }>({
  name: 'reference_id',
  section: '2.5, 4.2',
  concerns: ['createTransaction'],
  question: 'What does the `reference_id` of a payment do?',
  basis: 'guess',
  why: 'A retry that relies on the 409 pays twice.',
  readings: {
    stored: {
      does: 'stored; may repeat',
      value: { isUnique: false, request: unchanged },
    },
    unique: {
      does: 'a second one is 409 `duplicate_reference`',
      value: { isUnique: true, request: unchanged },
    },
    ignored: {
      does: 'not stored',
      value: { isUnique: false, request: changeFields(['reference_id'], ignored) },
    },
  },
})

export const amountAsText = assumption<SchemaChange>({
  name: 'amount_as_text',
  section: '4.2',
  concerns: ['createTransaction'],
  question: 'Can `amount` be a string (`"1500.50"`)?',
  basis: 'guess',
  why: 'The first payment fails.',
  readings: {
    accepted: { does: 'yes; the number `1e2` is 100', value: unchanged },
    refused: { does: 'no, 400', value: changeFields(['amount'], () => AmountNumber) },
  },
})

const amountOfAtLeast = (minPaise: number): SchemaChange =>
  changeFields(['amount'], (field) => amountFrom(minPaise, field !== AmountNumber))

export const smallestAmount = assumption<SchemaChange>({
  name: 'smallest_amount',
  section: '4.2',
  concerns: ['createTransaction'],
  question: "What's the smallest payment?",
  basis: 'convention',
  why: 'Smaller payments fail.',
  readings: {
    '1.00': { does: 'one rupee', value: unchanged },
    '0.01': { does: 'one paisa', value: amountOfAtLeast(1) },
    '100.00': {
      does: 'a hundred rupees',
      value: amountOfAtLeast(100_00),
      notAbsorbable: 'smaller payments fail whatever the caller does',
    },
  },
})

export const lateSuccess = choice({
  name: 'late_success',
  section: '2.2, 2.4',
  concerns: ['createTransaction', 'submitKyc', 'webhooks'],
  question: 'Can a FAILED payment or failed KYC record still succeed?',
  basis: 'guess',
  why: 'Code that pays again after a failure pays twice.',
  readings: {
    possible: 'yes, if a scenario, timeline or admin call says so',
    never: 'no, 422 `invalid_transition`; a scenario skips the step',
  },
})

export const unverifiedAccount = choice({
  name: 'unverified_account',
  section: '4.2, 7',
  concerns: ['createTransaction'],
  question: 'Can you pay to a pending or failed account?',
  basis: 'guess',
  why: 'Code that ignores `bank_status` pays unverified accounts.',
  readings: { accepted: 'yes', refused: 'no, 422 `bank_not_verified`' },
})

export const processingStatus = choice({
  name: 'processing_status',
  section: '2.4',
  concerns: ['createTransaction', 'getTransaction', 'listTransactions', 'webhooks'],
  question: "What's the `transaction_status` of a PROCESSING payment?",
  basis: 'observed',
  why: "Code that doesn't know the word breaks.",
  readings: { pending: 'pending', processing: 'processing' },
})

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
  why: "A numeric or 12-character column loses a large payment's UTR.",
  readings: {
    by_amount: {
      does: '12 digits up to 5 lakh (IMPS), 16 characters up to 10 lakh (NEFT), 22 above (RTGS)',
      value: systemOf,
    },
    imps: { does: '12 digits for any amount', value: () => 'imps' },
  },
})

/** The time from SUCCESS to the UTR, ms on the client's clock. */
export const utrOfSuccess = assumption<number>({
  name: 'utr_of_success',
  section: '2.5',
  concerns: UTR_SHOWN,
  question: 'When does a payment get its UTR?',
  basis: 'contract',
  why: 'Code that stores the UTR of the event stores null.',
  readings: {
    later: { does: '5 s after SUCCESS, without an event', value: 5_000 },
    with_status: { does: 'with SUCCESS', value: 0 },
  },
})

export const missingRemark = assumption<'' | null>({
  name: 'missing_remark',
  section: '2.5',
  concerns: ['listTransactionHistory', 'listUserTransactionHistory', 'webhooks'],
  question: "What's the `remark` of a history record without one?",
  basis: 'contract',
  why: 'Code that expects a string breaks on null.',
  readings: {
    empty_text: { does: '`""`', value: '' },
    null: { does: 'null, also for `""`', value: null },
  },
})

export const userHistory = choice({
  name: 'user_history',
  section: '4.3',
  concerns: ['listUserTransactionHistory'],
  question: "Which payments are in a user's history?",
  basis: 'guess',
  why: 'Payments from others are missing.',
  readings: {
    payer: 'debits paid and credits received',
    both_sides: 'all, paid or received, with this `user_id`',
  },
})

export const historyMetadata = choice({
  name: 'history_metadata',
  section: '2.5',
  concerns: ['listTransactionHistory', 'listUserTransactionHistory', 'webhooks'],
  question: "What's the `metadata` of a FAILED history record?",
  basis: 'observed',
  why: 'Code that decides by the reason finds none.',
  readings: { null: 'null', reason: '`{reason, description, source}`' },
})

export const historyUtr = choice({
  name: 'history_utr',
  section: '2.5',
  concerns: ['listTransactionHistory', 'listUserTransactionHistory', 'webhooks'],
  question: 'Is the `utr` of a history record masked?',
  basis: 'guess',
  why: 'Code that finds a payment by its UTR finds none.',
  readings: { whole: 'no', masked: 'yes, except for the last four characters' },
})
