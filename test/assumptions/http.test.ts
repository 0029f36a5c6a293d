import t from 'tap'
import { start } from '../helper.ts'

t.test('rate_limit: a bucket on the client’s clock', async (t) => {
  const { get, post, advance } = await start(t, { assume: { rate_limit: '3/minute' } })
  const users = async (count: number, base = '') => {
    const statuses = []
    for (let i = 0; i < count; i++) statuses.push((await get(`${base}/v1/users`)).status)
    return statuses
  }
  t.strictSame(await users(4), [200, 200, 200, 429])
  const { body, headers } = await get('/v1/users')
  t.equal(body.error, 'rate_limited')
  t.equal(headers['retry-after'], '20')
  t.strictSame(await users(4, '/@other'), [200, 200, 200, 429], 'each client has its own')
  t.equal((await get('/__admin/clock')).status, 200, 'the admin API has no limit')
  await advance('19.5s')
  t.equal((await get('/v1/users')).headers['retry-after'], '1')
  await advance('500ms')
  t.strictSame(await users(2), [200, 429])
  await advance('1h')
  t.strictSame(await users(4), [200, 200, 200, 429], 'a full bucket has no more than N')
  await post('/__admin/clock/freeze', { at: '2025-01-01T00:00:00.000Z' })
  t.strictSame(await users(1), [429])
  await advance('20s')
  t.strictSame(await users(2), [200, 429], 'also after the clock was set back')
  await post('/__admin/reset', { parts: ['data'] })
  t.strictSame(await users(4), [200, 200, 200, 429], 'a reset fills it')
  const { body: log } = await get('/__admin/requests?limit=1')
  t.match(log.requests[0], { status: 429 }, 'rejected calls are in the log')
})

const respond = (respond: object) => ({
  definition: { rules: [{ when: { operation: 'listUsers' }, then: { respond } }] },
})

t.test('error_body message_only: a message and nothing else, for each error of /v1', async (t) => {
  const { get, post, put } = await start(t, { assume: { error_body: 'message_only' } })
  await put('/__admin/scenario', respond({ status: 503 }))
  for (const [answer, status, message] of [
    [await get('/v1/user/x'), 400, /uuid|UUID|id/],
    [await post('/v1/user', 'no json', { 'content-type': 'application/json' }), 400, /JSON/],
    [await get('/v1/client/profile'), 401, /token/],
    [await get('/v1/nothing'), 404, /no route/],
    [await get('/v1/users'), 503, /down/],
  ] as const) {
    t.equal(answer.status, status)
    t.match(answer.headers['content-type'], 'application/json')
    t.strictSame(Object.keys(answer.body), ['message'])
    t.match(answer.body.message, message)
  }
  t.equal((await get('/__admin/nothing')).body.error, 'not_found')
  t.equal((await get('/nothing')).body.error, 'not_found')
})

t.test('error_body html: a page, also for a scenario and an unknown client', async (t) => {
  const { get, put } = await start(t, { assume: { error_body: 'html' } })
  await put('/__admin/scenario', respond({ status: 502 }))
  for (const [path, status] of [
    ['/v1/user/%3Cb%3E', 400],
    ['/v1/users', 502],
    ['/@Not.A.Name/v1/users', 404],
  ] as const) {
    const answer = await get(path)
    t.equal(answer.status, status)
    t.equal(answer.headers['content-type'], 'text/html; charset=utf-8')
    t.match(answer.text, `<h1>Error ${status}</h1>`)
    t.notMatch(answer.text, /<b>/)
  }
  t.equal((await get('/__admin/nothing')).body.error, 'not_found')
  t.match((await get('/__admin/requests?limit=2')).body.requests, [
    { status: 404 },
    { status: 502 },
  ])
})

t.test('error_body: each client has its own, and a scenario can send its own body', async (t) => {
  const { get, post, put } = await start(t, { assume: { error_body: 'html' } })
  await post('/__admin/clients', { name: 'json', assume: { error_body: 'envelope' } })
  t.equal((await get('/@json/v1/nothing')).body.error, 'not_found')
  await put('/__admin/scenario', respond({ status: 500, body: { mine: true } }))
  const { headers, body } = await get('/v1/users')
  t.match(headers['content-type'], 'application/json')
  t.strictSame(body, { mine: true })
})
