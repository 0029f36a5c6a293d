import { createRequire } from 'node:module'
import t from 'tap'
import { serviceDocument } from '../../src/http/openapi-service.ts'
import { ERRORS } from '../../src/model/errors.ts'
import { OPERATIONS } from '../../src/routes/v1/operations.ts'
import { start } from '../helper.ts'

// A validator that knows nothing of zod: the one that Fastify brings.
const ofFastify = createRequire(createRequire(import.meta.url).resolve('@fastify/ajv-compiler'))
const { default: Ajv } = ofFastify('ajv/dist/2020')
const { default: addFormats } = ofFastify('ajv-formats')

// biome-ignore lint/suspicious/noExplicitAny: a document is walked as the JSON it is.
type Json = any
const documentOf = async (isStrict: boolean): Promise<Json> =>
  JSON.parse(JSON.stringify(await serviceDocument(OPERATIONS, isStrict ? 'strict' : 'default')))
const document = await documentOf(false)
const strict = await documentOf(true)

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
ajv.addSchema(strict, 'strict')
/** What a schema at a JSON pointer of a document finds wrong with a value. */
function findings(pointer: string, value: unknown, name = 'document'): string {
  const validate = ajv.getSchema(`${name}${pointer}`)
  if (!validate) throw new Error(`no schema at ${pointer}`)
  return validate(value) ? '' : ajv.errorsText(validate.errors)
}

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
    // Another test holds these examples to be the responses of the sandbox.
    const [success] = Object.values<Json>(operation.responses)
    const { schema, example } = success.content['application/json']
    for (const name of ['document', 'strict'])
      t.equal(findings(schema.$ref, example, name), '', `${name} ${operation.operationId}`)
  }
  const { schemas } = document.components
  const resources = ['User', 'KycRecord', 'BankAccount', 'Transaction', 'HistoryRecord']
  for (const name of [...resources, 'ClientProfile', 'Webhook'])
    t.equal(schemas[name].examples.length, 1, name)
  t.not(findings('#/components/schemas/User', { user_id: 7 }), '', 'the validator does refuse')
})

t.test('headers, clamps, other methods and the format of a date are described', async (t) => {
  for (const { method, operation } of operations) {
    const id = operation.operationId
    const { responses, parameters } = operation
    t.ok(responses[401].headers['WWW-Authenticate'], id)
    t.ok(responses[503].headers['Retry-After'], id)
    t.ok(responses[429].headers['Retry-After'], id)
    for (const status of Object.keys(responses)) {
      const isDescribed = responses[status].headers?.['Idempotency-Replayed'] !== undefined
      t.equal(isDescribed, method === 'post' && Number(status) < 300, `${id} ${status}`)
    }
    for (const { name, schema } of parameters.filter((one: Json) => one.name === 'limit')) {
      t.equal(schema.maximum, undefined, `${id} ${name}`)
      t.match(schema.description, /100/)
    }
  }
  t.match(document.components.schemas.SubmitKyc.properties.kyc, {
    maxItems: 50,
    description: /1 to 50 documents/,
  })
  t.match(document.components.schemas.KycItem.properties.document_number, {
    maxLength: 64,
    description: /At most 64 characters/,
  })
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
    const everywhere = ['400', '401', '403', '404', '408', '429', '431']
    for (const status of [...everywhere, '500', '502', '503', '504', 'default'])
      t.ok(statuses.includes(status), `${id} ${status}`)
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
      const isError = status === 'default' || Number(status) >= 400
      t.equal($ref === '#/components/schemas/Error', isError, `${id} ${status}`)
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

t.test('the documents are served, also for a base path', async (t) => {
  const { get } = await start(t)
  const origin = 'http://127.0.0.1:4310'
  for (const base of ['', '/@second'])
    for (const [query, form] of [
      ['', document],
      ['?strict', strict],
      ['?strict=', strict],
      ['?strict=true', strict],
    ]) {
      const servers = [{ url: `${origin}${base}/v1`, description: 'This sandbox.' }]
      const { body } = await get(`${base}/openapi.json${query}`)
      const { accessToken } = body.components.securitySchemes
      t.match(accessToken.description, base ? 'access_token of the client second' : 'fixtures')
      accessToken.description = form.components.securitySchemes.accessToken.description
      t.strictSame(body, { ...form, servers }, query)
    }
  const { body } = await get('/v1/users', { authorization: 'Bearer nobody' })
  for (const name of ['document', 'strict'])
    t.equal(findings('#/components/schemas/Error', body, name), '', name)
})

t.test('an error has its code and its message in both documents', async (t) => {
  t.strictSame(document.components.schemas.Error.required, ['error', 'message'])
  t.equal(strict.components.schemas.Error.required.length, 6)
})

t.test('an unknown value of ?strict or query parameter is 400', async (t) => {
  const { get } = await start(t)
  const refusals = {
    '/openapi.json?strict=false':
      'The query parameter strict must be true or without a value; found "false".',
    '/openapi.json?strict=true&strict=true':
      'The query parameter strict must be a string; found a list of 2.',
    '/openapi.json?stric':
      'The query parameter stric is unknown; did you mean "strict"? This call takes strict and contract.',
    '/__admin/openapi.json?strict':
      'The query parameter strict is unknown; this call takes no query parameters.',
  }
  for (const [url, message] of Object.entries(refusals))
    t.match(await get(url), { status: 400, body: { error: 'validation_failed', message } }, url)
})

t.test('what the contract does not show is marked, and its document lacks it', async (t) => {
  const MARK = 'x-sandbox-assumption'
  const marks = [...nodes(document)].filter(([, node]) => MARK in node)
  const placesOf = (name: string) =>
    marks.filter(([, node]) => node[MARK] === name).map(([at]) => at)
  for (const [, { description, schema }] of marks)
    t.match(description ?? schema.description, /Not in the contract: see the assumption/)
  t.strictSame(placesOf('reference_id'), [
    '#/components/schemas/CreateTransaction/properties/reference_id',
  ])
  t.strictSame(placesOf('amount_as_text'), [
    '#/components/schemas/CreateTransaction/properties/amount/anyOf/1',
  ])
  t.strictSame(
    placesOf('own_request_fields').map((at) => at.split('/').at(-1)),
    ['remark', 'currency_code', 'user_type'],
  )
  t.equal(placesOf('limit_parameter').filter((at) => at.endsWith('schema')).length, 2)
  t.equal(
    placesOf('idempotency_key').length,
    2 * 5,
    'the header and that of the response of each POST',
  )
  t.ok(placesOf('webhook_body').length > 0)
  for (const { path, method, operation } of operations)
    for (const [status, response] of Object.entries<Json>(operation.responses))
      t.equal(
        response[MARK],
        /^2/.test(status) ? undefined : 'error_body',
        `${method} ${path} ${status}`,
      )

  const contract = JSON.parse(JSON.stringify(await serviceDocument(OPERATIONS, 'contract')))
  t.notMatch(JSON.stringify(contract), MARK)
  t.notOk(contract.webhooks)
  t.notOk(contract.components.schemas.Error)
  const { properties } = contract.components.schemas.CreateTransaction
  t.strictSame(Object.keys(properties), ['from_user_id', 'to_user_id', 'benif_bank_id', 'amount'])
  t.equal(properties.amount.type, 'number')
  t.strictSame(Object.keys(contract.components.schemas.CreateUser.properties), ['email', 'mobile'])
  for (const methods of Object.values<Json>(contract.paths))
    for (const { operationId, responses, parameters = [] } of Object.values<Json>(methods)) {
      t.strictSame(Object.keys(responses).slice(1), ['default'], operationId)
      t.strictSame(Object.keys(responses.default), ['description'])
      const own = parameters.filter((one: Json) => one.in === 'header' || one.name === 'limit')
      t.equal(own.length, /History/.test(operationId) ? 1 : 0, operationId)
    }
  const { get } = await start(t)
  t.strictSame((await get('/openapi.json?contract')).body.paths, contract.paths)
  t.equal((await get('/openapi.json?contract&strict')).status, 400)
})

/** The schemas to which the responses and the webhooks of a document refer. */
function responseSchemas(form: Json): [name: string, schema: Json][] {
  const found = new Map<string, Json>()
  const collect = (value: Json) => {
    for (const [, { $ref }] of nodes(value)) {
      const name = typeof $ref === 'string' ? $ref.split('/').at(-1)! : undefined
      if (name === undefined || found.has(name)) continue
      found.set(name, form.components.schemas[name])
      collect(form.components.schemas[name])
    }
  }
  for (const path of Object.values<Json>(form.paths))
    for (const { responses } of Object.values<Json>(path)) collect(responses)
  collect(form.webhooks)
  return [...found]
}

t.test('responses of the document are open, those of the strict one are closed', async (t) => {
  const objects = (form: Json) =>
    responseSchemas(form).flatMap(([name, schema]) =>
      [...nodes(schema)]
        .filter(([at, { type }]) => type === 'object' && !at.includes('/examples'))
        .map(([at, node]) => [`${name}${at}`, node] as const),
    )
  const enums = (form: Json) =>
    responseSchemas(form).flatMap(([name, schema]) =>
      [...nodes(schema)]
        .filter(([, node]) => Array.isArray(node.enum))
        .map(([at]) => `${name}.${at.split('/').at(-1)}`),
    )
  t.ok(objects(document).length > 30)
  for (const [at, { additionalProperties }] of objects(document))
    t.not(additionalProperties, false, at)
  // Nobody has seen an element of this list.
  const isClosed = ([at]: readonly [string, Json]) => !at.includes('ClientConfigurations')
  for (const [at, { additionalProperties }] of objects(strict).filter(isClosed))
    t.equal(additionalProperties, false, at)
  // Interface 2.5 calls this field an enum; no other field.
  t.strictSame(enums(document), ['HistoryRecord.status'])
  t.ok(enums(strict).length > 8)
  const words = document.components.schemas.Transaction.properties.transaction_status
  t.match(words, { type: 'string', description: /pending, processing, success, failed/ })
})

t.test('both documents describe the same requests', async (t) => {
  const requestsOf = ({ paths, components }: Json) =>
    Object.values<Json>(paths).flatMap((path) =>
      Object.values<Json>(path).map(({ operationId, parameters, requestBody }) => {
        const $ref = requestBody?.content['application/json'].schema.$ref
        return {
          operationId,
          parameters,
          requestBody,
          body: components.schemas[$ref?.split('/').at(-1)],
        }
      }),
    )
  t.strictSame(requestsOf(document), requestsOf(strict))
})
