/**
 * Requests made of the OpenAPI documents: valid ones of what the documents and earlier answers tell, then spoilt in one
 * place or a few.
 */

import { adminDocument } from '../../../src/http/openapi-admin.ts'
import { serviceDocument } from '../../../src/http/openapi-service.ts'
import { ADMIN_CALLS } from '../../../src/routes/admin/admin-calls.ts'
import { OPERATIONS } from '../../../src/routes/v1/operations.ts'

// biome-ignore lint/suspicious/noExplicitAny: documents and bodies are walked as the JSON they are.
type Json = any
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'HEAD' | 'OPTIONS'
export type FuzzRequest = {
  /** The operation, where method and path are still its own. */
  id: string | undefined
  /** The statuses that the document has for it. */
  documented: readonly number[]
  method: Method
  url: string
  headers: { [name: string]: string }
  payload: string | Buffer | undefined
}

type Described = {
  id: string
  method: Method
  prefix: string
  path: string
  parameters: Json[]
  body: Json
  statuses: number[]
  components: Json
}

const jsonOf = (value: object): Json => JSON.parse(JSON.stringify(value))

function describe(document: Json, prefix: string): Described[] {
  return Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase() as Method,
      prefix,
      path,
      parameters: operation.parameters ?? [],
      body: operation.requestBody?.content['application/json']?.schema,
      statuses: Object.keys(operation.responses).map(Number),
      components: document.components.schemas,
    })),
  )
}
const SERVICE = describe(jsonOf(await serviceDocument(OPERATIONS)), '/v1')
const DESCRIBED = [...SERVICE, ...describe(jsonOf(await adminDocument(ADMIN_CALLS)), '/__admin')]

// ---- values

// Nothing is sent anywhere: nobody listens on port 1, and link-local addresses are refused.
const URLS = ['http://127.0.0.1:1/hook', 'http://169.254.0.9/hook', 'http://[::1]:1/']
const SCENARIOS = ['default', 'failed-payouts', 'stuck-transactions', 'kyc-review', 'rate-limited']
const RULES = [
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
const DEFINITIONS = [
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
const MATCHES = [
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
const INSTANTS = ['2026-01-01T00:00:05Z', '2026-01-03T10:00:00.5+05:30', '2025-12-31T23:59:59.999Z']

/** What a field of this name takes, where its schema does not say enough. */
const OF_NAME: { [name: string]: Json[] } = {
  url: URLS,
  probe: ['http://127.0.0.1:1/state/{transaction_id}', 'http://169.254.0.9/{transaction_id}'],
  webhook_secret: ['secret', 'whsec_c2FuZGJveC1leGFtcGxlLXNlY3JldA=='],
  email: ['a@example.com', 'B@example.com', 'c.d+e@example.org', 'f@example.com'],
  mobile: ['+919812345678', '9812345679', '+14155550100', '+919812345670'],
  amount: [1, 100, 1500.5, '99.91', '100.96', '9999999999.99', 7.94],
  reference_id: ['ref-1', 'ref-2', 'ref-3'],
  document_number: ['XXXPX0008A', 'ABCPE1234F', '999999990026', '123412341234', ''],
  dateOfBirth: ['01-02-1990', '29-02-2000'],
  Nationality: ['Indian', 'US'],
  account_number: ['999900000006', '123456789012', '999900000101', '999900000001'],
  ifsc_code: ['HDFC0000001', 'ZZZZ0ABC123'],
  by: ['1s', '5s', '2m', 'PT1H', '500ms', '1d'],
  timeout_ms: [0, 1, 2],
  max_orders: [1, 3],
  client: ['default', 'second', 'w1', 'w2'],
  access_token: ['sbx_w1', 'token-1', 'token-2'],
  match: MATCHES,
  definition: DEFINITIONS,
  fixtures: ['default', 'empty', FIXTURES],
  override: [{ amount: '1.00' }, { history: { status: 'FAILED' } }],
  status: ['SUCCESS', 'FAILED', 'success', 'failed'],
}
const CLIENT_NAMES = ['w1', 'w2', 'w3', 'second']
const SNAPSHOT_NAMES = ['one', 'two']

/** Values that no field expects. */
const HOSTILE: readonly Json[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  0.1 + 0.2,
  1e308,
  1e-7,
  2 ** 53,
  -0,
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u202e',
  '🦊',
  'ＡＢＣ１２３',
  'ı'.repeat(40),
  'a'.repeat(65),
  'a'.repeat(300),
  '9'.repeat(40),
  'x'.repeat(70_000),
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '../../etc/passwd',
  '%00',
  '%2e%2e%2f',
  'a\r\nx: y',
  '<script>alert(1)</script>',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what an injection would send.
  '${7*7}',
  "' or 1=1 --",
  '^(a+)+$',
  '(?=a)',
  'NaN',
  'Infinity',
  '1e400',
  '0x10',
  '-1s',
  '1e9d',
  '10y',
  'P1000Y',
  'PT0.0000001S',
  '3650d',
  '1970-01-01T00:00:00Z',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '+275760-09-13T00:00:00.000Z',
  '2026-02-29T00:00:00Z',
  '2016-12-31T23:59:60Z',
  'ftp://127.0.0.1/',
  'http://127.0.0.1:0/',
  'http://user:pass@127.0.0.1:1/',
  'http://127.0.0.1:1/{transaction_id}/%00',
  'http://',
  [],
  {},
  [[[]]],
  [null],
  { length: 1e9 },
  { then: 1 },
  { toString: 1, valueOf: 2 },
  { constructor: { prototype: { polluted: 1 } } },
  { eq: { eq: 1 } },
  { matches: '(a|a)*$' },
  { in: [] },
]

export type Chance = () => number

/** Makes requests: the same ones for the same chance and the same answers. */
export function createRequests(chance: Chance) {
  const below = (n: number) => Math.floor(chance() * n)
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!
  const maybe = (probability: number) => chance() < probability
  /** Ids that responses have shown, by the client and the name of the field. */
  const actual = new Map<string, string[]>()
  let client = ''
  let state: string | undefined

  // ---- valid

  const FOR_ID: [RegExp, string][] = [
    [/timers/, 'timer_id'],
    [/rules/, 'rule_id'],
    [/deliveries/, 'delivery_id'],
    [/requests/, 'request_id'],
    [/simulate\/kyc/, 'kyc_id'],
    [/bank-accounts/, 'bank_id'],
    [/transaction/, 'transaction_id'],
    [/user/i, 'user_id'],
  ]
  const NOBODY = '12345678-1234-4123-8123-123456789abc'
  const known = (field: string) => pick(actual.get(`${client} ${field}`) ?? [NOBODY])

  function nameFor(path: string): string {
    if (path.includes('clients')) return pick(CLIENT_NAMES)
    return pick(path.includes('scenario') ? SCENARIOS : SNAPSHOT_NAMES)
  }

  const ID_FIELDS: { [name: string]: string } = {
    from_user_id: 'user_id',
    to_user_id: 'user_id',
    benif_bank_id: 'bank_id',
    userId: 'user_id',
    resource_id: 'transaction_id',
  }

  function textOf(schema: Json, name: string, path: string): string {
    if (schema.format === 'uuid' || name === 'id')
      return known(ID_FIELDS[name] ?? FOR_ID.find(([part]) => part.test(path))?.[1] ?? name)
    if (schema.format === 'date-time') return pick(INSTANTS)
    if (name === 'name') return nameFor(path)
    if (name === 'scenario') return pick(SCENARIOS)
    if (name === 'snapshot') return pick(SNAPSHOT_NAMES)
    return pick(['text', 'Some text', 'x'])
  }

  function valueFor(schema: Json, name: string, { path, components }: Described): Json {
    const at = { path, components } as Described
    if (schema.$ref) return valueFor(components[schema.$ref.split('/').at(-1)], name, at)
    const { enum: words, anyOf, type, items, properties = {} } = schema
    if (words) return pick(words)
    if ('const' in schema) return schema.const
    if (OF_NAME[name]) return structuredClone(pick(OF_NAME[name]))
    if (anyOf) return valueFor(pick(anyOf), name, at)
    if (type === 'array')
      return Array.from({ length: 1 + below(2) }, () => valueFor(items, `${name}[]`, at))
    if (type === 'object') {
      const required = new Set(schema.required ?? [])
      const names = Object.keys(properties).filter((key) => required.has(key) || maybe(0.5))
      return Object.fromEntries(names.map((key) => [key, valueFor(properties[key], key, at)]))
    }
    if (type === 'boolean') return maybe(0.5)
    if (type === 'integer' || type === 'number') {
      const { minimum = 1, maximum = 100 } = schema
      return Math.min(minimum + below(10), maximum)
    }
    return textOf(schema, name, path)
  }

  function bodyOf(described: Described): Json {
    const { id, body } = described
    if (id === 'pushRule') return structuredClone(pick(RULES))
    if (id === 'putState') return state === undefined ? {} : JSON.parse(state)
    if (id === 'setScenario')
      return maybe(0.5)
        ? { name: pick(SCENARIOS) }
        : { definition: structuredClone(pick(DEFINITIONS)) }
    const made = valueFor(body, '', described)
    // A pair that fits.
    for (const item of made.kyc ?? [])
      item.document_name = item.document_type === 'tid' ? 'pan' : 'aadhar'
    return made
  }

  function pathOf(described: Described): string {
    let path = described.path
    for (const { name, in: place, schema } of described.parameters) {
      if (place !== 'path') continue
      path = path.replace(`{${name}}`, encodeURIComponent(valueFor(schema, name, described)))
    }
    return path
  }

  function queryOf(described: Described): [string, string][] {
    return described.parameters
      .filter((parameter) => parameter.in === 'query' && maybe(0.4))
      .map(({ name, schema }) => [name, String(valueFor(schema, name, described))])
  }

  const CLIENTS = ['', '', '', '/@second', '/@w1', '/@w2']
  const TOKENS: { [client: string]: string } = {
    '': 'sbx_test_token',
    '/@second': 'sbx_second_token',
    '/@w1': 'sbx_w1',
    '/@w2': 'sbx_w2',
  }

  // ---- spoilt

  function oddText(): string {
    const value = pick(HOSTILE)
    return typeof value === 'object' ? JSON.stringify(value) : String(value)
  }

  /** Every place of a JSON value, deepest last. */
  function places(value: Json, found: [Json, string][] = []): [Json, string][] {
    if (typeof value !== 'object' || value === null) return found
    for (const key of Object.keys(value)) {
      found.push([value, key])
      if (found.length < 5_000) places(value[key], found)
    }
    return found
  }

  function spoilText(text: string): string {
    const at = below(text.length + 1)
    switch (below(6)) {
      case 0:
        return text.slice(0, at)
      case 1:
        return `${text.slice(0, at)}${pick(['\u0000', '\n', ' ', '\ud800', '%', '"', '\\', 'é', '９'])}${text.slice(at)}`
      case 2:
        return text + text
      case 3:
        return text.toUpperCase()
      case 4:
        return text.split('').reverse().join('')
      default:
        return ` ${text} `
    }
  }

  function spoilNumber(value: number): Json {
    return pick([-value, value + 0.001, value * 1e10, String(value), value / 3, 1e21])
  }

  /** Spoils a value in one place, in place; a new value where it is itself replaced. */
  function spoil(value: Json): Json {
    const all = places(value)
    if (all.length === 0 || maybe(0.03)) return structuredClone(pick(HOSTILE))
    const [holder, key] = pick(all)
    const old = holder[key]
    switch (below(8)) {
      case 0:
        if (Array.isArray(holder)) holder.splice(Number(key), 1)
        else delete holder[key]
        break
      case 1:
        holder[key] = structuredClone(pick(pick(all)))
        break
      case 2:
        if (Array.isArray(holder)) holder.push(structuredClone(old))
        else holder[pick(['extra', 'toString', 'constructor', '__proto__x', ''])] = old
        break
      case 3:
        holder[key] = pick([[old], { [key]: old }, Array(200).fill(old)])
        break
      case 4:
        if (typeof old === 'string') holder[key] = spoilText(old)
        else if (typeof old === 'number') holder[key] = spoilNumber(old)
        else holder[key] = structuredClone(pick(HOSTILE))
        break
      default:
        holder[key] = structuredClone(pick(HOSTILE))
    }
    return value
  }

  /** Bytes that are no JSON any more, or JSON of another kind. */
  function spoilBytes(text: string): string | Buffer {
    const at = below(text.length + 1)
    switch (below(9)) {
      case 0:
        return text.slice(0, at)
      case 1:
        return `${text.slice(0, at)}${pick(['}', ',', '"', '\\u', '//', '\u0000', 'NaN'])}${text.slice(at)}`
      case 2:
        return text.replace('{', '{"__proto__":{"polluted":1},')
      case 3:
        return `${'['.repeat(20_000)}${text}${']'.repeat(20_000)}`
      case 4:
        return Buffer.from(`\ufeff${text}`, pick(['utf8', 'utf16le'] as const))
      case 5:
        return Buffer.from(text.replace(/[a-z]/, '\xff'), 'latin1')
      case 6:
        // The last of a name that comes twice counts.
        return text.replace(/"(\w+)":/, '"$1":null,"$1":')
      case 7:
        return maybe(0.05) ? text + ' '.repeat(1_100_000) : `${text}${text}`
      default:
        return pick(['', 'null', '[]', '""', '1', 'true', '{', '{}'])
    }
  }

  function spoilPath(path: string): string {
    const at = 1 + below(path.length)
    switch (below(8)) {
      case 0:
        return `${path}/`
      case 1:
        return path.replace('/', '//')
      case 2:
        return path.toUpperCase()
      case 3:
        return `${path.slice(0, at)}${pick(['%00', '%', '%zz', '%2f', '%25', ';a=b', '.', '%c3%28'])}${path.slice(at)}`
      case 4:
        return path.slice(0, at)
      case 5:
        return path.replace(/[^/]+$/, () =>
          encodeURIComponent(oddText().slice(0, 9_000).toWellFormed()),
        )
      case 6:
        return `${path}/${pick(['..', '.', 'x', '%2e%2e'])}`
      default:
        return path.replace(/[0-9a-f]/, 'g')
    }
  }

  function spoilQuery(query: [string, string][]) {
    const names = [
      'page',
      'limit',
      'type',
      'status',
      'operation',
      'path',
      'event',
      '__proto__',
      'x',
    ]
    const name = query[0]?.[0] ?? pick(names)
    const value = oddText().slice(0, 4_000)
    query.push([pick([name, name, `${name}[]`, pick(names)]), value])
  }

  const ODD_HEADERS: [string, () => string][] = [
    [
      'content-type',
      () =>
        pick([
          'text/plain',
          'application/json; charset=utf-16',
          'application/x-www-form-urlencoded',
          'application/json;',
          '',
          'application/JSON',
          'multipart/form-data',
        ]),
    ],
    [
      'authorization',
      () =>
        pick([
          'Bearer',
          'Bearer nobody',
          'bearer sbx_second_token',
          'Basic eDp5',
          '',
          'Bearer a b',
          `Bearer ${'x'.repeat(3_000)}`,
          'Bearer __proto__',
        ]),
    ],
    [
      'idempotency-key',
      () => pick(['k1', 'k2', '"k1"', '', '"', 'x'.repeat(256), '__proto__', ' ']),
    ],
    [
      'x-sandbox-scenario',
      () => pick([...SCENARIOS, 'nobody', '', '__proto__', '../default', 'inline']),
    ],
    ['origin', () => pick(['http://evil.example', 'null', 'http://127.0.0.1:4310', ''])],
    ['sec-fetch-site', () => pick(['cross-site', 'same-origin', 'none', 'x'])],
    [
      'host',
      () =>
        pick([
          'evil.example',
          '',
          '127.0.0.1:4310:1',
          '[::1]',
          'LOCALHOST',
          'a b',
          '[',
          'x'.repeat(300),
        ]),
    ],
    ['accept', () => pick(['text/html', '*/*', ''])],
    ['x-http-method-override', () => 'DELETE'],
    ['x-admin-token', () => 'guess'],
    ['cookie', () => 'a=b; __proto__=1'],
    ['last-event-id', () => pick(['0', 'x', ''])],
    ['content-encoding', () => 'gzip'],
    ['webhook-signature', () => pick(['v1,AAAA', '', 'v1'])],
    ['webhook-timestamp', () => pick(['0', 'NaN', '1e99', ''])],
    ['webhook-id', () => pick(['evt_1', ''])],
  ]
  const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS']

  return {
    chance: { below, pick, maybe },
    /** Takes note of what an answer tells. */
    hear({ id, url }: FuzzRequest, text: string) {
      if (id === 'getState') state = text
      const whose = /^\/@[^/]*|^/.exec(url)![0]
      if (text.length > 20_000) return
      for (const [, field, value] of text.matchAll(/"(\w+_id)":"([^"]{1,64})"/g)) {
        const list = actual.get(`${whose} ${field}`) ?? []
        list.push(value!)
        if (list.length > 12) list.shift()
        actual.set(`${whose} ${field}`, list)
      }
    },
    /** The next request. */
    next(): FuzzRequest {
      // Of the service mostly, which has fewer operations.
      const described = pick(maybe(0.5) ? SERVICE : DESCRIBED)
      client = pick(CLIENTS)
      const query = queryOf(described)
      const headers: FuzzRequest['headers'] = { host: '127.0.0.1:4310' }
      if (maybe(0.4)) headers['authorization'] = `Bearer ${TOKENS[client]}`
      if (described.method === 'POST' && maybe(0.1)) headers['idempotency-key'] = pick(['k1', 'k2'])
      let path = pathOf(described)
      let body: Json = described.body && bodyOf(described)
      let { method } = described
      let id: string | undefined = described.id
      let payload: FuzzRequest['payload']
      let base = client
      // A third goes as it is; what is spoilt is spoilt once mostly.
      const faults = maybe(0.33) ? 0 : maybe(0.8) ? 1 : 1 + below(4)
      let bytes = false
      for (let i = 0; i < faults; i++) {
        const kind = body === undefined ? 0.6 + 0.4 * chance() : chance()
        if (kind < 0.55) body = spoil(body)
        else if (kind < 0.6) bytes = true
        else if (kind < 0.7) {
          path = spoilPath(path)
          id = undefined
        } else if (kind < 0.84) spoilQuery(query)
        else if (kind < 0.94) {
          const [name, value] = pick(ODD_HEADERS)
          headers[name] = value()
        } else if (kind < 0.97) {
          method = pick(METHODS)
          id = undefined
        } else {
          base = pick([
            '/@nobody-yet',
            '/@',
            '/@UP',
            '/@a%20b',
            '/@__proto__',
            '/@-x',
            `/@${'x'.repeat(64)}`,
          ])
          id = undefined
        }
      }
      if (described.id === 'receiveWebhook') payload = JSON.stringify({ id: 'evt_1' })
      // Whoever waits does so for real.
      if (described.id === 'wait' && typeof body === 'object' && body !== null) {
        const { timeout_ms: timeoutMs = 10_000 } = body
        if (typeof timeoutMs === 'number' && timeoutMs > 2 && timeoutMs <= 60_000)
          body.timeout_ms = 1
      }
      if (body !== undefined) {
        const text = JSON.stringify(body)
        // An address is not spoilt blindly: it must not become one that leads anywhere.
        payload = bytes && !text.includes('://') ? spoilBytes(text) : text
        headers['content-type'] ??= 'application/json'
      }
      const search = query
        .map(
          ([name, value]) =>
            `${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`,
        )
        .join('&')
      const url = `${base}${described.prefix}${path}${search && `?${search}`}`
      return { id, documented: described.statuses, method, url, headers, payload }
    },
  }
}

export type Requests = ReturnType<typeof createRequests>
