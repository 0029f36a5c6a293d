import t from 'tap'
import { hostNameOf } from '../../src/http/guards.ts'
import { start } from '../helper.ts'

t.test('accepts loopback names, addresses, names without a dot and allowed names', async (t) => {
  const { get } = await start(t, { app: { allowHost: ['Sandbox.Example.com'] } })
  const table: [host: string, status: number][] = [
    ['127.0.0.1:4310', 200],
    ['127.0.0.1', 200],
    ['localhost', 200],
    ['LOCALHOST:4310', 200],
    ['[::1]:4310', 200],
    ['[::1]', 200],
    ['192.168.1.20:4310', 200],
    ['8.8.8.8', 200],
    ['sandbox', 200],
    ['payout_sandbox:4310', 200],
    ['api.localhost:4310', 200],
    ['host.docker.internal:4310', 200],
    ['sandbox.example.com', 200],
    ['SANDBOX.example.COM:80', 200],
    ['example.com', 403],
    ['evil.sandbox.example.com', 403],
    ['sandbox.example.com.evil.com', 403],
    ['127.0.0.1.evil.com', 403],
    ['localhost.evil.com', 403],
    ['evillocalhost.com', 403],
    ['localhost@evil.com', 403],
    ['local host', 403],
    ['localhost:4310:1', 403],
    ['localhost/', 403],
    ['<script>', 403],
    ['münchen', 403],
  ]
  for (const [host, status] of table) {
    for (const path of ['/v1/users?limit=1', '/__admin/health', '/no/such']) {
      const answer = await get(path, { host })
      t.equal(answer.status === 403 ? 403 : 200, status, `${host} ${path}`)
      if (status === 403) t.equal(answer.body.error, 'host_not_allowed')
      t.notMatch(answer.text, /<script>/)
    }
  }
})

t.test('a Host with a port that cannot exist is refused on every route', async (t) => {
  const { call } = await start(t)
  for (const name of ['127.0.0.1', 'localhost', '[::1]']) {
    for (const port of ['65535', '000080'])
      t.equal((await call('GET', '/v1/users', undefined, { host: `${name}:${port}` })).status, 200)
    for (const port of ['65536', '99999', '9'.repeat(400)])
      for (const [method, path, body] of [
        ['GET', '/v1/users?limit=1'],
        ['POST', '/v1/user', {}],
        ['GET', '/__admin/health'],
        ['GET', '/__admin/clock'],
        ['GET', '/openapi.json'],
        ['GET', '/no/such'],
        ['POST', '/__admin/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' }],
      ] as const) {
        const answer = await call(method, path, body, { host: `${name}:${port}` })
        const found = [answer.status, answer.body.error]
        t.strictSame(found, [400, 'malformed_request'], `${method} ${path} ${name}`)
      }
  }
})

t.test('the name of a host is without its port and brackets', async (t) => {
  t.equal(hostNameOf('[FE80::1]:80'), 'fe80::1')
})
