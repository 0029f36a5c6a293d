/** The document of the service as Postman imports it: each request works as it is, with nothing but the token set. */
import { promisify } from 'node:util'
// @ts-expect-error: it has no types.
import { convert } from 'openapi-to-postmanv2'
import t from 'tap'
import { start } from '../../helper.ts'

type Field = { key: string; value: string }
type Request = {
  method: string
  url: { host: string[]; path: string[]; query: Field[]; variable: Field[] }
  header: Field[]
  auth?: { bearer: Field[] }
  body?: { raw?: string }
}
type Item = { name: string; request?: Request; item?: Item[] }

const requestsOf = ({ name, request, item = [] }: Item): [string, Request][] =>
  request ? [[name, request]] : item.flatMap(requestsOf)

t.test('each request of the collection succeeds, in Example mode', async (t) => {
  const { listen } = await start(t, { assume: { token: 'strict' } })
  const { url } = await listen()
  const data = await (await fetch(`${url}/openapi.json`)).json()
  const { result, output } = await promisify(convert)(
    { type: 'json', data },
    { requestParametersResolution: 'Example' },
  )
  t.ok(result)
  const collection = output[0].data
  const variables: Field[] = [
    ...collection.variable,
    { key: 'bearerToken', value: 'sbx_test_token' },
  ]
  const filled = (text: string) =>
    text.replaceAll(/\{\{(\w+)\}\}/g, (_, name) => variables.find(({ key }) => key === name)!.value)
  const requests = requestsOf(collection)
  t.equal(requests.length, 16)
  for (const [name, { method, url, header, auth, body }] of requests) {
    const path = url.path.map((part) =>
      part.startsWith(':') ? url.variable.find(({ key }) => key === part.slice(1))!.value : part,
    )
    const query = new URLSearchParams(
      url.query.map(({ key, value }): [string, string] => [key, value]),
    )
    const [token] = auth?.bearer ?? []
    const answer = await fetch(`${filled([...url.host, ...path].join('/'))}?${query}`, {
      method,
      headers: [
        ...header.map(({ key, value }): [string, string] => [key, value]),
        ...(token ? [['authorization', `Bearer ${filled(token.value)}`] as [string, string]] : []),
      ],
      ...(body?.raw !== undefined && { body: body.raw }),
    })
    t.ok(answer.ok, `${name}: ${await answer.text()}`)
  }
})
