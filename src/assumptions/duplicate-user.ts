import { assumption } from './assumption.ts'

/** Whether POST /user refuses an e-mail or a mobile that another user of the client has. */
export const duplicateUser = assumption<{ isRefused: boolean }>({
  name: 'duplicate_user',
  section: '4.1',
  question: 'Can two users of a client have the same e-mail or mobile?',
  basis: 'guessed',
  why: 'Code that relies on the error would silently create the same person twice. If the service does refuse, the error is visible on the first repeated call.',
  default: 'allowed',
  readings: {
    allowed: { does: 'each POST /user creates a user', value: { isRefused: false } },
    conflict: {
      does: 'the response is 409 `user_exists`. The e-mail is compared in lower case, and a bare ten-digit mobile is equal to its +91 form',
      value: { isRefused: true },
    },
  },
})
