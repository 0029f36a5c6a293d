import { assumption } from './assumption.ts'
import { changeFields, ignored, type SchemaChange, unchanged } from './schema-change.ts'

/** What a `reference_id` in POST /transaction does. */
export const referenceId = assumption<{ isUnique: boolean; request: SchemaChange }>({
  name: 'reference_id',
  section: '2.5, 4.2',
  concerns: ['createTransaction'],
  question: 'What does a `reference_id` in the body of POST /transaction do?',
  basis: 'stated',
  why: 'Section 2.5 says that `client_transaction_id` is unique and comes from the client. Section 4.2 lists no request field for it.',
  default: 'unique',
  readings: {
    unique: {
      does: 'a payment stores it, also as `client_transaction_id`; a second payment with the same one is 409 `duplicate_reference`',
      value: { isUnique: true, request: unchanged },
    },
    stored: {
      does: 'a payment stores it, and several payments can have the same one',
      value: { isUnique: false, request: unchanged },
    },
    ignored: {
      does: 'it is neither validated nor stored: `reference_id` is null, and `client_transaction_id` is made up',
      value: { isUnique: false, request: changeFields(['reference_id'], ignored) },
    },
  },
})
