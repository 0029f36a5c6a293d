/** What HTTP libraries and typed clients send besides what a person would write. */
import t from 'tap'
import * as z from 'zod'
import { ADMIN_REQUESTS, SERVICE_REQUESTS } from '../../src/http/openapi-requests.ts'
import { ADMIN_CALLS } from '../../src/routes/admin/admin-calls.ts'
import { OPERATIONS } from '../../src/routes/v1/operations.ts'
import { Rule } from '../../src/scenarios/rule-schema.ts'
import { Scenario } from '../../src/scenarios/scenario-schema.ts'
import { CallMatch } from '../../src/scenarios/when-schema.ts'
import { ASHA, GUARDED, start } from '../helper.ts'

type Method = 'POST' | 'PUT'
type Sent = { method: Method; url: string; body: object }

const pathOf = (url: string, params: Readonly<Record<string, string>> = {}) =>
  url.replaceAll(/:(\w+)/g, (_, name: string) => params[name]!)

/** The fields that a body can lack. */
function optionalOf(schema: z.ZodType): string[] {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
  })
  return Object.keys(properties).filter((name) => !required.includes(name))
}

const ENDPOINTS = [
  ...OPERATIONS.map((op) => ({ ...op, root: '/v1', example: SERVICE_REQUESTS[op.id] })),
  ...ADMIN_CALLS.map((call) => ({ ...call, root: '/__admin', example: ADMIN_REQUESTS[call.id] })),
].filter(({ raw, method }) => !raw && (method === 'POST' || method === 'PUT'))

const calls = ENDPOINTS.flatMap(({ method, url, root, body, example }) =>
  body
    ? optionalOf(body).map((field): [Sent, string] => {
        const { [field]: _, ...rest } = (example?.body ?? {}) as Record<string, unknown>
        return [
          { method: method as Method, url: root + pathOf(url, example?.params), body: rest },
          field,
        ]
      })
    : [],
)

const POST = (url: string, body: object): Sent => ({ method: 'POST', url, body })
const RULE = { when: { operation: 'listUsers' }, then: { respond: { status: 503 } } }
const MATCH = { operation: 'createTransaction' }
/** Parts of bodies, which another reader checks; `at` puts the part into its body. */
const PARTS: [z.ZodType, object, (part: object) => Sent][] = [
  [Rule, RULE, (rule) => POST('/__admin/rules', rule)],
  [
    Scenario,
    { rules: [RULE] },
    (definition) => ({ method: 'PUT', url: '/__admin/scenario', body: { definition } }),
  ],
  [CallMatch, MATCH, (match) => POST('/__admin/requests/count', { match })],
]
const USER = { email: 'a@example.com', mobile: '9876500001' }
const NESTED: [object, object][] = [
  [{ from: { client: 'default' } }, { from: { client: 'default', snapshot: null } }],
  [{ fixtures: { users: [USER] } }, { fixtures: { users: [{ ...USER, created_at: null }] } }],
  [{ fixtures: { users: [USER] } }, { fixtures: { users: [USER], kyc: null } }],
]

t.test('null for an optional field is as if the field were left out', async (t) => {
  const pairs = [
    ...calls.map(([sent, field]) => [sent, { ...sent, body: { ...sent.body, [field]: null } }]),
    ...PARTS.flatMap(([schema, part, at]) =>
      optionalOf(schema).map((field) => {
        const { [field]: _, ...rest } = part as Record<string, unknown>
        return [at(rest), at({ ...rest, [field]: null })]
      }),
    ),
    ...NESTED.map((pair) => pair.map((more) => POST('/__admin/clients', { name: 'x', ...more }))),
  ] as [Sent, Sent][]
  t.ok(pairs.length > 50, `${pairs.length} optional fields`)
  for (const [left, withNull] of pairs) {
    const answers = []
    for (const { method, url, body } of [left, withNull]) {
      const { call, post } = await start(t, GUARDED)
      await post('/v1/clientWebhook', { url: 'http://127.0.0.1:9/', webhook_secret: 'secret' })
      const answer = await call(method, url, body)
      // Without random tokens and the times of the machine's clock.
      const told = answer.text.replaceAll(
        /sbx_client_\w+|2\d{3}-[\d:.T-]+Z|_ms":[\d.]+|"1\d{9}"/g,
        '',
      )
      answers.push([answer.status, told.replaceAll('; found null', '')])
    }
    t.strictSame(answers[1], answers[0], JSON.stringify(withNull))
  }
})

t.test('null for a required field is refused as null', async (t) => {
  const { call, post } = await start(t)
  for (const [body, field] of [
    [{ email: null, mobile: '9876500001', user_type: null }, 'email'],
    [{ email: 'a@example.com', mobile: null }, 'mobile'],
  ] as const) {
    const answer = await post('/v1/user', body)
    t.match(answer, { status: 400, body: { errors: [{ field, message: /; found null$/ }] } })
    t.equal(answer.body.errors.length, 1)
  }
  const entry = await post('/v1/kyc', { user_id: ASHA, kyc: [null] })
  t.match(entry, { status: 400, body: { errors: [{ field: 'kyc[0]' }] } })
  t.equal((await call('PUT', '/__admin/scenario', { name: null })).status, 400)
})

t.test('a condition that is null stays one', async (t) => {
  const { pay, post } = await start(t)
  await pay()
  await pay({ reference_id: 'x' })
  const body = { match: { body: { reference_id: null } }, limit: null }
  t.equal((await post('/__admin/requests/find', body)).status, 200)
})

t.test('a body of length 0 has no type', async (t) => {
  const box = await start(t)
  const { port } = await box.listen()
  const forms = 'application/x-www-form-urlencoded,text/plain,multipart/form-data'
  const types = [...forms.split(','), 'none', '', 'garbage;;']
  const empties = ENDPOINTS.filter(({ body }) => !body || body.safeParse(undefined).success)
  t.ok(empties.length > 8)
  for (const [i, type] of types.entries()) {
    for (const { method, url, root, example } of empties) {
      const path = root + pathOf(url, example?.params)
      const headers = { 'content-type': type, 'content-length': '0' }
      const { status } = await box.call(method as Method, path, undefined, headers)
      t.not(status, 415, `${path} ${type}`)
    }
    const service = await box.post('/v1/user', '', { 'content-type': type })
    if (i !== 3) t.match(service, { status: 400, body: { error: 'validation_failed' } }, type)
  }
  for (const chunks of [[], ['{}']]) {
    const response = await fetch(`http://127.0.0.1:${port}/__admin/reset`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: ReadableStream.from(chunks.map((one) => new TextEncoder().encode(one))),
      duplex: 'half',
    } as RequestInit)
    t.equal(response.status, chunks.length === 0 ? 200 : 415)
  }
})
