import { assumption } from './assumption.ts'

/** Whether the history of a user also has the payments of the other side. */
export const userHistory = assumption<{ hasOtherSide: boolean }>({
  name: 'user_history',
  section: '4.3',
  concerns: ['listUserTransactionHistory'],
  question: 'Which payments does the history of a user contain?',
  basis: 'guessed',
  why: 'A record has one `user_id`. Code that looks for received payments finds none, which is visible on the first call.',
  default: 'payer',
  readings: {
    payer: {
      does: 'the debits that the user pays and the credits that the user receives; `user_id` is that user',
      value: { hasOtherSide: false },
    },
    both_sides: {
      does: 'every payment of the user, as payer or receiver. `user_id` of a record is the user whose history is read; elsewhere it is as with `payer`',
      value: { hasOtherSide: true },
    },
  },
})
