// assumptions/: the points that the contract leaves open. Each is a constant with its readings and what speaks for its
// default; the readings in force decide what the rest of the service does. readings.ts lists them.

import { DigitsOnly, IfscCode } from '../model/bank-account.ts'
import { assumption, changeFields, type SchemaChange, unchanged } from './assumption.ts'

export const accountNumberFormat = assumption<SchemaChange>({
  name: 'account_number_format',
  section: '4.5',
  concerns: ['addBankAccount'],
  question: 'Which strings are an `account_number`?',
  basis: 'convention',
  why: 'Adding the account fails.',
  default: 'letters_and_digits',
  readings: {
    letters_and_digits: { does: '5 to 35 letters and digits', value: unchanged },
    digits: {
      does: '9 to 18 digits',
      value: changeFields(['account_number'], () => DigitsOnly),
    },
  },
})

export const ifscCase = assumption<SchemaChange>({
  name: 'ifsc_case',
  section: '4.5',
  concerns: ['addBankAccount'],
  question: 'Can `ifsc_code` be lower case?',
  basis: 'convention',
  why: 'Adding the account fails.',
  default: 'accepted',
  readings: {
    accepted: { does: 'yes; it is stored in upper case', value: unchanged },
    refused: {
      does: 'no, 400',
      value: changeFields(['ifsc_code'], () => IfscCode),
    },
  },
})

/** When `pid` and `tid` of a user have the id of a KYC record. */
export const pidAndTid = assumption<'never' | 'on_submission' | 'on_success'>({
  name: 'pid_and_tid',
  section: '2.1',
  concerns: ['createUser', 'listUsers', 'getUser', 'submitKyc', 'webhooks'],
  question: "What are a user's `pid` and `tid`?",
  basis: 'observed',
  why: 'Code that waits for a `pid` hangs.',
  default: 'never',
  readings: {
    never: { does: 'null', value: 'never' },
    on_submission: {
      does: 'the `kyc_id` of the latest Aadhaar and PAN record',
      value: 'on_submission',
    },
    on_success: {
      does: 'the `kyc_id` of the latest successful one',
      value: 'on_success',
    },
  },
})

/** What POST /bank does with an account that the user has, and that is verified. */
type SameAccount = {
  /** Whether the response has that account. */
  isReturned: boolean
  /** Whether the user gets a further account with the same number. */
  isAddedAgain: boolean
}

export const sameBankAccount = assumption<SameAccount>({
  name: 'same_bank_account',
  section: '4.5',
  concerns: ['addBankAccount'],
  question: 'What happens when a user adds a verified account again?',
  basis: 'guess',
  why: 'The second call fails, or makes a duplicate.',
  default: 'conflict',
  readings: {
    conflict: {
      does: '409 `bank_account_exists`',
      value: { isReturned: false, isAddedAgain: false },
    },
    existing: {
      does: '201 with the existing account; no event',
      value: { isReturned: true, isAddedAgain: false },
    },
    new: {
      does: 'another account with its own `bank_id`',
      value: { isReturned: false, isAddedAgain: true },
    },
  },
})

/** The metadata of a bank account that the bank refused. */
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
  question: 'How does the metadata of POST /bank show a refused account?',
  basis: 'convention',
  why: 'Code that reads only the inner `status` pays blocked accounts.',
  default: 'bank_txn_status_false',
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
