import t from 'tap'
import { adminDocument } from '../../src/http/openapi-routes.ts'
import { serviceDocument } from '../../src/http/openapi-service.ts'
import { ADMIN_CALLS } from '../../src/routes/admin/admin-calls.ts'
import { OPERATIONS } from '../../src/routes/v1/operations.ts'
import { pluck, start } from '../helper.ts'

t.test('the server is the address of the call, with TLS if a proxy has it', async (t) => {
  const { get } = await start(t)
  const host = 'sandbox.localhost:4310'
  const serversOf = async (path: string) => (await get(path, { host })).body.servers
  const urlsOf = async (path: string) => pluck(await serversOf(path), 'url')
  const origin = `http://${host}`
  for (const path of ['/openapi.json', '/openapi.json?strict'])
    t.strictSame(await urlsOf(path), [`${origin}/v1`])
  t.strictSame(await urlsOf('/@second/openapi.json'), [`${origin}/@second/v1`])
  t.strictSame(await urlsOf('/@second/__admin/openapi.json'), [`${origin}/@second/__admin`])
  const { accessToken } = (await get('/@w1/openapi.json')).body.components.securitySchemes
  t.equal(accessToken.description, 'Use the token sbx_w1.')
  const proxied = await get('/openapi.json', { host, 'x-forwarded-proto': 'https' })
  t.strictSame(pluck(proxied.body.servers, 'url'), [`https://${host}/v1`])
  const admin = await serversOf('/__admin/openapi.json')
  t.strictSame(pluck(admin, 'url'), [`${origin}/__admin`, `${origin}/@{client}/__admin`])
  // As Spectral's oas3-server-variables: each variable has a default, with which the URL is absolute.
  for (const { url, variables = {} } of admin) {
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
      t.ok(
        $ref.endsWith('Response') || parts.includes(`"${$ref}"`),
        `${operationId}: name it …Response, not ${$ref}`,
      )
    }
  }
})
