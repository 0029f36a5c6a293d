import t from 'tap'
import { start } from '../helper.ts'

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

t.test('bad paths, queries and methods', async (t) => {
  const { call } = await start(t)
  const table: [method: 'GET' | 'PATCH' | 'DELETE', url: string, status: number[]][] = [
    ['GET', '/v1/user/%00', [400]],
    ['GET', '/v1/user/%zz', [400]],
    ['GET', `/v1/user/${'a'.repeat(1_000)}`, [400]],
    ['GET', `/v1/user/${'a'.repeat(5_000)}`, [400, 414]],
    ['GET', '/v1/users?page=1&page=2', [400]],
    ['GET', '/v1/nothing', [404]],
    ['PATCH', '/v1/users', [405]],
    ['DELETE', '/v1/user', [405]],
  ]
  for (const [method, url, statuses] of table) {
    const { status, headers } = await call(method, url)
    t.ok(statuses.includes(status), `${method} ${url.slice(0, 40)}: ${status}`)
    if (status === 405) t.ok(headers['allow'])
  }
})
