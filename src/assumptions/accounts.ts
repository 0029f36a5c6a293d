import { DigitsOnly, IfscCode } from '../model/bank-account.ts'
import { assumption, changeFields, type SchemaChange, unchanged } from './assumption.ts'

export const accountNumberFormat = assumption<SchemaChange>({
  name: 'account_number_format',
  section: '4.5',
  concerns: ['addBankAccount'],
  question: 'Which texts are an `account_number` in POST /bank?',
  basis: 'convention',
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

export const ifscCase = assumption<SchemaChange>({
  name: 'ifsc_case',
  section: '4.5',
  concerns: ['addBankAccount'],
  question: 'Can `ifsc_code` in POST /bank have lower-case letters?',
  basis: 'convention',
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

/** When `pid` and `tid` of a user have the id of a KYC record. */
export const pidAndTid = assumption<'never' | 'on_submission' | 'on_success'>({
  name: 'pid_and_tid',
  section: '2.1',
  concerns: ['createUser', 'listUsers', 'getUser', 'submitKyc', 'webhooks'],
  question: 'What are `pid` and `tid` of a user?',
  basis: 'observed',
  why: 'The contract shows both as null and does not say what they mean. Code that waits for a `pid` waits forever, which is loud.',
  default: 'never',
  readings: {
    never: { does: 'null', value: 'never' },
    on_submission: {
      does: 'the `kyc_id` of the latest Aadhaar or PAN record, whatever its status is',
      value: 'on_submission',
    },
    on_success: {
      does: 'the `kyc_id` of the latest Aadhaar or PAN record that succeeded',
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
  question: 'What does POST /bank do if the user already has this account and it is verified?',
  basis: 'guess',
  why: 'A second call shows up as an error on the first try. An account is found by its user, IFSC and number.',
  default: 'conflict',
  readings: {
    conflict: {
      does: 'the response is 409 `bank_account_exists`',
      value: { isReturned: false, isAddedAgain: false },
    },
    existing: {
      does: 'the response is 201 with the account that is there and the metadata of a successful check; nothing is stored and there is no event',
      value: { isReturned: true, isAddedAgain: false },
    },
    new: {
      does: 'the user gets a further account with its own `bank_id`',
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
  question: 'How does the metadata of POST /bank show that the bank refused the account?',
  basis: 'convention',
  why: 'In penny-drop APIs with these field names, such as that of HyperVerge, the check of a blocked account is itself a success. Code that reads only the inner `status` would pay to blocked accounts.',
  default: 'bank_txn_status_false',
  readings: {
    bank_txn_status_false: {
      does: 'the inner `status` is `success`, `accountName` has the name, and only `bankTxnStatus` (false) and `bankResponse` show the refusal. A scenario chooses `bankResponse`; else it is `Account is blocked`',
      value: { status: 'success', hasName: true, bankResponse: 'Account is blocked' },
    },
    status_failure: {
      does: 'the inner `status` is `failure`, `accountName` is empty, and `bankTxnStatus` is false. A scenario chooses `bankResponse`; else it is `Invalid account number or IFSC provided`',
      value: {
        status: 'failure',
        hasName: false,
        bankResponse: 'Invalid account number or IFSC provided',
      },
    },
  },
})
