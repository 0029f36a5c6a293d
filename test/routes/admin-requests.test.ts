import t, { type Test } from 'tap'
import {
  AADHAAR,
  type Answer,
  ASHA,
  GUARDED,
  HONOURED,
  KABIR,
  PAN,
  pluck,
  ROHAN,
  start,
  TOKEN,
} from '../helper.ts'
import { manualTime } from '../manual-time.ts'

type Box = Awaited<ReturnType<typeof start>>
const USER = { email: 'nila@example.com', mobile: '9876500001' }
const list = async ({ get }: Box, query = '', base = '') =>
  (await get(`${base}/__admin/requests${query}`)).body
/** The errors of a response, each as `field code: message`. */
const errorsOf = ({ errors }: Answer['body']): string[] =>
  errors.map(({ field, code, message }: Record<string, string>) => `${field} ${code}: ${message}`)
const verify = ({ post }: Box, body: object) => post('/__admin/requests/verify', body)

t.test('a call is in the log with all that is known of it', async (t) => {
  const box = await start(t)
  const body = { ...USER, extra: [1] }
  const sent = await box.post('/v1/user?a=1&a=2', body, { 'x-test': 'yes', ...TOKEN })
  const { total, dropped, requests } = await list(box)
  t.strictSame([total, dropped], [1, 0])
  const [{ wall_at, duration_ms: durationMs, headers, response: answer, ...rest }] = requests
  t.strictSame(rest, {
    request_id: 'req_1',
    amount: null,
    reference_id: null,
    reason: null,
    at: '2026-01-01T00:00:00.000Z',
    method: 'POST',
    path: '/v1/user',
    by: 'code',
    query: { a: ['1', '2'] },
    operation: 'createUser',
    body: { email: 'nila@example.com', mobile: 'XXXXXX0001', extra: [1] },
    body_size: JSON.stringify(body).length,
    status: 201,
    response_size: sent.text.length,
    rule: null,
    fault: null,
    replayed: false,
  })
  t.ok(Math.abs(Date.parse(wall_at) - Date.now()) < 60_000, 'the wall clock, not the client’s')
  t.ok(durationMs > 0 && durationMs < 10_000)
  t.equal(headers['x-test'], 'yes')
  t.equal(headers.authorization, 'XXXX')
  t.equal(answer.data.user_id, sent.body.data.user_id, 'ids are not masked')
  t.notMatch(sent.text, 'XXXXXX0001', 'what was sent is not touched')
})

t.test('refused calls are in the log, each as what it was', async (t) => {
  const box = await start(t)
  const { call, get, post } = box
  await get('/v1/nothing?x=1')
  await call('PATCH', `/v1/user/${ASHA}`)
  await post('/v1/user', { email: 'no' })
  await post('/v1/user', '{"email": ', { 'content-type': 'application/json' })
  await post('/v1/user', 'a=b', { 'content-type': 'text/plain' })
  await get('/v1/user/not-an-id')
  await get('/v1/transaction/history')
  await get(`/v1/user/${ASHA.replace(/1$/, 'f')}`)
  await post('/v1/user', { pad: 'x'.repeat(1024 * 1024) })
  await get('/v1/user/%zz')
  const { requests } = await list(box)
  t.strictSame(
    requests
      .reverse()
      .map((one: Record<string, unknown>) => [one.method, one.path, one.operation, one.status]),
    [
      ['GET', '/v1/nothing', null, 404],
      ['PATCH', `/v1/user/${ASHA}`, null, 405],
      ['POST', '/v1/user', 'createUser', 400],
      ['POST', '/v1/user', 'createUser', 400],
      ['POST', '/v1/user', 'createUser', 415],
      ['GET', '/v1/user/not-an-id', 'getUser', 400],
      ['GET', '/v1/transaction/history', 'listTransactionHistory', 401],
      ['GET', `/v1/user/${ASHA.replace(/1$/, 'f')}`, 'getUser', 404],
      ['POST', '/v1/user', 'createUser', 413],
      ['GET', '/v1/user/%zz', null, 400],
    ],
  )
  t.strictSame(requests[2].body, { email: 'no' })
  t.strictSame(
    [requests[3].body, requests[3].body_size],
    [null, 10],
    'what is no JSON is not shown',
  )
  t.equal(requests[0].response.error, 'not_found')
  t.equal(requests[0].reason, requests[0].response.message)
})

t.test('what reached the port is in a log, but not the admin API and other pages', async (t) => {
  const box = await start(t)
  const unknown = { authorization: 'Bearer who' }
  await box.get('/v1/users', unknown)
  await box.get('/@second/v1/users', unknown)
  await box.get('/@nobody-yet/v1/nothing')
  await box.post('/transaction', {})
  await box.get('/v1/users', { host: 'evil.example.com' })
  await box.get('/__admin/clock')
  await box.get('/__admin/nothing')
  await box.call('GET', '/openapi.json')
  const shown = ({ path, status }: Answer['body']) => `${path} ${status}`
  t.strictSame((await list(box)).requests.map(shown), [
    '/transaction 404',
    '/v1/nothing 404',
    '/v1/users 401',
  ])
  const second = await box.get('/@second/__admin/requests')
  t.strictSame(second.body.requests.map(shown), ['/v1/users 401'])
  t.notOk(box.sandbox.clients.has('nobody-yet'), 'a refused call makes no client')
})

t.test('the log says who called, and the summary counts the calls of your code', async (t) => {
  const box = await start(t)
  const timeline = [{ after: '1s', do: { call: 'createUser' } }]
  await box.put('/__admin/scenario', { definition: { timeline } })
  await box.get('/v1/users')
  await box.get('/v1/users', { 'sec-fetch-site': 'same-origin', host: 'localhost' })
  await box.get('/v1/users', { 'user-agent': 'payout-sandbox mcp' })
  await box.advance('1s')
  t.strictSame(pluck((await list(box)).requests, 'by'), ['scenario', 'agent', 'console', 'code'])
  t.strictSame(pluck((await list(box, '?by=code')).requests, 'request_id'), ['req_1'])
  t.equal((await box.get('/__admin/summary')).body.calls.all, 1)
})

t.test('the log shows rules, delays, faults and replays', async (t) => {
  const time = manualTime()
  const box = await start(t, { ...HONOURED, sandbox: { runtime: time.runtime } })
  const { post, get, pay } = box
  const rule = (name: string, operation: string, then: object) =>
    post('/__admin/rules', { name, when: { operation }, then, times: 1 })
  await rule('down', 'getUser', { respond: { status: 503 } })
  await get(`/v1/user/${ASHA}`)
  await rule('slow', 'listUsers', { delay: '2s' })
  const slow = get('/v1/users')
  await time.waiting()
  time.pass('2s')
  await slow
  await rule('spoilt', 'listTransactions', { fault: 'malformed' })
  await box.app.inject({ method: 'GET', url: '/v1/transaction', headers: { host: 'localhost' } })
  await pay({ reference_id: 'r1' }, { 'idempotency-key': 'k' })
  await pay({ reference_id: 'r1' }, { 'idempotency-key': 'k' })
  const { requests } = await list(box)
  const [replayed, paid, spoilt, late, down] = requests
  t.match(down, { status: 503, rule: /rule:rul_\d+: down$/, fault: null, operation: 'getUser' })
  t.match(late, { status: 200, rule: /: slow$/, at: '2026-01-01T00:00:00.000Z' }, 'when it came')
  t.match(spoilt, { status: 200, rule: /: spoilt$/, fault: 'malformed' })
  t.match(paid, { status: 200, rule: null, replayed: false })
  t.match(replayed, { status: 200, replayed: true })
  t.strictSame(replayed.response, paid.response)
})

t.test('the list is newest first, and its filters hold together', async (t) => {
  const box = await start(t, GUARDED)
  await box.get('/v1/users')
  await box.get(`/v1/user/${ASHA}`)
  await box.post('/v1/user', USER)
  await box.post('/v1/user', USER)
  const ids = async (query: string) => pluck((await list(box, query)).requests, 'request_id')
  t.strictSame(await ids(''), ['req_4', 'req_3', 'req_2', 'req_1'])
  t.strictSame(await ids('?limit=1'), ['req_4'])
  t.equal((await list(box, '?limit=1')).total, 4)
  t.strictSame(await ids('?operation=listUsers'), ['req_1'])
  t.strictSame(await ids('?method=get'), ['req_2', 'req_1'])
  t.strictSame(await ids(`?path=/v1/user/${ASHA}`), ['req_2'])
  t.strictSame(await ids('?path=/v1/user&status=409'), ['req_4'])
  for (const query of ['?status=999', '?limit=0', '?limit=x', '?cursor=4', '?cursor=req_x'])
    t.equal((await box.get(`/__admin/requests${query}`)).status, 400, query)
})

t.test('DELETE and a reset of requests empty the log and leave the rest', async (t) => {
  const box = await start(t)
  await box.post('/v1/user', USER)
  t.strictSame((await box.call('DELETE', '/__admin/requests')).body, { deleted: 1 })
  t.equal((await list(box)).total, 0)
  await box.get('/v1/users')
  t.equal((await list(box)).requests[0].request_id, 'req_2', 'ids are not used again')
  t.strictSame((await box.post('/__admin/reset', { parts: ['data'] })).status, 200)
  t.equal((await list(box)).total, 1, 'a reset of something else keeps it')
  const user = (await box.post('/v1/user', USER)).body.data.user_id
  await box.post('/__admin/reset', { parts: ['requests'] })
  t.equal((await list(box)).total, 0)
  t.equal((await box.get(`/v1/user/${user}`)).status, 200, 'and keeps all else')
  await box.post('/__admin/reset')
  t.equal((await list(box)).total, 0)
})

/** The ids of each page of a list, read until its last one. */
async function pagesOf(t: Test, read: (cursor: object) => Promise<Answer>): Promise<string[][]> {
  const pages: string[][] = []
  for (let cursor = {}; ; ) {
    const { status, text, body } = await read(cursor)
    t.equal(status, 200)
    t.ok(Buffer.byteLength(text) < 1_001_000, `a page has ${Buffer.byteLength(text)} bytes`)
    pages.push(pluck(body.requests, 'request_id'))
    if (body.next === null) return pages
    cursor = { cursor: body.next }
  }
}
const BIG = '₹'.repeat(20_000)

t.test('a page of the log ends at about 1 MB, and next continues behind it', async (t) => {
  const box = await start(t)
  for (let i = 0; i < 20; i++) await box.post('/v1/user', { pad: BIG })
  const pages = await pagesOf(t, (cursor) =>
    box.get(`/__admin/requests?${new URLSearchParams({ limit: '100', ...cursor })}`),
  )
  const wanted = Array.from({ length: 20 }, (_, i) => `req_${20 - i}`)
  t.strictSame(pages, [wanted.slice(0, 16), wanted.slice(16)])
  const { requests } = await list(box, '?limit=100')
  for (const { body } of requests) t.equal(body.pad, BIG, 'no body is cut')
})

t.test('find has pages too, and a call that comes between two of them moves nothing', async (t) => {
  const box = await start(t)
  for (let i = 0; i < 5; i++) await box.post('/v1/user', {})
  const pages = await pagesOf(t, async (cursor) => {
    await box.post('/v1/user', {})
    const match = { operation: 'createUser' }
    return box.post('/__admin/requests/find', { match, limit: 2, ...cursor })
  })
  t.strictSame(pages, [
    ['req_6', 'req_5'],
    ['req_4', 'req_3'],
    ['req_2', 'req_1'],
  ])
  t.equal((await box.post('/__admin/requests/find', { cursor: 'x' })).status, 400)
})

t.test('the log holds 1,000 calls, and says how many it dropped', async (t) => {
  const box = await start(t)
  for (let i = 0; i < 1_010; i++) await box.get(`/v1/user/${ASHA}`)
  const { total, dropped, requests, next } = await list(box, '?limit=1000')
  t.strictSame([total, dropped, requests.length], [1_000, 10, 100], 'a page has at most 100')
  t.equal(next, 'req_911')
  t.match(await list(box, '?cursor=req_12'), {
    requests: [{ request_id: 'req_11' }],
    next: null,
    total: 1_000,
  })
  const { body } = await verify(box, { match: { operation: 'getUser' }, exactly: 1_010 })
  t.match(
    body.message,
    'found 1000 (1000 calls in the log of the default client). The log has discarded 10 older calls.',
  )
  // The calls of a scenario have their own places.
  const timeline = [{ every: '1s', times: 1_100, do: { call: 'getKyc' } }]
  await box.put('/__admin/scenario', { definition: { timeline } })
  await box.advance('1h')
  const played = await list(box, '?by=scenario')
  t.strictSame([played.total, played.dropped], [1_000, 110])
  t.equal((await list(box, '?by=code')).requests[0].request_id, 'req_1010')
})

t.test('find and count take the conditions of rules, and method, path and status', async (t) => {
  const box = await start(t, GUARDED)
  await box.pay({ amount: 250.5, reference_id: 'A-1' }, { 'x-test': 'one' })
  await box.pay({ amount: 99, reference_id: 'A-2' })
  await box.pay({ amount: 99, reference_id: 'A-2' })
  await box.get(`/v1/user/${ASHA}`)
  await box.get('/v1/users?page=2')
  await box.post('/v1/kyc', {
    user_id: KABIR,
    kyc: [
      { ...PAN, document_number: 'ABCPX1234Z' },
      { ...AADHAAR, nameOnCard: 'L' },
    ],
  })
  const cases: [object, number][] = [
    [{}, 6],
    [{ operation: '*' }, 6],
    [{ operation: 'createTransaction' }, 3],
    [{ operation: { in: ['getUser', 'listUsers'] } }, 2],
    [{ operation: 'createTransaction', status: 200 }, 2],
    [{ status: { gte: 400 } }, 1],
    [{ method: 'GET' }, 2],
    [{ path: '/v1/users' }, 1],
    [{ path: { starts_with: '/v1/user' } }, 2],
    [{ body: { amount: { gte: 100 } } }, 1],
    [{ body: { amount: '250.50' } }, 1],
    [{ body: { reference_id: { starts_with: 'A-' } } }, 3],
    [{ headers: { 'X-Test': 'one' } }, 1],
    [{ headers: { 'x-test': { absent: true } } }, 5],
    [{ query: { page: 2 } }, 1],
    [{ params: { userId: ASHA } }, 1],
    [{ user: { user_id: ASHA } }, 4],
    [{ account: { user_id: ROHAN } }, 3],
    [{ item: { document_number: 'ABCPX1234Z' } }, 1],
    [{ item: { document_number: 'ABCPX1234Z', nameOnCard: 'L' }, operation: 'submitKyc' }, 0],
    [{ item: { document_type: 'pid', nameOnCard: 'L' }, operation: 'submitKyc' }, 1],
  ]
  for (const [match, wanted] of cases) {
    const given = 'item' in match ? { operation: 'submitKyc', ...match } : match
    const { body } = await box.post('/__admin/requests/count', { match: given })
    t.strictSame(body, { count: wanted }, JSON.stringify(match))
    const found = (await box.post('/__admin/requests/find', { match: given, limit: 1 })).body
    t.equal(found.total, wanted)
    t.equal(found.requests.length, Math.min(wanted, 1))
  }
  t.equal((await box.post('/__admin/requests/count')).body.count, 6, 'without a body: all')
})

t.test('a match that cannot be is refused with its place and a suggestion', async (t) => {
  const box = await start(t)
  const cases: [unknown, string, RegExp][] = [
    [{ opration: 'getUser' }, 'opration', /did you mean "operation"/],
    [{ operation: 'getUsr' }, 'operation', /getUser/],
    [{ body: { amount: { gthe: 1 } } }, 'body.amount.gthe', /operator/],
    [{ body: { account_number: 123 } }, 'body.account_number', /quotes/],
    [{ headers: { a: { matches: '(' } } }, 'headers.a.matches', /./],
    [{ path: { matches: '(' } }, 'path.matches', /./],
    [{ status: { foo: 1 } }, 'status', /gte/],
    [{ status: 'x' }, 'status', /./],
    [{ method: 'get' }, 'method', /GET/],
    [{ params: { id: 1 } }, 'params.id', /./],
  ]
  for (const [match, field, message] of cases) {
    for (const call of ['find', 'count', 'verify']) {
      const { status, body } = await box.post(`/__admin/requests/${call}`, { match })
      t.equal(status, 400, JSON.stringify(match))
      t.equal(body.error, 'validation_failed')
      t.match(body.errors, [{ field, message }], JSON.stringify(match))
    }
  }
})

t.test('verify takes an order of calls, and says where it broke', async (t) => {
  const box = await start(t)
  const sequence = (...steps: object[]) => verify(box, { sequence: steps })
  const [user, kyc] = [{ operation: 'createUser' }, { operation: 'getKyc' }]
  const pay = { operation: 'createTransaction' }
  t.match((await sequence(user)).body, {
    message: 'Step 1 of 1, {"operation":"createUser"}, did not come. The log is empty.',
    errors: [],
  })
  await box.post('/v1/user', USER)
  await box.get(`/v1/kyc/${ASHA}`)
  await box.pay({ amount: 5 })
  await box.get(`/v1/kyc/${ASHA}`)
  for (const steps of [
    [user],
    [user, kyc, pay],
    [kyc, kyc],
    [{}, {}, {}, {}],
    [user, { body: { amount: { gt: 4 } } }, { status: 200 }],
  ])
    t.match((await sequence(...steps)).body, { verified: true, count: steps.length })
  const early = (await sequence(pay, user)).body
  t.strictSame(
    { ...early, errors: errorsOf(early) },
    {
      status: false,
      code: 409,
      error: 'verification_failed',
      message: `Step 2 of 2, {"operation":"createUser"}, did not come after req_3 POST /v1/transaction, which is step 1. Then came req_4 GET /v1/kyc/${ASHA}. It came too early: req_1 POST /v1/user. Closest: req_4 GET /v1/kyc/${ASHA}: operation: expected "createUser", found "getKyc".`,
      data: null,
      errors: [
        'req_1 too_early: req_1 POST /v1/user matches sequence[1], but came too early',
        `sequence[1].operation differs: req_4 GET /v1/kyc/${ASHA}: expected "createUser", found "getKyc"`,
      ],
    },
  )
  t.match((await sequence(user, { ...pay, body: { amount: 6 } }, kyc)).body, {
    message:
      /^Step 2 of 3, .+, did not come after req_1 POST \S+, which is step 1\. Then came req_2 GET \S+, and 2 more calls\. Closest: req_3 POST \/v1\/transaction: body\.amount: expected 6, found 5\.$/,
  })
  const twice = (await sequence(pay, pay)).body
  t.match(twice.message, /^Step 2 of 2, .+, did not come after req_3 /)
  t.notMatch(twice.message, 'too early', 'a call is one step only')
  t.match((await sequence(kyc, kyc, kyc)).body.message, ' No call came after it.')
  t.match(
    (await sequence({ ...pay, body: { amount: 7 } }, kyc)).body.message,
    / Instead came req_1 /,
  )
  for (const [bad, field] of [
    [{ sequence: [] }, 'sequence'],
    [{ sequence: [user], match: {} }, 'sequence'],
    [{ sequence: [user], exactly: 1 }, 'sequence'],
    [{ sequence: [user, { operation: 'pay' }] }, 'sequence[1].operation'],
    [{ sequence: [{ bodi: {} }] }, 'sequence[0].bodi'],
  ] as const)
    t.match(await verify(box, bad), { status: 400, body: { errors: [{ field }] } })
})

t.test('verify compares the count with the wanted one', async (t) => {
  const box = await start(t)
  await box.get('/v1/users')
  await box.get('/v1/users')
  const match = { operation: 'listUsers' }
  const verified = { status: 200, body: { verified: true, count: 2 } }
  const failed = { status: 409, body: { error: 'verification_failed' } }
  const met = [{}, { exactly: 2 }, { at_least: 2 }, { at_most: 2 }, { at_least: 1, at_most: 3 }]
  const unmet = [{ exactly: 1 }, { exactly: 3 }, { at_least: 3 }, { at_most: 1 }, { exactly: 0 }]
  for (const wanted of [...met, ...unmet]) {
    const found = met.includes(wanted) ? verified : failed
    t.match(await verify(box, { match, ...wanted }), found, JSON.stringify(wanted))
  }
  t.equal((await verify(box, { match: { operation: 'getUser' } })).status, 409, 'one at least')
  t.equal((await verify(box, { match: { operation: 'getUser' }, exactly: 0 })).status, 200)
  for (const bad of [
    { exactly: 1, at_least: 1 },
    { at_least: 2, at_most: 1 },
    { exactly: -1 },
    { exakt: 1 },
  ])
    t.equal((await verify(box, { match, ...bad })).status, 400, JSON.stringify(bad))
  const many = (await verify(box, { match, at_most: 1 })).body
  t.match(errorsOf(many), [/^req_2 unexpected: /, /^req_1 unexpected: /], 'those that match')
})

t.test('the nearest misses say which part differs', async (t) => {
  const box = await start(t)
  t.match((await verify(box, { match: {} })).body.message, 'The log is empty.')
  await box.get('/v1/users')
  await box.pay({ amount: 99, reference_id: 'A-1' })
  await box.pay({ amount: 250, reference_id: 'A-2' }, { 'x-test': 'on' })
  await box.pay({ amount: 250, reference_id: 'A-3' })
  const { body } = await verify(box, {
    match: {
      operation: 'createTransaction',
      status: 200,
      headers: { 'x-test': 'on' },
      body: { amount: { gt: 100 }, reference_id: 'A-1' },
    },
  })
  t.match(
    body.message,
    /^Expected at least 1 matching call, found 0 \(4 calls in the log of the default client\)\. Closest: req_3 POST \/v1\/transaction: body\.reference_id: expected "A-1", found "A-2"\.$/,
  )
  t.strictSame(errorsOf(body), [
    'body.reference_id differs: req_3 POST /v1/transaction: expected "A-1", found "A-2"',
    'headers.x-test differs: req_4 POST /v1/transaction: expected "on", found nothing',
    'body.reference_id differs: req_4 POST /v1/transaction: expected "A-1", found "A-3"',
    'headers.x-test differs: req_2 POST /v1/transaction: expected "on", found nothing',
    'body.amount differs: req_2 POST /v1/transaction: expected gt 100, found 99',
  ])
  const other = (
    await verify(box, { match: { operation: 'getUser', status: 404, path: '/x', method: 'PUT' } })
  ).body
  t.strictSame(
    errorsOf(other).filter((error) => error.includes(': req_4')),
    [
      'operation differs: req_4 POST /v1/transaction: expected "getUser", found "createTransaction"',
      'method differs: req_4 POST /v1/transaction: expected "PUT", found "POST"',
      'path differs: req_4 POST /v1/transaction: expected "/x", found "/v1/transaction"',
      'status differs: req_4 POST /v1/transaction: expected 404, found 200',
    ],
  )
})

t.test('a long reference is shown in full, a personal number only as in the match', async (t) => {
  const box = await start(t)
  await box.pay({ reference_id: '202601021234567891' })
  const body = { reference_id: '202601011234567891', account_number: '12345678', token: 'abc' }
  const { errors } = (await verify(box, { match: { operation: 'createTransaction', body } })).body
  t.strictSame(
    errors.map(({ message }: { message: string }) => message.slice('req_1 POST '.length)),
    [
      '/v1/transaction: expected "202601011234567891", found "202601021234567891"',
      '/v1/transaction: expected "12345678", found nothing',
      '/v1/transaction: expected "XXXX", found nothing',
    ],
  )
})

t.test('the log never masks a reference, and masks the numbers beside it', async (t) => {
  const box = await start(t)
  const logged = async () => (await box.get('/__admin/requests')).body.requests[0]
  for (const reference_id of ['123456789012', 'ABCPX1234Z', 'sbx_order_1', 'HDFC0001234']) {
    await box.pay({ reference_id, remark: '999912345678' })
    t.match(await logged(), {
      reference_id,
      body: { reference_id, remark: 'XXXXXXXX5678' },
      response: { data: [{ reference_id, benif_bank: { account_number: 'XXXXXXXX0003' } }] },
    })
    await box.get('/v1/transaction/history?limit=1', TOKEN)
    const { response } = await logged()
    t.equal(response.data.transactions[0].client_transaction_id, reference_id)
    await box.get(`/v1/users?reference_id=${reference_id}`)
    t.equal((await logged()).query.reference_id, reference_id)
  }
  await box.pay()
  await box.get('/v1/transaction/history?limit=1', TOKEN)
  const { response } = await logged()
  t.match(response.data.transactions[0].client_transaction_id, /^TXN\d{15}$/)
})

t.test('the closest document of a KYC call is the one in the error', async (t) => {
  const box = await start(t)
  const item = { ...PAN, document_number: 'ABCPX1234Z', nameOnCard: 'K' }
  await box.post('/v1/kyc', { user_id: KABIR, kyc: [{ ...item, nameOnCard: 'Z' }, item] })
  const { body } = await verify(box, {
    match: { operation: 'submitKyc', item: { nameOnCard: 'K', document_number: 'ABCPX1234Y' } },
  })
  t.strictSame(errorsOf(body), [
    'item.document_number differs: req_1 POST /v1/kyc: expected "ABCPX1234Y", found "XXXXXX234Z"',
  ])
})
