import { maskNumber } from '../model/mask.ts'
import { assumption } from './assumption.ts'

export const userHistory = assumption<{ hasOtherSide: boolean }>({
  name: 'user_history',
  section: '4.3',
  concerns: ['listUserTransactionHistory'],
  question: 'Which payments does the history of a user contain?',
  basis: 'guess',
  why: 'A record has one `user_id`. Code that looks for received payments finds none, which is visible on the first call.',
  default: 'payer',
  readings: {
    payer: {
      does: 'the debits that the user pays and the credits that the user receives; `user_id` is that user',
      value: { hasOtherSide: false },
    },
    both_sides: {
      does: 'every payment of the user, as payer or receiver. `user_id` of a record is the user whose history is read; elsewhere it is as with `payer`',
      value: { hasOtherSide: true },
    },
  },
})

export const historyMetadata = assumption<boolean>({
  name: 'history_metadata',
  section: '2.5',
  concerns: ['listTransactionHistory', 'listUserTransactionHistory', 'webhooks'],
  question: 'What is the `metadata` of a history record that is FAILED?',
  basis: 'observed',
  why: 'Only null is observed. Code that decides by the reason finds none in the live service.',
  default: 'null',
  readings: {
    null: { does: 'null, as for all other statuses', value: false },
    reason: { does: '`{reason, description, source}`; null for all other statuses', value: true },
  },
})

export const historyUtr = assumption<(utr: string | null) => string | null>({
  name: 'history_utr',
  section: '2.5',
  concerns: ['listTransactionHistory', 'listUserTransactionHistory', 'webhooks'],
  question: 'Is the `utr` of a history record partly masked?',
  basis: 'guess',
  why: 'Section 2.4 says that the UTR of a transaction is partly masked, and section 2.5 does not say it of a record. Code that finds a payment by its whole UTR must also be tested with `masked`.',
  default: 'whole',
  readings: {
    whole: { does: 'no, it is whole', value: (utr) => utr },
    masked: {
      does: 'yes, as in a transaction: only the last four characters are visible',
      value: (utr) => utr && maskNumber(utr),
    },
  },
})
