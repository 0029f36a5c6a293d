import * as z from 'zod'
import { DURATION_FORM, parseDuration } from '../model/duration.ts'
import {
  assumption,
  changeFields,
  ignored,
  PAGED_LISTS,
  type SchemaChange,
  unchanged,
} from './assumption.ts'

/** The same schema, but an object with a field that the schema does not have is an error. */
function closed(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodArray) {
    const element = closed(schema.element as z.ZodType)
    return schema.clone({ ...schema.def, element })
  }
  if (!(schema instanceof z.ZodObject)) return schema
  const inner = Object.entries(schema.shape as Record<string, z.ZodType>)
    .map(([name, field]) => [name, closed(field)] as const)
    .filter(([name, field]) => field !== schema.shape[name])
  return schema.safeExtend(Object.fromEntries(inner)).strict()
}

export const unknownRequestFields = assumption<SchemaChange>({
  name: 'unknown_request_fields',
  section: '4',
  concerns: ['all calls'],
  question:
    'What does a field of a body, or a query parameter, that the contract does not have do?',
  basis: 'convention',
  why: 'Most services of this kind ignore such a field. A service that does not says so on the first call.',
  default: 'ignored',
  readings: {
    ignored: { does: 'it has no effect', value: unchanged },
    refused: {
      does: '400 `validation_failed`, with an error for each such field; a field that another reading ignores has no effect, as that reading says',
      value: (schema) => closed(schema) as z.ZodObject,
    },
  },
})

export const ownRequestFields = assumption<SchemaChange>({
  name: 'own_request_fields',
  section: '4.1, 4.2',
  concerns: ['createUser', 'createTransaction'],
  question:
    'Do `user_type` in POST /user, and `remark` and `currency_code` in POST /transaction, have an effect?',
  basis: 'contract',
  why: 'The contract shows these fields in responses, and not in requests. Code that relies on them loses them in the live service.',
  default: 'ignored',
  readings: {
    ignored: {
      does: 'they are neither validated nor stored: each user is individual, and each `remark` is empty',
      value: changeFields(['user_type', 'remark', 'currency_code'], ignored),
    },
    accepted: {
      does: 'they are validated and stored: `user_type` is individual (default) or business, `remark` has at most 50 characters, and `currency_code` is INR',
      value: unchanged,
    },
  },
})

type Query = Readonly<Record<string, unknown>>

/** Returns the same query if it has no empty value: nearly all have none. */
function withoutEmpty(query: Query): Query {
  for (const name in query) {
    if (query[name] === '')
      return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''))
  }
  return query
}

export const emptyQueryValue = assumption<(query: Query) => Query>({
  name: 'empty_query_value',
  section: '4.1, 4.2, 4.3',
  concerns: PAGED_LISTS,
  question: 'What does a query parameter with an empty value mean, such as `?page=`?',
  basis: 'convention',
  why: 'Most services read it as a missing one. A service that does not says so on the first call.',
  default: 'missing',
  readings: {
    missing: { does: 'the same as a request without this parameter', value: withoutEmpty },
    refused: { does: '400 `validation_failed`', value: (query) => query },
  },
})

export const trailingSlash = assumption<boolean>({
  name: 'trailing_slash',
  section: '4',
  concerns: ['all calls'],
  question: 'Does a path with a slash at its end exist, such as GET /users/?',
  basis: 'convention',
  why: 'Express, with which many such services are built, accepts it. A service that does not says so on the first call.',
  default: 'accepted',
  readings: {
    accepted: { does: 'it is the same path as the one without the slash', value: true },
    refused: { does: '404 `not_found`', value: false },
  },
})

export const idempotencyKey = assumption<boolean>({
  name: 'idempotency_key',
  section: '4',
  concerns: ['createUser', 'createTransaction', 'submitKyc', 'addBankAccount', 'createWebhook'],
  question: 'Does a repeated POST with the same `Idempotency-Key` header run only once?',
  basis: 'guess',
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

export const rateLimit = assumption<number>({
  name: 'rate_limit',
  section: '8',
  concerns: ['all calls'],
  question: 'How many calls may a client make?',
  basis: 'guess',
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

/** What calls of the service do with access tokens. */
export type TokenUse = {
  /** Whether a call requires a token, by whether the contract says so. */
  isRequired: (byContract: boolean) => boolean
  /** A token that is sent is checked, and names the client. */
  isRead: boolean
}

export const token = assumption<TokenUse>({
  name: 'token',
  section: '5',
  concerns: ['all calls'],
  question:
    'Which calls require an access token? (`--auth MODE` is the short form of `--assume token=MODE`.)',
  basis: 'contract',
  why: 'The contract requires it for the history and implies it for the profile. A missing token is a loud error on the first live call.',
  default: 'spec',
  readings: {
    spec: {
      does: 'the history and the profile; elsewhere it is optional, and an unknown token is 401',
      value: { isRequired: (byContract) => byContract, isRead: true },
    },
    strict: { does: 'all calls', value: { isRequired: () => true, isRead: true } },
    off: {
      notAbsorbable: 'code that uses the tokens of several clients finds the data of one',
      does: 'none: a token that is sent is ignored, so only the base path names the client',
      value: { isRequired: () => false, isRead: false },
    },
  },
})

/** How long an access token is valid, ms of the client's time. */
export const tokenLifetime = assumption<number>({
  name: 'token_lifetime',
  section: '5',
  concerns: ['all calls'],
  question: 'How long is an access token valid?',
  basis: 'guess',
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
