import t from 'tap'
import { start } from '../helper.ts'

t.test('accepts loopback names, addresses, names without a dot and allowed names', async (t) => {
  const { get } = await start(t, { app: { allowHost: ['Sandbox.Example.com'] } })
  const fine = [
    ...['127.0.0.1:4310', '127.0.0.1', 'localhost', 'LOCALHOST:4310', '[::1]:4310', '[::1]'],
    ...['[FE80::1]:80', '192.168.1.20:4310', '8.8.8.8', 'sandbox', 'payout_sandbox:4310'],
    ...['api.localhost:4310', 'host.docker.internal:4310', 'sandbox.example.com'],
    'SANDBOX.example.COM:80',
  ]
  const foreign = [
    ...['example.com', 'evil.sandbox.example.com', 'sandbox.example.com.evil.com', '[::1'],
    ...['127.0.0.1.evil.com', '127.0.0.1.nip.io', 'localhost.evil.com', 'evillocalhost.com'],
    ...['localhost..', 'localhost@evil.com', 'user@127.0.0.1', '127.0.0.1 evil', 'local host'],
    ...['localhost:4310:1', 'localhost/', '[::1].evil.com', '%31%32%37.0.0.1', '<script>'],
    ...[
      '0x7f.1.evil.com',
      'host.docker.internal.evil.com',
      'evil.xlocalhost',
      'a$.localhost',
      'münchen',
    ],
  ]
  const table = [
    ...fine.map((host) => [host, 200] as const),
    ...foreign.map((host) => [host, 403] as const),
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
      ] as const) {
        const answer = await call(method, path, body, { host: `${name}:${port}` })
        const found = [answer.status, answer.body.error]
        t.strictSame(found, [400, 'malformed_request'], `${method} ${path} ${name}`)
      }
  }
})
