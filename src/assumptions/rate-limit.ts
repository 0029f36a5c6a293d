import { assumption } from './assumption.ts'

/** How many calls of the service a client may make in a minute of its time. */
export const rateLimit = assumption<number>({
  name: 'rate_limit',
  section: '8',
  concerns: ['all calls'],
  question: 'How many calls may a client make?',
  basis: 'guessed',
  why: 'The contract names no limit, and a number of ours would fit no service. A 429 is a loud error.',
  default: 'none',
  readings: { none: { does: 'any number', value: Number.POSITIVE_INFINITY } },
  form: {
    notAbsorbable: 'on a frozen clock the limit never ends, whatever the caller does',
    syntax: 'N/minute',
    range: 'N is 1 to 999999',
    does: 'a bucket of N calls of `/v1` (known paths with a valid token) that fills at this rate on the client’s clock; an empty one is 429 `rate_limited` with `Retry-After` in seconds of the client’s time. Restart, restore and a reset of data or clock fill it',
    example: '1/minute',
    pattern: /^\d{1,6}\/minute$/,
    parse: (reading) => Number.parseInt(reading, 10) || undefined,
  },
})
