import { assumption } from './assumption.ts'

/** The `transaction_status` of a payment that is PROCESSING in history. */
export const processingStatus = assumption<'pending' | 'processing'>({
  name: 'processing_status',
  section: '2.4',
  concerns: ['createTransaction', 'getTransaction', 'listTransactions', 'webhooks'],
  question: 'What is the `transaction_status` of a payment that is PROCESSING in history?',
  basis: 'stated',
  why: 'The contract shows only pending and success for `transaction_status`.',
  default: 'pending',
  readings: {
    pending: { does: 'pending', value: 'pending' },
    processing: { does: 'processing', value: 'processing' },
  },
})
