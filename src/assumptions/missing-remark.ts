import { assumption } from './assumption.ts'

/** The `remark` of a payment without one. */
export const missingRemark = assumption<'' | null>({
  name: 'missing_remark',
  section: '2.5',
  concerns: ['listTransactionHistory', 'listUserTransactionHistory', 'webhooks'],
  question: 'What is the `remark` of a history record if the payment has no remark?',
  basis: 'stated',
  why: 'The contract calls the field a string.',
  default: 'empty_text',
  readings: {
    empty_text: { does: 'an empty text', value: '' },
    null: { does: 'null, also for a remark that is an empty text', value: null },
  },
})
