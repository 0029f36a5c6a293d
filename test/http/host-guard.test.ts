import t from 'tap'
import { hostNameOf } from '../../src/http/host-guard.ts'
import { start } from '../helper.ts'

t.test('answers loopback names, addresses, one-word names and allowed ones', async (t) => {
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
  t.equal(hostNameOf('[FE80::1]:80'), 'fe80::1')
})

t.test('the admin API answers no page of another site; the service does', async (t) => {
  const { call, get } = await start(t)
  const own = 'http://127.0.0.1:4310'
  const table: [headers: Record<string, string>, status: number][] = [
    [{}, 200],
    [{ origin: own }, 200],
    [{ origin: 'https://127.0.0.1:4310' }, 200],
    [{ origin: own, 'sec-fetch-site': 'same-origin' }, 200],
    [{ 'sec-fetch-site': 'none' }, 200],
    [{ origin: 'http://127.0.0.1:3000' }, 403],
    [{ origin: 'http://127.0.0.1' }, 403],
    [{ origin: 'http://localhost:4310' }, 403],
    [{ origin: 'http://127.0.0.1:4310.evil.com' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: '' }, 403],
    [{ origin: 'https://evil.com' }, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ 'sec-fetch-site': '' }, 403],
    [{ origin: own, 'sec-fetch-site': 'cross-site' }, 403],
  ]
  for (const [headers, status] of table) {
    const told = JSON.stringify(headers)
    for (const path of ['/__admin/clock', '/@other/__admin/clock', '/__admin/health']) {
      const answer = await get(path, headers)
      t.equal(answer.status, status, `${path} ${told}`)
      if (status === 403) t.equal(answer.body.error, 'cross_site_refused')
      t.notOk('access-control-allow-origin' in answer.headers)
    }
    t.equal((await call('POST', '/__admin/clock/freeze', {}, headers)).status, status, told)
    t.equal((await get('/v1/users?limit=1', headers)).status, 200)
  }
})
