import { maskNumber } from '../model/mask.ts'
import { assumption } from './assumption.ts'

export const userHistory = assumption<{ hasOtherSide: boolean }>({
  name: 'user_history',
  section: '4.3',
  concerns: ['listUserTransactionHistory'],
  question: "Which payments are in a user's history?",
  basis: 'guess',
  why: 'Payments from others are missing.',
  default: 'payer',
  readings: {
    payer: {
      does: 'debits paid and credits received',
      value: { hasOtherSide: false },
    },
    both_sides: {
      does: 'all, paid or received, with this `user_id`',
      value: { hasOtherSide: true },
    },
  },
})

export const historyMetadata = assumption<boolean>({
  name: 'history_metadata',
  section: '2.5',
  concerns: ['listTransactionHistory', 'listUserTransactionHistory', 'webhooks'],
  question: "What's the `metadata` of a FAILED history record?",
  basis: 'observed',
  why: 'Code that decides by the reason finds none.',
  default: 'null',
  readings: {
    null: { does: 'null', value: false },
    reason: { does: '`{reason, description, source}`', value: true },
  },
})

export const historyUtr = assumption<(utr: string | null) => string | null>({
  name: 'history_utr',
  section: '2.5',
  concerns: ['listTransactionHistory', 'listUserTransactionHistory', 'webhooks'],
  question: 'Is the `utr` of a history record masked?',
  basis: 'guess',
  why: 'Code that finds a payment by its UTR finds none.',
  default: 'whole',
  readings: {
    whole: { does: 'no', value: (utr) => utr },
    masked: {
      does: 'yes, except for the last four characters',
      value: (utr) => utr && maskNumber(utr),
    },
  },
})
