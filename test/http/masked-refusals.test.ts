import t from 'tap'
import { AADHAAR, ASHA, start } from '../helper.ts'

const SECRET = 'sbx_Live_q7k2m9x4'
const HOOK_SECRET = 'whsec_c2VjcmV0LW9mLWEtdGVzdA=='
/** Of an Aadhaar. */
const NUMBER = '987654321098'
const PAN = 'ABCPX1234Z'
const SPACED = '1234 5678 9012'
const IFSC = 'HDFC0001234'
const SHORT = 87654321

type Call = [method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, body?: unknown]

t.test('an error repeats no secret of a request, wherever it was', async (t) => {
  const { call } = await start(t)
  const definition = { rules: [{ [SECRET]: 1, when: { operation: 'createUser' }, then: {} }] }
  const table: Call[] = [
    ['POST', '/v1/user', { email: SECRET, mobile: SECRET }],
    ['GET', `/v1/users?page=${SECRET}`],
    ['GET', `/v1/nowhere/${SECRET}`],
    ['POST', '/v1/clientWebhook', { url: 'http://127.0.0.1:9/', webhook_secret: SHORT }],
    ['POST', '/v1/clientWebhook', { url: `ftp://a/?token=${NUMBER}`, webhook_secret: 'x' }],
    ['POST', '/v1/clientWebhook', { url: HOOK_SECRET, webhook_secret: 'x' }],
    ['PUT', '/__admin/scenario', { name: SECRET }],
    ['PUT', '/__admin/scenario', { definition }],
    ['POST', '/__admin/clients', { name: 'x', access_token: [NUMBER] }],
    ['POST', '/__admin/clients', { name: 'x', clock: `Bearer ${NUMBER}` }],
    ['GET', `/__admin/clock?${SECRET}=1`],
    ['DELETE', `/__admin/rules/${SECRET}`],
    ['GET', `/__admin/webhooks/deliveries/${SECRET}`],
  ]
  for (const [method, url, body] of table) {
    const { status, text } = await call(method, url, body)
    t.ok(status === 400 || status === 404, `${method} ${url}: ${status}`)
    for (const value of [SECRET, HOOK_SECRET, NUMBER, String(SHORT)])
      t.notOk(text.includes(value), text)
  }
})

t.test('an error shows its caller a malformed number', async (t) => {
  const { call } = await start(t)
  const bank = { user_id: ASHA, ifsc_code: 'HDFC0001234' }
  const table: [...Call, string][] = [
    ['GET', `/v1/users?page=${encodeURIComponent(SPACED)}`, undefined, SPACED],
    ['GET', `/v1/user/${IFSC}`, undefined, IFSC],
    ['GET', `/v1/nowhere/${IFSC}`, undefined, IFSC],
    ['POST', '/v1/bank', { user_id: ASHA, account_number: SHORT, ifsc_code: 'x' }, String(SHORT)],
    ['POST', '/v1/kyc', { user_id: ASHA, kyc: [{ document_number: SHORT }] }, String(SHORT)],
    ['POST', '/v1/transaction', { amount: 0.30000000000000004 }, '0.30000000000000004'],
    ['POST', '/v1/transaction', { amount: 100000000000 }, '100000000000'],
    ['POST', '/v1/transaction', { amount: '100000000000' }, '100000000000'],
    ['POST', '/v1/transaction', { reference_id: 123456789012 }, '123456789012'],
    ['POST', '/v1/transaction', { from_user_id: ASHA.slice(0, -1) }, ASHA.slice(0, -1)],
    ['POST', '/v1/bank', { ...bank, account_number: '9999-12345678' }, '9999-12345678'],
    ['POST', '/v1/bank', { ...bank, account_number: '99 9912345678' }, '99 9912345678'],
    ['POST', '/v1/user', { email: 'x', mobile: '98765432101' }, '98765432101'],
    ['POST', '/v1/user', { email: 'x', mobile: 919876543210 }, '919876543210'],
    ['POST', '/v1/user', { email: '987654321098@a', mobile: '1' }, '987654321098@a'],
    ['POST', '/v1/user', { email: 'abcpx1234z', mobile: '1' }, 'abcpx1234z'],
    ['POST', '/__admin/wait', { timeout_ms: 999999999999 }, '999999999999'],
    [
      'PUT',
      '/__admin/scenario',
      {
        definition: {
          title: 'x',
          rules: [{ when: { body: { account_number: 999912345678 } }, then: { delay: '1s' } }],
        },
      },
      'put 999912345678 in quotes',
    ],
  ]
  for (const [method, url, body, value] of table) {
    const { status, text } = await call(method, url, body)
    t.ok(status === 400 || status === 404, `${method} ${url}: ${status}`)
    t.ok(text.includes(value), text)
  }
})

t.test('an error masks a well-formed number as responses do', async (t) => {
  const { call } = await start(t)
  const account = Number('999912345678')
  const masked = 'XXXXXXXX5678'
  const kyc = (more: object) => ({
    user_id: ASHA,
    kyc: [{ ...AADHAAR, document_number: NUMBER, ...more }],
  })
  const table: [...Call, string][] = [
    ['POST', '/v1/bank', { user_id: ASHA, account_number: account }, masked],
    ['POST', '/v1/bank', { user_id: ASHA, account_number: 'x y', ifsc_code: `${account}` }, masked],
    ['POST', '/v1/kyc', kyc({ document_number: Number(NUMBER) }), 'XXXXXXXX1098'],
    ['POST', '/v1/kyc', kyc({ dateOfBirth: PAN }), 'XXXXXX234Z'],
    ['POST', '/v1/user', { email: PAN, mobile: '1' }, 'XXXXXX234Z'],
    ['POST', '/v1/user', { email: `PAN ${PAN}.`, mobile: '1' }, 'PAN XXXXXX234Z.'],
    ['POST', '/v1/transaction', { from_user_id: NUMBER }, 'XXXXXXXX1098'],
    ['GET', `/v1/user/${PAN}`, undefined, 'XXXXXX234Z'],
    ['GET', `/v1/bank/${account}`, undefined, masked],
    ['GET', `/v1/nowhere/${account}`, undefined, masked],
    ['POST', '/__admin/clients', { name: 'x', [PAN]: 1 }, 'XXXXXX234Z'],
    ['POST', '/__admin/clients', { name: 'x', from: { client: NUMBER } }, 'XXXXXXXX1098'],
    ['POST', `/__admin/snapshots/${NUMBER}/restore`, undefined, 'XXXXXXXX1098'],
  ]
  for (const [method, url, body, value] of table) {
    const { status, text } = await call(method, url, body)
    t.ok(status === 400 || status === 404, `${method} ${url}: ${status}`)
    t.ok(text.includes(value), text)
    for (const number of [NUMBER, PAN, String(account)]) t.notOk(text.includes(number), text)
  }
  const strict = await start(t, {
    assume: { kyc_bad_document: 'call_fails', malformed_id: 'not_found' },
  })
  const { body } = await strict.post('/v1/kyc', kyc({ document_type: NUMBER }))
  t.match(body.message, 'document_type must be one of pid, tid; found "XXXXXXXX1098"')
  t.match((await strict.get(`/v1/user/${NUMBER}`)).body.message, 'No user XXXXXXXX1098')

  // Responses show a mobile in full, so errors do too.
  const user = { email: 'new@example.com', mobile: '9876543299' }
  const guarded = await start(t, { assume: { duplicate_user: 'conflict' } })
  t.equal((await guarded.post('/v1/user', user)).status, 201)
  const { message } = (await guarded.post('/v1/user', user)).body
  t.match(message, 'The email new@example.com belongs')
  const other = (await guarded.post('/v1/user', { ...user, email: 'other@example.com' })).body
  t.match(other.message, 'The mobile 9876543299 belongs')
})

t.test('a truncated text contains no part of a longer number', async (t) => {
  const { call, get } = await start(t)
  const page = `${'x'.repeat(34)}${NUMBER}`
  const { body } = await call('GET', `/v1/users?page=${page}`)
  t.match(body.message, `found "${'x'.repeat(34)}…"`)
  const long = `${NUMBER.repeat(5)}`
  t.match((await call('GET', `/v1/users?page=${long}x`)).body.message, `"${long.slice(0, 40)}…"`)
  t.notMatch((await get('/__admin/requests')).text, '98765')
})

t.test('the inbox stores headers masked, except for the webhook headers', async (t) => {
  const { call, get } = await start(t)
  await call('POST', '/__admin/webhooks/inbox', {}, { 'user-agent': `hook ${NUMBER}` })
  const { body } = await get('/__admin/webhooks/inbox')
  t.equal(body.messages[0].headers['user-agent'], 'hook XXXXXXXX1098')
})
