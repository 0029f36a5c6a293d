import t from 'tap'
import { ASHA, start, TOKEN } from '../helper.ts'

const SECRET = 'sbx_Live_q7k2m9x4'
const HOOK_SECRET = 'whsec_c2VjcmV0LW9mLWEtdGVzdA=='
const AADHAAR = '987654321098'
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
    ['POST', '/v1/clientWebhook', { url: `ftp://a/?token=${AADHAAR}`, webhook_secret: 'x' }],
    ['POST', '/v1/clientWebhook', { url: HOOK_SECRET, webhook_secret: 'x' }],
    ['PUT', '/__admin/scenario', { name: SECRET }],
    ['PUT', '/__admin/scenario', { definition }],
    ['POST', '/__admin/clients', { name: 'x', access_token: [AADHAAR] }],
    ['POST', '/__admin/clients', { name: 'x', clock: `Bearer ${AADHAAR}` }],
    ['GET', `/__admin/clock?${SECRET}=1`],
    ['DELETE', `/__admin/rules/${SECRET}`],
    ['GET', `/__admin/webhooks/deliveries/${SECRET}`],
  ]
  for (const [method, url, body] of table) {
    const { status, text } = await call(method, url, body)
    t.ok(status === 400 || status === 404, `${method} ${url}: ${status}`)
    for (const value of [SECRET, HOOK_SECRET, AADHAAR, String(SHORT)])
      t.notOk(text.includes(value), text)
  }
})

t.test('an error shows its caller the wrong number', async (t) => {
  const { call } = await start(t)
  const rule = { when: { operation: 'createUser' }, then: {} }
  const table: [...Call, string][] = [
    ['GET', `/v1/users?page=${encodeURIComponent(SPACED)}`, undefined, SPACED],
    ['GET', `/v1/user/${IFSC}`, undefined, IFSC],
    ['GET', `/v1/nowhere/${IFSC}`, undefined, IFSC],
    ['POST', '/v1/bank', { user_id: ASHA, account_number: SHORT, ifsc_code: 'x' }, String(SHORT)],
    ['POST', '/v1/kyc', { user_id: ASHA, kyc: [{ document_number: SHORT }] }, String(SHORT)],
    ['POST', '/v1/transaction', { amount: 0.30000000000000004 }, '0.30000000000000004'],
    ['POST', '/__admin/rules', { [AADHAAR]: 1, ...rule }, AADHAAR],
    ['POST', '/__admin/clients', { name: 'x', [PAN]: 1 }, PAN],
    ['POST', '/__admin/clients', { name: 'x', from: { client: AADHAAR } }, AADHAAR],
    ['POST', `/__admin/timers/${AADHAAR}/fire`, undefined, AADHAAR],
    ['POST', `/__admin/snapshots/${AADHAAR}/restore`, undefined, AADHAAR],
  ]
  for (const [method, url, body, value] of table) {
    const { status, text } = await call(method, url, body)
    t.ok(status === 400 || status === 404, `${method} ${url}: ${status}`)
    t.ok(text.includes(value), text)
  }
})

t.test('the request log masks what a refusal shows, and short numbers too', async (t) => {
  const { call, get } = await start(t)
  const short = { account_number: SHORT, ifsc_code: 'HD12345' }
  const refused = await call('POST', '/v1/bank', { user_id: ASHA, ...short })
  t.match(refused.body, { message: /87654321/, errors: [{}, { message: /HD12345/ }] })
  const document = { document_type: 'pid', document_number: 1234567 }
  t.match((await call('POST', '/v1/kyc', { user_id: ASHA, kyc: [document] })).text, '1234567')
  await call('POST', '/v1/bank', {
    user_id: ASHA,
    account_number: `x-${AADHAAR}`,
    ifsc_code: IFSC,
  })
  await get(`/v1/user/${PAN}`, TOKEN)
  const { requests } = (await get('/__admin/requests')).body
  t.equal(requests.length, 4)
  t.match(requests[3].response, {
    message: /^account_number .*; found XXXX \(and 1 more error: see errors\)\.$/,
    errors: [
      { field: 'account_number', message: /; found XXXX$/ },
      { field: 'ifsc_code', message: /; found XXXX$/ },
    ],
  })
  const logged = JSON.stringify(requests)
  for (const value of [String(SHORT), 'HD12345', '1234567', AADHAAR, IFSC, PAN])
    t.notOk(logged.includes(value), value)
})

t.test('a truncated text contains no part of a longer number', async (t) => {
  const { call, get } = await start(t)
  const page = `${'x'.repeat(34)}${AADHAAR}`
  const { body } = await call('GET', `/v1/users?page=${page}`)
  t.match(body.message, `found "${'x'.repeat(34)}…"`)
  const long = `${AADHAAR.repeat(5)}`
  t.match((await call('GET', `/v1/users?page=${long}x`)).body.message, `"${long.slice(0, 40)}…"`)
  t.notMatch((await get('/__admin/requests')).text, '98765')
})

t.test('the inbox stores headers masked, except for the webhook headers', async (t) => {
  const { call, get } = await start(t)
  await call('POST', '/__admin/webhooks/inbox', {}, { 'user-agent': `hook ${AADHAAR}` })
  const { body } = await get('/__admin/webhooks/inbox')
  t.equal(body.messages[0].headers['user-agent'], 'hook XXXXXXXX1098')
})
