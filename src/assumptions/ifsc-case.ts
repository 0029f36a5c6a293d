import { IfscCode } from '../model/account-formats.ts'
import { assumption } from './assumption.ts'
import { changeFields, type SchemaChange, unchanged } from './schema-change.ts'

/** Whether an IFSC can be in lower case. */
export const ifscCase = assumption<SchemaChange>({
  name: 'ifsc_case',
  section: '4.5',
  concerns: ['addBankAccount'],
  question: 'Can `ifsc_code` in POST /bank have lower-case letters?',
  basis: 'custom',
  why: 'Similar Indian services accept it. A service that does not says so when the account is added.',
  default: 'accepted',
  readings: {
    accepted: { does: 'it is stored and shown in upper case', value: unchanged },
    refused: {
      does: '400 `validation_failed`',
      value: changeFields(['ifsc_code'], () => IfscCode),
    },
  },
})
