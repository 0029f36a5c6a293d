import { createRequire } from 'node:module'
import t from 'tap'
import { OPERATIONS } from '../../src/app.ts'
import { serviceDocument } from '../../src/http/openapi-service.ts'
import { ERRORS } from '../../src/model/errors.ts'
import { ASHA, ROHAN, ROHANS_ACCOUNT, start, TOKEN } from '../helper.ts'

// A validator that knows nothing of zod: the one that Fastify brings.
const ofFastify = createRequire(createRequire(import.meta.url).resolve('@fastify/ajv-compiler'))
const { default: Ajv } = ofFastify('ajv/dist/2020')
const { default: addFormats } = ofFastify('ajv-formats')

// biome-ignore lint/suspicious/noExplicitAny: a document is walked as the JSON it is.
type Json = any
const document: Json = JSON.parse(JSON.stringify(serviceDocument(OPERATIONS)))

/** Every operation with its place in the document. */
const operations = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
  Object.entries<Json>(methods).map(([method, operation]) => ({ path, method, operation })),
)

/** Every object of the document, with its path. */
function* nodes(value: Json, at = '#'): Generator<[at: string, node: Json]> {
  if (typeof value !== 'object' || value === null) return
  yield [at, value]
  for (const [key, part] of Object.entries(value)) yield* nodes(part, `${at}/${key}`)
}

const ajv = addFormats(new Ajv({ strict: false, allErrors: true }))
ajv.addSchema(document, 'document')
/** What a schema at a JSON pointer of the document finds wrong with a value. */
function findings(pointer: string, value: unknown): string {
  const validate = ajv.getSchema(`document${pointer}`)
  if (!validate) throw new Error(`no schema at ${pointer}`)
  return validate(value) ? '' : ajv.errorsText(validate.errors)
}

t.test('the sixteen operations have their ids, each once', async (t) => {
  const ids = operations.map(({ operation }) => operation.operationId)
  t.strictSame(ids.sort(), [
    'addBankAccount',
    'createTransaction',
    'createUser',
    'createWebhook',
    'getClientProfile',
    'getKyc',
    'getTransaction',
    'getUser',
    'getWebhook',
    'listBankAccounts',
    'listTransactionHistory',
    'listTransactions',
    'listUserTransactionHistory',
    'listUsers',
    'submitKyc',
    'updateWebhook',
  ])
  t.equal(document.openapi, '3.1.0')
})

t.test('every reference has a target, and every component is referenced', async (t) => {
  const used = new Set<string>()
  for (const [at, { $ref }] of nodes(document)) {
    if (typeof $ref !== 'string') continue
    used.add($ref)
    const target = $ref
      .slice(2)
      .split('/')
      .reduce((node: Json, key) => node?.[key], document)
    t.equal(typeof target, 'object', `${at}: ${$ref}`)
  }
  for (const name of Object.keys(document.components.schemas))
    t.ok(used.has(`#/components/schemas/${name}`), `${name} is used`)
})

t.test('each example matches its schema', async (t) => {
  let count = 0
  for (const [at, node] of nodes(document)) {
    if (!Array.isArray(node.examples)) continue
    for (const example of node.examples) {
      count++
      t.equal(findings(at, example), '', at)
    }
  }
  t.ok(count >= 8, `${count} examples`)
  for (const { method, operation } of operations) {
    const content = operation.requestBody?.content['application/json']
    t.equal(content !== undefined, method === 'post' || method === 'put', operation.operationId)
    if (content) t.equal(findings(content.schema.$ref, content.example), '', operation.operationId)
  }
})

t.test('each resource has an example', async (t) => {
  const { schemas } = document.components
  const names = ['User', 'KycRecord', 'BankAccount', 'Transaction', 'HistoryRecord']
  for (const name of [...names, 'ClientProfile', 'Webhook'])
    t.equal(schemas[name].examples.length, 1, name)
})

t.test('headers, clamps, other methods and the format of a date are described', async (t) => {
  for (const { method, operation } of operations) {
    const id = operation.operationId
    const { responses, parameters } = operation
    t.ok(responses[401].headers['WWW-Authenticate'], id)
    t.ok(responses[503].headers['Retry-After'], id)
    for (const status of ['200', '201', '400', '404', '409', '422']) {
      const isDescribed = responses[status]?.headers?.['Idempotency-Replayed'] !== undefined
      t.equal(isDescribed, method === 'post' && status in responses, `${id} ${status}`)
    }
    for (const { name, schema } of parameters.filter((one: Json) => one.name === 'limit')) {
      t.equal(schema.maximum, undefined, `${id} ${name}`)
      t.match(schema.description, /100/)
    }
  }
  t.match(document.info.description, /405/)
  t.match(document.info.description, /409 `client_limit_reached`/)
  const { kyc } = document.paths['/kyc'].post.requestBody.content['application/json'].example
  const item = { ...kyc[0], dateOfBirth: '1990-08-15' }
  t.not(findings('#/components/schemas/KycItem', item), '', 'another order of the date')
})

t.test('every operation has its errors and its security', async (t) => {
  for (const { path, method, operation } of operations) {
    const id = operation.operationId
    const op = OPERATIONS.find((one) => one.id === id)!
    const statuses = Object.keys(operation.responses)
    for (const status of ['400', '401', '403', '404', '408', '431', '503']) {
      t.ok(statuses.includes(status), `${id} ${status}`)
    }
    const hasBody = operation.requestBody !== undefined
    for (const status of ['413', '415'])
      t.equal(statuses.includes(status), hasBody, `${id} ${status}`)
    for (const word of op.errors) {
      const response = operation.responses[ERRORS[word][0]]
      t.match(response.description, `\`${word}\``, `${id} ${word}`)
    }
    if (method === 'post') {
      t.match(operation.responses['409'].description, /idempotency_in_flight/)
      t.match(operation.responses['422'].description, /idempotency_mismatch/)
    }
    const headers = operation.parameters.filter((one: Json) => one.in === 'header')
    t.equal(headers.length, method === 'post' ? 1 : 0, `${id}: Idempotency-Key`)
    for (const [status, { content }] of Object.entries<Json>(operation.responses)) {
      const { $ref } = content['application/json'].schema
      t.equal($ref === '#/components/schemas/Error', Number(status) >= 400, `${id} ${status}`)
    }
    const wanted = path.startsWith('/transaction/history') || path === '/client/profile'
    t.strictSame(
      operation.security,
      wanted ? [{ accessToken: [] }] : [{ accessToken: [] }, {}],
      `${id}: security`,
    )
    t.strictSame(
      operation.parameters.filter((one: Json) => one.in === 'path').map((one: Json) => one.name),
      [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
      `${id}: path parameters`,
    )
  }
  t.match(document.components.securitySchemes.accessToken, { type: 'http', scheme: 'bearer' })
})

t.test('the responses match the served document', async (t) => {
  const { call, get } = await start(t)
  t.strictSame((await get('/openapi.json')).body, document)
  const hook = { url: 'http://127.0.0.1:3000/hook', webhook_secret: 'secret' }
  const pan = document.paths['/kyc'].post.requestBody.content['application/json'].example.kyc
  const payment = { from_user_id: ASHA, to_user_id: ROHAN, benif_bank_id: ROHANS_ACCOUNT }
  const paid = 'a0000000-0000-4000-8000-000000000001'
  const account = { user_id: ASHA, account_number: '999912345678', ifsc_code: 'HDFC0000001' }
  const calls: Record<string, [path: string, body?: unknown]> = {
    createUser: [
      '/user',
      document.paths['/user'].post.requestBody.content['application/json'].example,
    ],
    getUser: [`/user/${ASHA}`],
    listUsers: ['/users'],
    createTransaction: ['/transaction', { ...payment, amount: '10.50' }],
    listTransactions: ['/transaction'],
    getTransaction: [`/transaction/${paid}`],
    listTransactionHistory: ['/transaction/history?limit=100'],
    listUserTransactionHistory: [`/transaction/history/user/${ASHA}`],
    submitKyc: ['/kyc', { user_id: ASHA, kyc: pan }],
    getKyc: [`/kyc/${ASHA}`],
    addBankAccount: ['/bank', account],
    listBankAccounts: [`/bank/${ASHA}`],
    getClientProfile: ['/client/profile'],
    createWebhook: ['/clientWebhook', hook],
    getWebhook: ['/clientWebhook'],
    updateWebhook: ['/clientWebhook', { url: hook.url }],
  }
  for (const { method, operation } of operations) {
    const id = operation.operationId
    const [path, body] = calls[id]!
    const answer = await call(method.toUpperCase() as 'GET', `/v1${path}`, body, TOKEN)
    const { $ref } = operation.responses[answer.status].content['application/json'].schema
    t.ok(answer.status < 300, `${id} ${answer.status}`)
    t.equal(findings($ref, answer.body), '', id)
    const refused = await call(method.toUpperCase() as 'GET', `/v1${path}`, body, {
      authorization: 'Bearer nobody',
    })
    t.equal(findings('#/components/schemas/Error', refused.body), '')
  }
  t.not(findings('#/components/schemas/User', { user_id: 7 }), '', 'the validator does refuse')
})

t.test('the limits of a KYC submission are described', async (t) => {
  const { get } = await start(t)
  const { SubmitKyc, KycItem } = (await get('/openapi.json')).body.components.schemas
  t.match(SubmitKyc.properties.kyc, { maxItems: 50, description: /1 to 50 documents/ })
  t.match(KycItem.properties.document_number, {
    maxLength: 64,
    description: /At most 64 characters/,
  })
})
