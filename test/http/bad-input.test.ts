import t from 'tap'
import { ASHA, start, TOKEN } from '../helper.ts'

const JSON_BODY = { 'content-type': 'application/json' }
const DEEP = 50_000
const user = (email: string) => `{"email":${email},"mobile":"9876500001"}`

t.test('bad bodies get the documented error and change nothing', async (t) => {
  const { post, get } = await start(t)
  const before = (await get('/v1/users?limit=100')).text
  const table: [name: string, body: string, status: number, headers?: Record<string, string>][] = [
    ['cut', '{"email":"a@exam', 400],
    ['words', 'hello', 400],
    ['empty', '', 400],
    ['null', 'null', 400],
    ['a list', '[]', 400],
    ['__proto__', '{"__proto__":{"a":1},"email":"a@example.com","mobile":"9876500001"}', 400],
    ['NUL', user('"a\\u0000@example.com"'), 400],
    ['lone surrogate', user('"\\ud800@example.com"'), 400],
    ['wrong type', user('{"a":1}'), 400],
    ['huge number', user('1e999'), 400],
    ['nested', '['.repeat(DEEP) + ']'.repeat(DEEP), 400],
    ['nested and cut', '['.repeat(DEEP), 400],
    ['nested field', user('['.repeat(DEEP) + ']'.repeat(DEEP)), 400],
    ['over the limit', user(`"${'a'.repeat(1_048_576)}"`), 413],
    ['packed', user('"a@example.com"'), 415, { ...JSON_BODY, 'content-encoding': 'gzip' }],
    ['plain text', user('"a@example.com"'), 415, { 'content-type': 'text/plain' }],
    ['form', 'email=a', 415, { 'content-type': 'application/x-www-form-urlencoded' }],
  ]
  for (const [name, body, status, headers = JSON_BODY] of table) {
    const answer = await post('/v1/user', body, headers)
    t.equal(answer.status, status, name)
    t.notMatch(answer.text, /\bat .*\.ts:\d|node_modules/, 'no stack')
  }
  t.equal((await get('/v1/users?limit=100')).text, before)
})

t.test('malformed JSON is refused with its line and column, and without its text', async (t) => {
  const { post, put } = await start(t)
  const table: [body: string, at: string | RegExp][] = [
    ['{"email": "a@example.com",\n "mobile": }', /at line 2, column 12: Unexpected token/],
    ['{"email": "a@example.com"', /at line 1, column 26: the text ends too early/],
    ['{\n\n  email: 1}', /at line 3, column 3: /],
    ["{'a': 1}", /at line 1, column 2: /],
    ['{"a": 1,}', /at line 1, column 9: /],
    ['{"secret": "hunter2", "b": tru}', /at line 1, column 31: /],
    [
      '{"a": {"__proto__": 1}}',
      /^The body has a forbidden key, such as __proto__, at line 1, column 8\. Send/,
    ],
  ]
  for (const [body, at] of table)
    for (const answer of [
      await post('/v1/user', body, JSON_BODY),
      await put('/__admin/state', body, JSON_BODY),
    ]) {
      t.match(answer, { status: 400, body: { error: 'malformed_json', message: at } }, body)
      t.notMatch(answer.text, 'hunter2')
    }
})

t.test('an object with a length that cannot be compared is invalid, wherever it is', async (t) => {
  const evil = { length: { toString: 1 } }
  const box = await start(t)
  for (const [method, url, body] of [
    ['POST', '/v1/clientWebhook', { url: evil, webhook_secret: 'secret' }],
    ['POST', '/v1/transaction', { remark: evil }],
    ['POST', '/v1/kyc', { user_id: ASHA, kyc: evil }],
    ['POST', '/__admin/rules', { when: { operation: { in: evil } }, then: { delay: '0s' } }],
    ['POST', '/__admin/reset', { parts: evil }],
    ['PUT', '/__admin/state', { format: evil }],
    ['PUT', '/__admin/state', { format: 2, tables: { users: [evil], timers: [evil] } }],
  ] as const)
    t.equal((await box.call(method, url, body)).status, 400, `${method} ${url}`)
})

t.test('an invalid id of any length gets a short error', async (t) => {
  const { get } = await start(t)
  for (const path of ['user', 'kyc', 'bank', 'transaction', 'transaction/history/user']) {
    const { status, body, text } = await get(`/v1/${path}/${'9'.repeat(15_000)}`, TOKEN)
    t.match({ status, body }, { status: 400, body: { error: 'validation_failed' } }, path)
    t.match(body.errors, [{ code: 'invalid_format', message: /^must be a UUID/ }])
    t.ok(text.length < 600, `${text.length} characters`)
  }
  for (const path of ['user/%00', 'user/%zz', 'users?page=1&page=2'])
    t.equal((await get(`/v1/${path}`)).status, 400, path)
})

t.test('a missing body is reported', async (t) => {
  const { post, put } = await start(t)
  const missing = {
    error: 'validation_failed',
    message: 'The body is missing or null. Send a JSON object with Content-Type: application/json.',
    errors: [{ field: 'body', code: 'required', message: 'is required' }],
  }
  for (const path of ['/v1/user', '/v1/kyc', '/v1/bank', '/v1/transaction', '/v1/clientWebhook']) {
    t.match(await post(path), { status: 400, body: missing }, path)
    t.match(await post(path, '', JSON_BODY), { status: 400, body: missing }, path)
    t.match(await post(path, 'null', JSON_BODY), { status: 400, body: missing }, path)
  }
  t.match(await put('/v1/clientWebhook'), { status: 400, body: missing })
  t.match(await post('/__admin/clock/speed'), { status: 400, body: missing })
  t.equal((await post('/__admin/clock/freeze')).status, 200, 'where none is needed, none is missed')
})

t.test('an unknown path or method is reported before the body is read', async (t) => {
  const { call } = await start(t)
  const bodies: [string, Record<string, string>?][] = [
    ['{', JSON_BODY],
    ['{"__proto__":1}', JSON_BODY],
    ['plain', { 'content-type': 'text/plain' }],
    ['a=b', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['x', { 'content-type': 'no type at all' }],
    [' '.repeat(2 * 1_048_576), JSON_BODY],
    ['', {}],
  ]
  for (const [body, headers] of bodies) {
    const name = `${headers?.['content-type']} ${body.slice(0, 20)}`
    for (const path of [
      '/v1/nothing',
      '/v1/user/a/b',
      '/nothing',
      '/__admin/nothing',
      '/@w/v1/x',
    ]) {
      const { status, body: response } = await call('POST', path, body, headers)
      t.match(
        { status, response },
        { status: 404, response: { error: 'not_found' } },
        `${path} ${name}`,
      )
    }
    for (const [method, path, allow] of [
      ['PATCH', '/v1/user', 'POST'],
      ['POST', '/v1/users', 'GET, HEAD'],
      ['PUT', '/v1/transaction', 'GET, HEAD, POST'],
      ['POST', '/v1/client/profile', 'GET, HEAD'],
      ['PUT', '/__admin/clock', 'GET, HEAD'],
    ] as const) {
      const answer = await call(method, path, body, headers)
      t.match(answer, { status: 405, body: { error: 'method_not_allowed' } }, `${path} ${name}`)
      t.equal(answer.headers['allow'], allow)
    }
  }
})
