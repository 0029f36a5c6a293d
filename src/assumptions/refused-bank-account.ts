import { assumption } from './assumption.ts'

/** The metadata of a bank account that the bank refused. */
type RefusedAccount = {
  /** The inner `status`, beside the inner `statusCode`. */
  status: 'success' | 'failure'
  /** Whether `accountName` has the name; else it is empty. */
  hasName: boolean
  /** The `bankResponse` of a step without one. */
  bankResponse: string
}

/** What the metadata of POST /bank contains when the bank refuses the account. */
export const refusedBankAccount = assumption<RefusedAccount>({
  name: 'refused_bank_account',
  section: '2.3',
  concerns: ['addBankAccount'],
  question: 'How does the metadata of POST /bank show that the bank refused the account?',
  basis: 'custom',
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
