import { assumption } from './assumption.ts'

/** Whether a repeated POST with the same Idempotency-Key runs once. */
export const idempotencyKey = assumption<boolean>({
  name: 'idempotency_key',
  section: '4',
  concerns: ['createUser', 'createTransaction', 'submitKyc', 'addBankAccount', 'createWebhook'],
  question: 'Does a repeated POST with the same `Idempotency-Key` header run only once?',
  basis: 'guessed',
  why: 'The contract does not mention idempotency. Code that relies on a key could pay twice in production.',
  default: 'ignored',
  readings: {
    ignored: { does: 'the header has no effect: each POST runs', value: false },
    honoured: {
      does: 'the same route, key and body (compared as a JSON value) within 24 h of the client’s time returns the first response with `idempotency-replayed: true`; another body is 422. Only executed calls are stored; an error leaves the key free',
      value: true,
    },
  },
})
