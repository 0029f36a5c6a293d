import t from 'tap'
import { start, TOKEN } from '../helper.ts'

const OWN = 'http://127.0.0.1:4310'
const PAGE = 'http://localhost:3000'
type Headers = Record<string, string>

const ANSWERED: Headers[] = [
  {},
  { origin: OWN },
  { origin: 'https://127.0.0.1:4310' },
  { origin: OWN, 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' },
  { host: '[::1]:4310', origin: 'http://[::1]:4310' },
  { host: 'sandbox', origin: 'https://sandbox' },
]
const REFUSED: Headers[] = [
  { origin: 'http://127.0.0.1:3000' },
  { origin: 'http://127.0.0.1' },
  { origin: 'http://localhost:4310' },
  { origin: 'http://127.0.0.1:4310.evil.com' },
  { origin: 'http://evil.example@127.0.0.1:4310' },
  { origin: `${OWN}/` },
  { origin: `${OWN}, https://evil.com` },
  { origin: 'chrome-extension://abcdef' },
  { origin: 'file://' },
  { origin: 'null' },
  { origin: '' },
  { origin: 'https://evil.com' },
  { origin: 'https://evil.com', 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': '' },
  { 'sec-fetch-site': 'SAME-ORIGIN' },
  { 'sec-fetch-site': 'same-origin, cross-site' },
  { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
  { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
  { origin: OWN, 'sec-fetch-site': 'cross-site' },
]

t.test('a page of another site reaches neither the admin API nor the service', async (t) => {
  const { call, get } = await start(t)
  const paths = ['/__admin/clock', '/@other/__admin/clock', '/__admin/health', '/v1/users?limit=1']
  for (const headers of ANSWERED) {
    const headersText = JSON.stringify(headers)
    for (const path of paths)
      t.equal((await get(path, headers)).status, 200, `${path} ${headersText}`)
    t.equal((await call('POST', '/__admin/clock/freeze', {}, headers)).status, 200, headersText)
  }
  for (const headers of REFUSED) {
    const headersText = JSON.stringify(headers)
    for (const path of [...paths, '/v1/nothing', '/v1']) {
      const answer = await get(path, headers)
      t.match(
        answer,
        { status: 403, body: { error: 'cross_site_rejected' } },
        `${path} ${headersText}`,
      )
      t.notOk('access-control-allow-origin' in answer.headers)
    }
    t.equal((await call('POST', '/__admin/clock/freeze', {}, headers)).status, 403, headersText)
    for (const path of ['/v1/user', '/@w/v1/user'])
      t.equal((await call('OPTIONS', path, undefined, headers)).status, 403, headersText)
  }
})

t.test('a request of a page of another site has no effect', async (t) => {
  const box = await start(t, { app: { explain: true } })
  const { get, post, put, sandbox } = box
  const rules = [
    { when: { operation: 'listUsers' }, then: { respond: { status: 503 } }, times: 1 },
    { when: { operation: 'createUser' }, then: { respond: { status: 503 } }, times: 1 },
  ]
  await put('/__admin/scenario', { definition: { title: 'once', rules } })
  const before = JSON.stringify([...sandbox.default.tables.tables.settings.rows()])
  const user = { email: 'page@example.com', mobile: '9876500001' }
  for (const headers of REFUSED) {
    const answers = [
      await get('/v1/users', headers),
      await get('/v1/nothing', headers),
      await get('/@fresh/v1/users', headers),
      await post('/v1/user', user, headers),
      await post('/v1/user', user, { ...headers, ...TOKEN, 'idempotency-key': 'k' }),
      await get('/v1/transaction/history', { ...headers, ...TOKEN }),
    ]
    for (const { status, headers: answered } of answers) {
      t.equal(status, 403)
      t.notOk('x-sandbox-client' in answered)
    }
  }
  t.notOk(sandbox.clients.has('fresh'), 'no client is made')
  t.equal(JSON.stringify([...sandbox.default.tables.tables.settings.rows()]), before)
  t.equal((await get('/__admin/requests')).body.total, 0, 'no call is in the log')
  t.equal((await get('/v1/users')).status, 503, 'no rule is spent')
  t.equal((await post('/v1/user', user)).status, 503)
  t.equal((await post('/v1/user', user, { 'idempotency-key': 'k' })).status, 201)
})

t.test('--cors opens the service to the pages of that origin, and to no others', async (t) => {
  const { app, get, post } = await start(t, { app: { cors: [PAGE] } })
  const browsers: Headers[] = [
    { origin: PAGE },
    { origin: PAGE, 'sec-fetch-site': 'same-site' },
    { origin: PAGE, 'sec-fetch-site': 'cross-site' },
  ]
  const ask = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type,idempotency-key',
    host: '127.0.0.1:4310',
  }
  const preflight = (headers: Headers) =>
    app.inject({ method: 'OPTIONS', url: '/@w/v1/user', headers: { ...ask, ...headers } })
  for (const headers of browsers) {
    const answer = await get('/v1/users', headers)
    t.equal(answer.status, 200)
    t.equal(answer.headers['access-control-allow-origin'], PAGE)
    const granted = await preflight(headers)
    t.equal(granted.statusCode, 204)
    t.equal(granted.headers['access-control-allow-origin'], PAGE)
    t.match(granted.headers['access-control-allow-methods'], /POST/)
    t.equal(granted.headers['access-control-allow-headers'], ask['access-control-request-headers'])
    const admin = await get('/__admin/clock', headers)
    t.equal(admin.status, 403, 'never the admin API')
    t.notOk('access-control-allow-origin' in admin.headers)
  }
  for (const headers of [...REFUSED, { origin: `${PAGE}.evil.com` }, { origin: `${PAGE}/` }]) {
    t.equal((await get('/v1/users', headers)).status, 403)
    t.equal((await post('/@w/v1/user', {}, headers)).status, 403)
    t.equal((await preflight(headers)).statusCode, 403)
  }
  for (const headers of ANSWERED) t.equal((await get('/v1/users', headers)).status, 200)
})

t.test('a percent-encoded path is no way around the guard', async (t) => {
  const { get, sandbox } = await start(t)
  const evil = { origin: 'http://evil.example', 'sec-fetch-site': 'cross-site' }
  for (const path of ['/%761/users', '/%76%31/users', '/@w/v%31/users', '/__%61dmin/clock']) {
    t.equal((await get(path)).status, 200, `${path} is another spelling`)
    t.equal((await get(path.replace('@w', '@evil'), evil)).body.error, 'cross_site_rejected', path)
  }
  t.notOk(sandbox.clients.has('evil'))
  t.equal((await get('/__admin/requests')).body.total, 2, 'the service logs its own calls')
  t.equal((await get('/v1%2Fusers')).status, 404)
})

t.test('a link of another site opens the pages, for they are only HTML', async (t) => {
  const { app } = await start(t)
  const headers = { host: '127.0.0.1:4310', 'sec-fetch-site': 'cross-site' }
  for (const url of ['/docs', '/docs/page.js', '/openapi.json', '/@w/__admin'])
    t.match((await app.inject({ url, headers })).statusCode, /200|308/, url)
  t.equal((await app.inject({ url: '/__admin/openapi.json', headers })).statusCode, 403)
})
