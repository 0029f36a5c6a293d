/** Requests made of the OpenAPI documents, then spoilt in one place or a few. */
import fc from 'fast-check'
import {
  createCalls,
  DESCRIBED,
  type Json,
  type Method,
  SCENARIOS,
  SERVICE,
  searchOf,
} from '../calls.ts'

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

/** Values that no field expects. */
const HOSTILE: readonly Json[] = Object.values({
  anything: fc.sample(fc.jsonValue({ maxDepth: 2, stringUnit: 'binary' }), {
    seed: 1,
    numRuns: 60,
  }),
  constants: [null, true, ''],
  numbers: [0, -1, 1.5, 0.1 + 0.2, 1e308, 1e-7, 2 ** 53, -0],
  numerals: ['NaN', 'Infinity', '1e400', '0x10', '9'.repeat(40)],
  characters: [' ', '\u0000', '\ud800', '\u202e', '🦊', 'ＡＢＣ１２３', 'ı'.repeat(40)],
  lengths: ['a'.repeat(65), 'a'.repeat(300), 'x'.repeat(70_000)],
  names: ['__proto__', 'constructor', 'toString', 'hasOwnProperty'],
  paths: ['../../etc/passwd', '%00', '%2e%2e%2f'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what an injection would send.
  injections: ['a\r\nx: y', '<script>alert(1)</script>', '${7*7}', "' or 1=1 --"],
  durations: ['-1s', '1e9d', '10y', 'P1000Y', 'PT0.0000001S', '3650d'],
  past: ['1970-01-01T00:00:00Z', '0000-01-01T00:00:00Z', '2016-12-31T23:59:60Z'],
  future: ['9999-12-31T23:59:59.999Z', '+275760-09-13T00:00:00.000Z', '2026-02-29T00:00:00Z'],
  urls: ['ftp://127.0.0.1/', 'http://127.0.0.1:0/', 'http://user:pass@127.0.0.1:1/', 'http://'],
  templates: ['http://127.0.0.1:1/{transaction_id}/%00'],
  arrays: [[], [[[]]], [null]],
  objects: [{}, { length: 1e9 }, { then: 1 }, { toString: 1, valueOf: 2 }],
  prototypes: [{ constructor: { prototype: { polluted: 1 } } }],
  conditions: ['^(a+)+$', '(?=a)', { eq: { eq: 1 } }, { matches: '(a|a)*$' }, { in: [] }],
}).flat()
const QUERIES = DESCRIBED.flatMap(({ parameters }) => parameters)
  .filter(({ in: place }) => place === 'query')
  .map(({ name }): string => name)

const ODD_HEADERS: { [name: string]: readonly string[] } = {
  'content-type': [
    'text/plain',
    'application/json; charset=utf-16',
    'application/x-www-form-urlencoded',
    'application/json;',
    '',
    'application/JSON',
    'multipart/form-data',
  ],
  authorization: [
    'Bearer',
    'Bearer nobody',
    'bearer sbx_second_token',
    'Basic eDp5',
    '',
    'Bearer a b',
    `Bearer ${'x'.repeat(3_000)}`,
    'Bearer __proto__',
  ],
  'idempotency-key': ['k1', 'k2', '"k1"', '', '"', 'x'.repeat(256), '__proto__', ' '],
  'x-sandbox-scenario': [...SCENARIOS, 'nobody', '', '__proto__', '../default', 'inline'],
  origin: ['http://evil.example', 'null', 'http://127.0.0.1:4310', ''],
  'sec-fetch-site': ['cross-site', 'same-origin', 'none', 'x'],
  host: ['evil.example', '', '127.0.0.1:4310:1', '[::1]', 'LOCALHOST', 'a b', '[', 'x'.repeat(300)],
  accept: ['text/html', '*/*', ''],
  'x-http-method-override': ['DELETE'],
  'x-admin-token': ['guess'],
  cookie: ['a=b; __proto__=1'],
  'last-event-id': ['0', 'x', ''],
  'content-encoding': ['gzip'],
  'webhook-signature': ['v1,AAAA', '', 'v1'],
  'webhook-timestamp': ['0', 'NaN', '1e99', ''],
  'webhook-id': ['evt_1', ''],
}

/** Makes requests: the same ones for the same chance and the same answers. */
export function createRequests(random: () => number) {
  const calls = createCalls(random)
  const { below, pick, maybe } = calls.chance

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
    const inserted = pick(['\u0000', '\n', ' ', '\ud800', '%', '"', '\\', 'é', '９'])
    return pick([
      text.slice(0, at),
      `${text.slice(0, at)}${inserted}${text.slice(at)}`,
      text + text,
      text.toUpperCase(),
      text.split('').reverse().join(''),
      ` ${text} `,
    ])
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
    const inserted = pick(['}', ',', '"', '\\u', '//', '\u0000', 'NaN'])
    return pick<() => string | Buffer>([
      () => text.slice(0, at),
      () => `${text.slice(0, at)}${inserted}${text.slice(at)}`,
      () => text.replace('{', '{"__proto__":{"polluted":1},'),
      () => `${'['.repeat(20_000)}${text}${']'.repeat(20_000)}`,
      () => Buffer.from(`\ufeff${text}`, pick(['utf8', 'utf16le'] as const)),
      () => Buffer.from(text.replace(/[a-z]/, '\xff'), 'latin1'),
      // The last of a name that comes twice counts.
      () => text.replace(/"(\w+)":/, '"$1":null,"$1":'),
      () => (maybe(0.05) ? text + ' '.repeat(1_100_000) : `${text}${text}`),
      () => pick(['', 'null', '[]', '""', '1', 'true', '{', '{}']),
    ])()
  }

  function spoilPath(path: string): string {
    const at = 1 + below(path.length)
    const inserted = pick(['%00', '%', '%zz', '%2f', '%25', ';a=b', '.', '%c3%28'])
    const odd = encodeURIComponent(oddText().slice(0, 9_000).toWellFormed())
    return pick([
      `${path}/`,
      path.replace('/', '//'),
      path.toUpperCase(),
      `${path.slice(0, at)}${inserted}${path.slice(at)}`,
      path.slice(0, at),
      path.replace(/[^/]+$/, () => odd),
      `${path}/${pick(['..', '.', 'x', '%2e%2e'])}`,
      path.replace(/[0-9a-f]/, 'g'),
    ])
  }

  function spoilQuery(query: [string, string][]) {
    const names = [...QUERIES, '__proto__', 'x']
    const name = query[0]?.[0] ?? pick(names)
    const value = oddText().slice(0, 4_000)
    query.push([pick([name, name, `${name}[]`, pick(names)]), value])
  }

  const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS']

  return {
    chance: calls.chance,
    /** Takes note of what an answer tells. */
    hear: ({ id, url }: FuzzRequest, text: string) => calls.hear(id, url, text),
    /** The next request. */
    next(): FuzzRequest {
      // Of the service mostly, which has fewer operations.
      const described = pick(maybe(0.5) ? SERVICE : DESCRIBED)
      const client = pick(CLIENTS)
      let { path, query, body } = calls.make(described, client)
      const headers: FuzzRequest['headers'] = { host: '127.0.0.1:4310' }
      if (maybe(0.4)) headers['authorization'] = `Bearer ${TOKENS[client]}`
      if (described.method === 'POST' && maybe(0.1)) headers['idempotency-key'] = pick(['k1', 'k2'])
      let { method } = described
      let id: string | undefined = described.id
      let payload: FuzzRequest['payload']
      let base = client
      // A third goes as it is; what is spoilt is spoilt once mostly.
      const faults = maybe(0.33) ? 0 : maybe(0.8) ? 1 : 1 + below(4)
      let bytes = false
      for (let i = 0; i < faults; i++) {
        const kind = body === undefined ? 0.6 + 0.4 * random() : random()
        if (kind < 0.55) body = spoil(body)
        else if (kind < 0.6) bytes = true
        else if (kind < 0.7) {
          path = spoilPath(path)
          id = undefined
        } else if (kind < 0.84) spoilQuery(query)
        else if (kind < 0.94) {
          const [name, values] = pick(Object.entries(ODD_HEADERS))
          headers[name] = pick(values)
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
      const url = `${base}${described.prefix}${path}${searchOf(query)}`
      return { id, documented: described.statuses, method, url, headers, payload }
    },
  }
}

export type Requests = ReturnType<typeof createRequests>
