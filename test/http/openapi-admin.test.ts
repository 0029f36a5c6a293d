import t from 'tap'
import { adminDocument } from '../../src/http/openapi-routes.ts'
import { ADMIN_ROUTES } from '../../src/model/admin-routes.ts'
import { ERRORS } from '../../src/model/errors.ts'
import { ADMIN_CALLS } from '../../src/routes/admin/admin-calls.ts'
import { start } from '../helper.ts'

// biome-ignore lint/suspicious/noExplicitAny: a document is walked as the JSON it is.
type Json = any
const document: Json = JSON.parse(JSON.stringify(await adminDocument(ADMIN_CALLS)))
const operationOf = ({ url, method }: { url: string; method: string }): Json =>
  document.paths[url.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]

t.test('every admin call is in the document once, with its id and its route', async (t) => {
  const shown = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, { operationId }]) => [
      operationId,
      `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
    ]),
  )
  t.equal(shown.length, ADMIN_CALLS.length)
  t.strictSame(Object.fromEntries(shown), ADMIN_ROUTES)
})

t.test('bodies and responses are named components, errors use the one envelope', async (t) => {
  for (const call of ADMIN_CALLS) {
    const { requestBody, responses, parameters, security } = operationOf(call)
    const body = requestBody?.content['application/json']?.schema.$ref
    t.equal(body !== undefined, call.body !== undefined, `${call.id} body`)
    if (call.body) {
      t.equal(requestBody.required, !call.body.safeParse(undefined).success, `${call.id} required`)
    }
    for (const [status, { content }] of Object.entries<Json>(responses)) {
      const { $ref } = content[Object.keys(content)[0]!].schema
      t.ok(document.components.schemas[$ref.split('/').at(-1)], `${call.id} ${status} ${$ref}`)
      t.equal($ref === '#/components/schemas/Error', Number(status) >= 400, call.id)
    }
    for (const word of call.errors)
      t.equal(
        responses[ERRORS[word][0]].description.split(`\`${word}\``).length,
        2,
        `${call.id} names ${word} once`,
      )
    t.strictSame(
      parameters.filter((one: Json) => one.in === 'path').map((one: Json) => one.name),
      [...call.url.matchAll(/:(\w+)/g)].map(([, name]) => name),
    )
    t.equal(security.length > 0, !call.open && !call.raw, `${call.id} security`)
  }
  t.match(document.components.securitySchemes.adminToken, {
    type: 'apiKey',
    in: 'header',
    name: 'X-Admin-Token',
  })
})

t.test('limit is described as each list accepts it', async (t) => {
  const limitOf = (id: string) => {
    const { parameters } = operationOf(ADMIN_CALLS.find((call) => call.id === id)!)
    return parameters.find(({ name }: Json) => name === 'limit').schema
  }
  t.match(limitOf('listDeliveries'), { type: 'integer', default: 50, description: /100/ })
  t.strictSame(limitOf('listTimers'), { type: 'integer', minimum: 1, maximum: 10_000 })
  t.match(limitOf('listRequests'), { pattern: '^0*[1-9]\\d*$', description: /100 counts as 100/ })
})

t.test('each component name has one schema', async (t) => {
  // Each call's own document says what its names mean; together they must agree.
  for (const call of ADMIN_CALLS) {
    const alone: Json = JSON.parse(JSON.stringify(await adminDocument([call])))
    for (const [name, schema] of Object.entries(alone.components.schemas))
      t.strictSame(document.components.schemas[name], schema, `${call.id} ${name}`)
  }
})

t.test('it is served without a token, but not without the admin API', async (t) => {
  const guarded = await start(t, { app: { adminToken: 'secret' } })
  const { body, headers } = await guarded.get('/__admin/openapi.json')
  t.strictSame({ ...body, servers: document.servers }, document)
  t.match(headers['content-type'], 'application/json')
  const foreign = await guarded.get('/__admin/openapi.json', { 'sec-fetch-site': 'cross-site' })
  t.match(foreign, { status: 403, body: { error: 'cross_site_rejected' } })
  const without = await start(t, { app: { admin: false } })
  t.equal((await without.get('/__admin/openapi.json')).status, 404)
})

t.test('the docs page has a choice of documents', async (t) => {
  const page = async (admin: boolean) => {
    const { app } = await start(t, { app: { admin } })
    const host = { host: '127.0.0.1' }
    return (await app.inject({ url: '/docs', headers: host })).body
  }
  const valuesOf = (text: string) =>
    [...text.matchAll(/<option value="(\w+)"/g)].map(([, name]) => name)
  t.strictSame(valuesOf(await page(true)), ['service', 'strict', 'admin'])
  t.strictSame(valuesOf(await page(false)), ['service', 'strict'])
})
