import { DigitsOnly } from '../model/account-formats.ts'
import { assumption } from './assumption.ts'
import { changeFields, type SchemaChange, unchanged } from './schema-change.ts'

/** Which account numbers POST /bank accepts. */
export const accountNumberFormat = assumption<SchemaChange>({
  name: 'account_number_format',
  section: '4.5',
  concerns: ['addBankAccount'],
  question: 'Which texts are an `account_number` in POST /bank?',
  basis: 'custom',
  why: 'RazorpayX takes 5 to 35 letters and digits. A service that takes fewer says so when the account is added.',
  default: 'letters_and_digits',
  readings: {
    letters_and_digits: { does: '5 to 35 letters and digits', value: unchanged },
    digits: {
      does: '9 to 18 digits',
      value: changeFields(['account_number'], () => DigitsOnly),
    },
  },
})
