import { assumption } from './assumption.ts'

/** What POST /bank does with an account that the user has, and that is verified. */
type SameAccount = {
  /** Whether the response has that account. */
  isReturned: boolean
  /** Whether the user gets a further account with the same number. */
  isAddedAgain: boolean
}

/** What happens if a user adds the same bank account again. */
export const sameBankAccount = assumption<SameAccount>({
  name: 'same_bank_account',
  section: '4.5',
  concerns: ['addBankAccount'],
  question: 'What does POST /bank do if the user already has this account and it is verified?',
  basis: 'guessed',
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
