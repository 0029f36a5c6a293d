import { assumption } from './assumption.ts'

/** Whether POST /transaction pays to a bank account that is not verified. */
export const unverifiedAccount = assumption<boolean>({
  name: 'unverified_account',
  section: '4.2, 7',
  concerns: ['createTransaction'],
  question: 'What does POST /transaction do if the bank account is pending or failed its check?',
  basis: 'stated',
  why: 'Section 1 says that an account is verified when it is added, and a service has a reason to verify it. The contract shows no error for it, so also test with `accepted`: the caller must then check `bank_status` itself.',
  default: 'refused',
  readings: {
    refused: { does: 'the response is 422 `bank_not_verified`', value: false },
    accepted: { does: 'it pays, as to a verified account', value: true },
  },
})
