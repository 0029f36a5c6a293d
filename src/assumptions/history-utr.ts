import { maskNumber } from '../model/mask.ts'
import { assumption } from './assumption.ts'

/** The UTR as a history record shows it. */
export const historyUtr = assumption<(utr: string | null) => string | null>({
  name: 'history_utr',
  section: '2.5',
  concerns: ['listTransactionHistory', 'listUserTransactionHistory', 'webhooks'],
  question: 'Is the `utr` of a history record partly masked?',
  basis: 'stated',
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
