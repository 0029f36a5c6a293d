import { assumption } from './assumption.ts'

/** Whether POST /user refuses an e-mail or a mobile that another user of the client has. */
export const duplicateUser = assumption<{ isRefused: boolean }>({
  name: 'duplicate_user',
  section: '4.1',
  concerns: ['createUser'],
  question: 'Can two users of a client have the same e-mail or mobile?',
  basis: 'guessed',
  why: 'The same person twice is usually a mistake of the caller, and an error makes it visible. If the live service accepts it, the caller sees no error at all.',
  default: 'conflict',
  readings: {
    conflict: {
      does: 'no: the response is 409 `user_exists`. The e-mail is compared in lower case, and a bare ten-digit mobile is equal to its +91 form',
      value: { isRefused: true },
    },
    allowed: { does: 'yes: each POST /user creates a user', value: { isRefused: false } },
  },
})
