import * as z from 'zod'
import { assumption } from './assumption.ts'
import { changeFields, type SchemaChange, unchanged } from './schema-change.ts'

const IDS = [
  'userId',
  'transaction_id',
  'user_id',
  'from_user_id',
  'to_user_id',
  'benif_bank_id',
] as const

const AnyId = z.string().max(100)

/** How the service rejects an id that is not a UUID. */
export const malformedId = assumption<SchemaChange>({
  name: 'malformed_id',
  section: '4, 7',
  concerns: [
    'getUser',
    'createTransaction',
    'getTransaction',
    'listUserTransactionHistory',
    'submitKyc',
    'getKyc',
    'addBankAccount',
    'listBankAccounts',
  ],
  question: 'Which error has a call with an id that is not a UUID, in the path or the body?',
  basis: 'guessed',
  why: 'The message names the field. Both readings are errors, so a caller notices them on the first try.',
  default: 'bad_request',
  readings: {
    bad_request: { does: '400 `validation_failed`', value: unchanged },
    not_found: {
      does: '404 `not_found`, as for an id that nothing has',
      value: changeFields(IDS, () => AnyId),
    },
  },
})
