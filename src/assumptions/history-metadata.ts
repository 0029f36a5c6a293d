import { assumption } from './assumption.ts'

/** Whether the `metadata` of a FAILED history record has the reason. */
export const historyMetadata = assumption<boolean>({
  name: 'history_metadata',
  section: '2.5',
  concerns: ['listTransactionHistory', 'listUserTransactionHistory', 'webhooks'],
  question: 'What is the `metadata` of a history record that is FAILED?',
  basis: 'guessed',
  why: 'Tests can check why a payment failed. The contract shows only null: code that needs the reason to decide must also be tested with `null`.',
  default: 'reason',
  readings: {
    reason: { does: '`{reason, description, source}`; null for all other statuses', value: true },
    null: { does: 'null, as for all other statuses', value: false },
  },
})
