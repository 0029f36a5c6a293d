import * as z from 'zod'
import { DURATION_FORM, parseDuration } from '../model/duration.ts'
import {
  assumption,
  changeFields,
  choice,
  ignored,
  PAGED_LISTS,
  type SchemaChange,
  unchanged,
} from './assumption.ts'

/** The same schema, but an object with a field that the schema does not have is an error. */
function closed(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodArray) {
    return schema.clone({ ...schema.def, element: closed(schema.element as z.ZodType) })
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
  question: 'What do unknown fields and query parameters do?',
  basis: 'convention',
  why: 'The first call fails.',
  readings: {
    ignored: { does: 'nothing', value: unchanged },
    refused: {
      does: '400, unless another reading ignores them',
      value: (schema) => closed(schema) as z.ZodObject,
    },
  },
})

export const ownRequestFields = assumption<SchemaChange>({
  name: 'own_request_fields',
  section: '4.1, 4.2',
  concerns: ['createUser', 'createTransaction'],
  question: 'Do `user_type`, `remark` and `currency_code` in requests count?',
  basis: 'contract',
  why: 'Code that relies on them loses them.',
  readings: {
    ignored: {
      does: 'no: users are individual, `remark` is empty',
      value: changeFields(['user_type', 'remark', 'currency_code'], ignored),
    },
    accepted: {
      does: 'yes: individual or business, 50 characters, INR',
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
  question: 'What does an empty query parameter (`?page=`) mean?',
  basis: 'convention',
  why: 'The first call fails.',
  readings: {
    missing: { does: 'as if missing', value: withoutEmpty },
    refused: { does: '400', value: (query) => query },
  },
})

export const trailingSlash = choice({
  name: 'trailing_slash',
  section: '4',
  concerns: ['all calls'],
  question: 'Is GET /users/ the same as GET /users?',
  basis: 'convention',
  why: 'The first call fails.',
  readings: { accepted: 'yes', refused: 'no, 404' },
})

export const idempotencyKey = choice({
  name: 'idempotency_key',
  section: '4',
  concerns: ['createUser', 'createTransaction', 'submitKyc', 'addBankAccount', 'createWebhook'],
  question: 'Does a POST with the same `Idempotency-Key` run only once?',
  basis: 'guess',
  why: 'Code that relies on it pays twice.',
  readings: {
    ignored: 'no, the header has no effect',
    honoured: 'yes, a repeat within 24 h returns the first response',
  },
})

export const rateLimit = assumption<number>({
  name: 'rate_limit',
  section: '8',
  concerns: ['all calls'],
  question: 'How many calls may a client make?',
  basis: 'guess',
  why: 'Calls fail with 429.',
  readings: { none: { does: 'any number', value: Number.POSITIVE_INFINITY } },
  form: {
    notAbsorbable: 'on a frozen clock the limit never ends',
    syntax: 'N/minute',
    range: 'N is 1 to 999999',
    does: "N, refilled on the client's clock; then 429 `rate_limited` with `Retry-After`",
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
  question: 'Which calls need an access token?',
  basis: 'contract',
  why: 'The first call fails.',
  readings: {
    spec: {
      does: 'history and profile; elsewhere a wrong one is 401',
      value: { isRequired: (byContract) => byContract, isRead: true },
    },
    strict: { does: 'all', value: { isRequired: () => true, isRead: true } },
    off: {
      notAbsorbable: 'with tokens ignored, every client sees the same data',
      does: 'none; only the base path names the client',
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
  why: 'Calls fail with 401.',
  readings: { endless: { does: 'forever', value: Number.POSITIVE_INFINITY } },
  form: {
    notAbsorbable: 'the contract has no call for a new token',
    syntax: 'DURATION',
    range: `a duration is such as ${DURATION_FORM}, at most ten years`,
    does: "this long on the client's clock, since creation or a reset",
    example: '15m',
    pattern: /^(?:\d{1,9}(?:\.\d{1,3})?(?:ms|s|m|h|d)|P[0-9WDTHMS.]+)$/,
    parse: (reading) => parseDuration(reading) || undefined,
  },
})
