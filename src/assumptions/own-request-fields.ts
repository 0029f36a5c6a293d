import { assumption } from './assumption.ts'
import { changeFields, ignored, type SchemaChange, unchanged } from './schema-change.ts'

/** Whether requests can have the fields that are in responses, but not in the contract's lists of request fields. */
export const ownRequestFields = assumption<SchemaChange>({
  name: 'own_request_fields',
  section: '4.1, 4.2',
  concerns: ['createUser', 'createTransaction'],
  question:
    'Do `user_type` in POST /user, and `remark` and `currency_code` in POST /transaction, have an effect?',
  basis: 'guessed',
  why: 'The contract shows these fields in responses, and not in requests. A wrong guess costs a note or a user type, and no money.',
  default: 'accepted',
  readings: {
    accepted: {
      does: 'they are validated and stored: `user_type` is individual (default) or business, `remark` has at most 50 characters, and `currency_code` is INR',
      value: unchanged,
    },
    ignored: {
      does: 'they are neither validated nor stored: each user is individual, and each `remark` is empty',
      value: changeFields(['user_type', 'remark', 'currency_code'], ignored),
    },
  },
})
