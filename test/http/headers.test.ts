import t from 'tap'
import { GUARDED, PAYMENT, start, TOKEN } from '../helper.ts'

t.test('no response allows type sniffing, and none is cached by default', async (t) => {
  const { app } = await start(t, { ...GUARDED, app: { cors: ['http://localhost:3000'] } })
  const host = '127.0.0.1:4310'
  const table: [method: string, url: string, status: number, more?: Record<string, string>][] = [
    ['GET', '/v1/users?limit=1', 200],
    ['GET', '/@w/v1/users?limit=x', 400],
    ['GET', '/v1/transaction/history', 401],
    ['GET', '/v1/nothing', 404],
    ['DELETE', '/v1/users', 405],
    ['GET', '/v1/%ff', 400],
    ['GET', '/v1/users', 403, { host: 'evil.example' }],
    ['POST', '/v1/user', 415, { 'content-type': 'text/plain' }],
    ['GET', '/__admin/health', 200],
    ['GET', '/__admin/snapshots/none', 404],
    ['GET', '/__admin/openapi.json', 200],
    ['GET', '/__admin', 308],
    ['GET', '/openapi.json', 200],
    ['GET', '/docs', 200],
    ['GET', '/docs/page.js', 200],
    ['GET', '/docs/swagger-ui.css', 200],
    ['GET', '/docs/swagger-ui-bundle.js', 200],
  ]
  for (const [method, url, status, more] of table) {
    const { statusCode, headers } = await app.inject({
      method: method as 'GET',
      url,
      headers: { host, ...more },
      ...(method === 'POST' && { payload: 'x' }),
    })
    t.equal(statusCode, status, url)
    t.equal(headers['x-content-type-options'], 'nosniff', url)
    t.equal(headers['cache-control'], 'no-store', url)
  }
})

t.test('a response has the bytes of its text, whatever characters are in it', async (t) => {
  const { app, post } = await start(t, GUARDED)
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  // The last two have characters of three and of four bytes.
  for (const remark of ['Rent', 'Café', 'किराया', 'Rent 🏠']) {
    t.equal((await post('/v1/transaction', { ...PAYMENT, remark })).status, 200)
    const response = await fetch(`${url}/v1/transaction/history?limit=1`, { headers: TOKEN })
    const bytes = Buffer.from(await response.arrayBuffer())
    t.equal(response.headers.get('content-length'), String(bytes.length), remark)
    t.equal(JSON.parse(bytes.toString('utf8')).data.transactions[0].remark, remark)
  }
})
