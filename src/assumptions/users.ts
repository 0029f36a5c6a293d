import { DigitsOnly, IfscCode } from '../model/bank-account.ts'
import { AnyEmail, AnyMobile } from '../model/user.ts'
import { assumption, changeFields, choice, type SchemaChange, unchanged } from './assumption.ts'

export const duplicateUser = choice({
  name: 'duplicate_user',
  section: '4.1',
  concerns: ['createUser'],
  question: 'Can two users have the same e-mail or mobile?',
  basis: 'guess',
  why: 'Code that relies on the 409 makes duplicates.',
  readings: { allowed: 'yes', conflict: 'no, 409 `user_exists`, ignoring case and +91' },
})

export const emailFormat = assumption<SchemaChange>({
  name: 'email_format',
  section: '4.1',
  concerns: ['createUser'],
  question: 'Which strings are an `email`?',
  basis: 'convention',
  why: 'Nothing: the strict form is right in both.',
  readings: {
    strict: {
      does: 'ASCII, one `@`, no two dots in a row, a domain of letters, digits, dots and inner hyphens, whose last part has two letters or more',
      value: unchanged,
    },
    lenient: {
      does: 'one `@`, a domain with a dot, letters of any script',
      value: changeFields(['email'], () => AnyEmail),
    },
  },
})

export const mobileFormat = assumption<SchemaChange>({
  name: 'mobile_format',
  section: '4.1',
  concerns: ['createUser'],
  question: 'Which strings are a `mobile`?',
  basis: 'convention',
  why: 'Nothing: the strict form is right in both.',
  readings: {
    strict: {
      does: 'ten digits from 6 to 9, with or without +91, or E.164 of another country',
      value: unchanged,
    },
    lenient: {
      does: '7 to 15 digits with +, spaces, hyphens, dots or brackets; +91, 91 or 0 before it makes no other number',
      value: changeFields(['mobile'], () => AnyMobile),
    },
  },
})

export const kycBadDocument = choice({
  name: 'kyc_bad_document',
  section: '4.4',
  concerns: ['submitKyc'],
  question: 'What does POST /kyc do with a bad document?',
  basis: 'contract',
  why: 'Code that reads only the HTTP status misses it.',
  readings: {
    entry_fails: '201; its entry fails, the others are processed',
    call_fails: '400; nothing is stored',
  },
})

export const accountNumberFormat = assumption<SchemaChange>({
  name: 'account_number_format',
  section: '4.5',
  concerns: ['addBankAccount'],
  question: 'Which strings are an `account_number`?',
  basis: 'convention',
  why: 'Adding the account fails.',
  readings: {
    letters_and_digits: { does: '5 to 35 letters and digits', value: unchanged },
    digits: { does: '9 to 18 digits', value: changeFields(['account_number'], () => DigitsOnly) },
  },
})

export const ifscCase = assumption<SchemaChange>({
  name: 'ifsc_case',
  section: '4.5',
  concerns: ['addBankAccount'],
  question: 'Can `ifsc_code` be lower case?',
  basis: 'convention',
  why: 'Adding the account fails.',
  readings: {
    accepted: { does: 'yes, stored in upper case', value: unchanged },
    refused: { does: 'no, 400', value: changeFields(['ifsc_code'], () => IfscCode) },
  },
})

export const pidAndTid = choice({
  name: 'pid_and_tid',
  section: '2.1',
  concerns: ['createUser', 'listUsers', 'getUser', 'submitKyc', 'webhooks'],
  question: "What are a user's `pid` and `tid`?",
  basis: 'observed',
  why: 'Code that waits for a `pid` hangs.',
  readings: {
    never: 'null',
    on_submission: 'the `kyc_id` of the latest Aadhaar and PAN record',
    on_success: 'the `kyc_id` of the latest successful one',
  },
})

export const sameBankAccount = choice({
  name: 'same_bank_account',
  section: '4.5',
  concerns: ['addBankAccount'],
  question: 'What happens when a user adds a verified account again?',
  basis: 'guess',
  why: 'The second call fails, or makes a duplicate.',
  readings: {
    conflict: '409 `bank_account_exists`',
    existing: '201 with the existing account; no event',
    new: 'another account with its own `bank_id`',
  },
})

type RefusedAccount = {
  /** The inner `status`, beside the inner `statusCode`. */
  status: 'success' | 'failure'
  /** Whether `accountName` has the name; else it is empty. */
  hasName: boolean
  /** The `bankResponse` of a step without one. */
  bankResponse: string
}

export const refusedBankAccount = assumption<RefusedAccount>({
  name: 'refused_bank_account',
  section: '2.3',
  concerns: ['addBankAccount'],
  question: 'How does POST /bank show a refused account?',
  basis: 'convention',
  why: 'Code that reads only `status` pays blocked accounts.',
  readings: {
    bank_txn_status_false: {
      does: '`bankTxnStatus` false, inner `status` success, with `accountName`',
      value: { status: 'success', hasName: true, bankResponse: 'Account is blocked' },
    },
    status_failure: {
      does: '`bankTxnStatus` false, inner `status` failure, empty `accountName`',
      value: {
        status: 'failure',
        hasName: false,
        bankResponse: 'Invalid account number or IFSC provided',
      },
    },
  },
})
