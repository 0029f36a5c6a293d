import { DURATION_FORM, parseDuration } from '../model/duration.ts'
import { assumption } from './assumption.ts'

/** How long an access token is valid, ms of the client's time. */
export const tokenLifetime = assumption<number>({
  name: 'token_lifetime',
  section: '5',
  concerns: ['all calls'],
  question: 'How long is an access token valid?',
  basis: 'guessed',
  why: 'The contract does not say how to get a new token, so a caller could do nothing about an expired one.',
  default: 'endless',
  readings: { endless: { does: 'it does not expire', value: Number.POSITIVE_INFINITY } },
  form: {
    notAbsorbable: 'the contract has no call that returns a new token',
    syntax: 'DURATION',
    range: `a duration is such as ${DURATION_FORM}, at most ten years`,
    does: `this long (${DURATION_FORM}) on the client’s clock, from the creation of the client or its last reset of data or clock; then calls with it are 401 \`unauthorized\`. A restored state continues with its own time, and the admin API accepts the token always`,
    example: '15m',
    pattern: /^(?:\d{1,9}(?:\.\d{1,3})?(?:ms|s|m|h|d)|P[0-9WDTHMS.]+)$/,
    parse: (reading) => parseDuration(reading) || undefined,
  },
})
