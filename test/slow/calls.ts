/**
 * Random calls of everything that the OpenAPI documents describe, valid as far as a schema and earlier responses can tell.
 * What a schema doesn't say is in `VALUES`.
 */
import { adminDocument } from '../../src/http/openapi-routes.ts'
import { serviceDocument } from '../../src/http/openapi-service.ts'
import { ADMIN_CALLS } from '../../src/routes/admin/admin-calls.ts'
import { OPERATIONS } from '../../src/routes/v1/operations.ts'
import { ASHA, KABIR, ROHAN, ROHANS_ACCOUNT } from '../helper.ts'

// biome-ignore lint/suspicious/noExplicitAny: documents and bodies are walked as the JSON they are.
export type Json = any
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'HEAD' | 'OPTIONS'
export type Operation = {
  id: string
  method: Method
  /** `/v1` or `/__admin`. */
  prefix: string
  path: string
  parameters: Json[]
  /** The schema of the body, and an example. */
  body: Json
  example: Json
  statuses: number[]
  components: Json
}

function operationsOf(document: object, prefix: string): Operation[] {
  const { paths, components }: Json = JSON.parse(JSON.stringify(document))
  return Object.entries<Json>(paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => {
      const { schema: body, example } = operation.requestBody?.content['application/json'] ?? {}
      return {
        id: operation.operationId,
        method: method.toUpperCase() as Method,
        prefix,
        path,
        parameters: operation.parameters ?? [],
        body,
        example,
        statuses: Object.keys(operation.responses).map(Number),
        components: components.schemas,
      }
    }),
  )
}
export const SERVICE = operationsOf(await serviceDocument(OPERATIONS), '/v1')
export const DESCRIBED = [...SERVICE, ...operationsOf(await adminDocument(ADMIN_CALLS), '/__admin')]

// Nothing is sent anywhere: nobody listens on port 1, and link-local addresses are refused.
const URLS = ['http://127.0.0.1:1/hook', 'http://169.254.0.9/hook', 'http://[::1]:1/']
export const SCENARIOS = [
  'default',
  'failed-payouts',
  'stuck-transactions',
  'kyc-review',
  'rate-limited',
]
export const RULES = [
  // Without its last letter it is no duration; 5m would be one.
  { when: { operation: 'getUser' }, times: 2, then: { delay: 'PT0.005S' } },
  { when: { operation: '*' }, chance: 0.3, times: 5, then: { respond: { status: 503 } } },
  {
    name: 'hangs',
    when: { operation: 'createTransaction', body: { amount: { gte: 100 } } },
    then: { transaction: [{ status: 'PENDING' }, { status: 'FAILED', after: '5s', reason: 'x' }] },
  },
  {
    when: { operation: 'submitKyc', item: { document_type: 'tid' } },
    key: 'body.user_id',
    times: 1,
    then: { kyc: [{ status: 'failed', message: 'no', result: { panStatus: 'Marked as Fake' } }] },
  },
  {
    when: { operation: 'addBankAccount', body: { ifsc_code: { matches: '^(HD|ZZ)+' } } },
    then: { bank: [{ status: 'pending' }, { status: 'success', after: 'PT10S' }] },
  },
  {
    when: { operation: { in: ['getTransaction', 'listUsers'] }, query: { page: { absent: true } } },
    skip: 1,
    sequence: [{ respond: { status: 500 } }, 'pass', { respond: { status: 429 } }],
    then_on: 'loop',
  },
]
// What is held back waits for the clock; only in process somebody moves it on.
export const DEFINITIONS = [
  { rules: RULES.slice(0, 3) },
  {
    title: 'All at once',
    extends: 'late-reversals',
    rules: RULES.slice(3),
    webhooks: [{ when: { event: 'transaction.*' }, times: 2, then: { copies: 2, delay: '3s' } }],
    timeline: [
      { after: '2m', do: { use: 'default' } },
      { after: '1s', do: { credit: { amount: '2500.00' } } },
    ],
    expect: { requests: { createTransaction: { at_least: 1 } } },
  },
]
export const MATCHES: readonly Json[] = [
  {},
  { operation: 'createTransaction', body: { amount: { gte: 1 } } },
  { method: 'POST', path: { starts_with: '/v1' }, status: { in: [200, 201] } },
  { headers: { 'x-test': { absent: true } }, query: { page: '1' } },
]
const FIXTURES = {
  users: [
    {
      user_id: '00000000-0000-4000-8000-0000000000f1',
      email: 'f1@example.com',
      mobile: '+919100000001',
      created_at: '2025-03-01T00:00:00.000Z',
    },
  ],
}
const PANS = ['XXXPX0008A', 'ABCPE1234F', 'XXXPX0001A', '']
const AADHAARS = ['999999990026', '123412341234', '999999990035', '999999990042']
const INSTANTS = ['2026-01-01T00:00:05Z', '2026-01-03T10:00:00.5+05:30', '2025-12-31T23:59:59.999Z']
const SPANS = ['1s', '5s', '2m', 'PT1H', '500ms', '1d']
const PAYABLE = { from_user_id: ASHA, to_user_id: ROHAN, benif_bank_id: ROHANS_ACCOUNT }

/** What a field of this name takes, or one of one operation, or the body of an operation: a function draws it. */
type Values = { [name: string]: readonly Json[] | ((below: (n: number) => number) => Json) }
const VALUES: Values = {
  url: URLS,
  probe: ['http://127.0.0.1:1/state/{transaction_id}', 'http://169.254.0.9/{transaction_id}'],
  webhook_secret: ['secret', 'whsec_c2FuZGJveC1leGFtcGxlLXNlY3JldA=='],
  email: ['a@example.com', 'B@example.com', 'c.d+e@example.org', 'f@example.com'],
  mobile: ['+919812345678', '9812345679', '+14155550100', '+919812345670'],
  amount: [1, 100, 1500.5, '99.91', '100.94', '100.96', '9999999999.99', 7.94],
  reference_id: (below) => `ref-${below(40)}`,
  dateOfBirth: ['01-02-1990', '29-02-2000'],
  Nationality: ['Indian', 'US'],
  account_number: (below) =>
    ['999900000006', '999900000101', `1234567${10_000 + below(9_000)}`][below(3)],
  ifsc_code: ['HDFC0000001', 'ZZZZ0ABC123'],
  by: SPANS,
  timeout_ms: [0, 1, 2],
  max_orders: [1, 3],
  client: ['default', 'second', 'w1', 'w2'],
  access_token: ['sbx_w1', 'token-1', 'token-2'],
  match: MATCHES,
  definition: DEFINITIONS,
  fixtures: ['default', 'empty', FIXTURES],
  override: [{ amount: '1.00' }, { history: { status: 'FAILED' } }],
  status: ['SUCCESS', 'FAILED', 'success', 'failed'],
  scenario: SCENARIOS,
  snapshot: ['one', 'two'],
  name: ['one', 'two'],
  'listRequests.status': ['200', '404'],
  'listRequests.method': ['GET', 'POST'],
  'listRequests.limit': ['1', '50'],
  'listRequests.path': ['/v1'],
  'readScenario.name': SCENARIOS,
  'createClient.name': ['w1', 'w2', 'w3', 'second'],
  'deleteClient.name': ['w1', 'w2', 'w3', 'second'],
  advanceClock: (below) => (below(6) ? { by: SPANS[below(6)] } : { to: INSTANTS[below(3)] }),
  pushRule: RULES,
  receiveWebhook: [{ id: 'evt_1', type: 'kyc.success' }],
  setScenario: (below) =>
    below(2) ? { name: SCENARIOS[below(SCENARIOS.length)] } : { definition: DEFINITIONS[below(2)] },
}

/** Which row the `id` of a path means. */
const OF_PATH: [RegExp, string][] = [
  [/timers/, 'timer_id'],
  [/rules/, 'rule_id'],
  [/deliveries/, 'delivery_id'],
  [/requests/, 'request_id'],
  [/simulate\/kyc/, 'kyc_id'],
  [/bank-accounts/, 'bank_id'],
  [/transaction/, 'transaction_id'],
  [/user/i, 'user_id'],
]
const SAME_AS: { [name: string]: string } = {
  from_user_id: 'user_id',
  to_user_id: 'user_id',
  benif_bank_id: 'bank_id',
  userId: 'user_id',
  resource_id: 'transaction_id',
}
/** Rows of the fixtures. */
const FIRST: { [name: string]: readonly string[] } = {
  user_id: [ASHA, ROHAN, KABIR],
  bank_id: [ROHANS_ACCOUNT, 'b0000000-0000-4000-8000-000000000010'],
  transaction_id: ['a0000000-0000-4000-8000-000000000046'],
  kyc_id: ['d0000000-0000-4000-8000-000000000006'],
}
const NOBODY = '12345678-1234-4123-8123-123456789abc'
const NEWEST = 12

/** Makes calls: the same ones for the same chance (numbers from 0 to 1) and the same responses. */
export function createCalls(chance: () => number, values: Values = {}) {
  const known = { ...VALUES, ...values }
  const below = (n: number) => Math.floor(chance() * n)
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!
  const maybe = (probability: number) => chance() < probability
  /** The newest ids that responses have shown, by the base path and the name of the field. */
  const shown = new Map<string, string[]>()
  let state: string | undefined

  function draw(name: string): Json {
    const from = known[name]
    return typeof from === 'function' ? from(below) : from && structuredClone(pick(from))
  }

  function idOf(field: string, base: string): string {
    const newest = shown.get(`${base} ${field}`) ?? []
    const first = FIRST[field] ?? []
    if (maybe(0.05)) return NOBODY
    if (newest.length === 0 || (first.length > 0 && maybe(0.25))) return pick(first) ?? NOBODY
    // The newer, the more often: an older one may be gone.
    return newest.at(-1 - below(1 + below(newest.length)))!
  }

  function textOf(schema: Json, name: string, path: string, base: string): string {
    if (schema.format === 'uuid' || name === 'id')
      return idOf(SAME_AS[name] ?? OF_PATH.find(([part]) => part.test(path))?.[1] ?? name, base)
    if (schema.format === 'date-time') return pick(INSTANTS)
    return pick(['text', 'Some text', 'x'])
  }

  function valueFor(schema: Json, name: string, operation: Operation, base: string): Json {
    const { id, path, components } = operation
    const inner = (one: Json, of = name) => valueFor(one, of, operation, base)
    if (schema.$ref) return inner(components[schema.$ref.split('/').at(-1)])
    const { enum: words, anyOf, type, items, properties = {} } = schema
    if (words) return pick(words)
    if ('const' in schema) return schema.const
    const drawn = draw(`${id}.${name}`) ?? draw(name)
    if (drawn !== undefined) return drawn
    if (anyOf) return inner(pick(anyOf))
    if (type === 'array')
      return Array.from({ length: 1 + below(2) }, () => inner(items, `${name}[]`))
    if (type === 'object') {
      const required = new Set(schema.required ?? [])
      const names = Object.keys(properties).filter((key) => required.has(key) || maybe(0.5))
      return Object.fromEntries(names.map((key) => [key, inner(properties[key], key)]))
    }
    if (type === 'boolean') return maybe(0.5)
    if (type === 'integer' || type === 'number') {
      const { minimum = 1, maximum = 100 } = schema
      return Math.min(minimum + below(10), maximum)
    }
    return textOf(schema, name, path, base)
  }

  function bodyOf(operation: Operation, base: string): Json {
    const { id, body } = operation
    if (id === 'putState') return state === undefined ? {} : JSON.parse(state)
    const drawn = draw(id)
    if (drawn !== undefined || !body) return drawn
    const made = valueFor(body, '', operation, base)
    if (id === 'createTransaction' && maybe(0.8)) Object.assign(made, PAYABLE)
    // A pair that fits.
    for (const item of made.kyc ?? []) {
      const isPan = item.document_type === 'tid'
      item.document_name = isPan ? 'pan' : 'aadhar'
      item.document_number = pick(isPan ? PANS : AADHAARS)
    }
    return made
  }

  return {
    chance: { below, pick, maybe },
    /** A call of an operation by a base path such as `/@second`: its path below the prefix, its query and its body. */
    make(operation: Operation, base: string) {
      const inPlace = (place: string) => operation.parameters.filter((one) => one.in === place)
      let path = operation.path
      for (const { name, schema } of inPlace('path'))
        path = path.replace(
          `{${name}}`,
          encodeURIComponent(valueFor(schema, name, operation, base)),
        )
      const query = inPlace('query')
        .filter(() => maybe(0.4))
        .map(({ name, schema }): [string, string] => [
          name,
          String(valueFor(schema, name, operation, base)),
        ])
      return { path, query, body: bodyOf(operation, base) }
    },
    /** Takes note of what a response shows. */
    hear(id: string | undefined, url: string, text: string) {
      if (id === 'getState') state = text
      const [base] = /^\/@[^/]*|^/.exec(url)!
      // Long lists and states would drown what the calls have made.
      if (text.length > 20_000) return
      for (const [, field, value] of text.matchAll(/"(\w+_id)":"([^"]{1,64})"/g)) {
        const list = (shown.get(`${base} ${field}`) ?? []).filter((id) => id !== value)
        list.push(value!)
        if (list.length > NEWEST) list.shift()
        shown.set(`${base} ${field}`, list)
      }
    },
  }
}

export const searchOf = (query: readonly [string, string][]) => {
  const text = query
    .map(
      ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`,
    )
    .join('&')
  return text && `?${text}`
}
