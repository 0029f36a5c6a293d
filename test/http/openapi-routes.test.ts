import swagger from '@fastify/swagger'
import Fastify, { type FastifyInstance } from 'fastify'
import t from 'tap'
import { adminDocument } from '../../src/http/openapi-admin.ts'
import { serviceDocument } from '../../src/http/openapi-service.ts'
import { serveAdmin } from '../../src/http/serve-admin.ts'
import { serveOperation } from '../../src/http/serve-operation.ts'
import { ADMIN_ROUTES } from '../../src/model/admin-routes.ts'
import { ADMIN_CALLS } from '../../src/routes/admin/admin-calls.ts'
import { OPERATIONS } from '../../src/routes/v1/operations.ts'
import { start } from '../helper.ts'

type Paths = Record<string, Record<string, unknown>>

/** Each method and path of a document. */
const routesOf = (paths: unknown) =>
  Object.entries(paths as Paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  )

/** The routes that @fastify/swagger finds in Fastify itself. */
async function routesInFastify(addRoutes: (app: FastifyInstance) => void) {
  const app = Fastify({ exposeHeadRoutes: false })
  app.setValidatorCompiler((() => () => true) as never)
  await app.register(swagger, {
    openapi: { openapi: '3.1.0', info: { title: '', version: '' } },
  })
  await app.register(async (scope) => addRoutes(scope))
  await app.ready()
  const { paths } = app.swagger()
  await app.close()
  // HEAD is GET without a body, which the document need not list.
  return routesOf(paths).filter((route) => !route.startsWith('head '))
}

t.test('the document of the service has the routes of the service, and no others', async (t) => {
  const routes = await routesInFastify((app) => {
    for (const op of OPERATIONS) serveOperation(app, op, { explain: false })
  })
  t.strictSame(routesOf((await serviceDocument(OPERATIONS)).paths).sort(), routes.sort())
})

t.test('the document of the admin API has the routes of the contract, and no others', async (t) => {
  const routes = await routesInFastify((app) => {
    for (const call of ADMIN_CALLS) serveAdmin(app, call, { explain: false })
  })
  t.strictSame(routesOf((await adminDocument(ADMIN_CALLS)).paths).sort(), routes.sort())
  const contract = Object.values(ADMIN_ROUTES).map((route) => {
    const [method, url] = route.split(' ') as [string, string]
    return `${method.toLowerCase()} ${url.replace(/:(\w+)/g, '{$1}')}`
  })
  t.strictSame(contract.sort(), routes.sort())
})

t.test('the servers start with the address of the call', async (t) => {
  const { get } = await start(t)
  const host = 'sandbox.localhost:4310'
  const serversOf = async (path: string) => (await get(path, { host })).body.servers
  const urlsOf = async (path: string) =>
    (await serversOf(path)).map(({ url }: { url: string }) => url)
  const origin = `http://${host}`
  for (const path of ['/openapi.json', '/openapi.json?strict'])
    t.strictSame(await urlsOf(path), [`${origin}/v1`, '/v1'])
  t.strictSame(await urlsOf('/@second/openapi.json'), [`${origin}/@second/v1`, '/@second/v1'])
  t.strictSame(await urlsOf('/@second/__admin/openapi.json'), [
    `${origin}/@second/__admin`,
    '/@second/__admin',
  ])
  const admin = await serversOf('/__admin/openapi.json')
  t.strictSame(
    admin.map(({ url }: { url: string }) => url),
    [`${origin}/__admin`, `${origin}/@{client}/__admin`, '/__admin'],
  )
  // As Spectral's oas3-server-variables: each variable has a default, with which the URL is absolute.
  for (const { url, variables = {} } of admin.slice(0, 2)) {
    const filled = url.replace(/\{(\w+)\}/g, (_: string, name: string) => variables[name].default)
    t.equal((await get(new URL(`${filled}/clock`).pathname)).status, 200)
  }
})

t.test('response schemas are called ...Response; each operation has a description', async (t) => {
  // biome-ignore lint/suspicious/noExplicitAny: a document is walked as the JSON it is.
  type Json = any
  for (const document of [
    await serviceDocument(OPERATIONS),
    await adminDocument(ADMIN_CALLS),
  ] as Json[]) {
    const operations = Object.values<Json>(document.paths).flatMap((one) =>
      Object.values<Json>(one),
    )
    const parts = JSON.stringify([document.components, operations.map((one) => one.requestBody)])
    for (const { operationId, description, responses } of operations) {
      t.match(description, /\w+ \w+.*\.$/, operationId)
      const [success] = Object.values<Json>(responses)
      const { $ref } = (Object.values(success.content) as Json[])[0].schema
      t.ok($ref.endsWith('Response') || parts.includes(`"${$ref}"`), `${operationId} ${$ref}`)
    }
  }
})
