import t from 'tap'
import { ASHA, start } from '../helper.ts'

const TOKEN = 'sbx_Live_q7k2m9x4'
const AADHAAR = '987654321098'
const PAN = 'ABCPX1234Z'
const SPACED = '1234 5678 9012'
const IFSC = 'HDFC0001234'
const SHORT = 87654321

t.test('what a refusal repeats of a call is masked, wherever it stood', async (t) => {
  const { call } = await start(t)
  const definition = { rules: [{ [AADHAAR]: 1, when: { operation: 'createUser' }, then: {} }] }
  const table: [method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, body?: unknown][] = [
    ['POST', '/v1/user', { email: TOKEN, mobile: TOKEN }],
    ['GET', `/v1/users?page=${TOKEN}`],
    ['GET', `/v1/users?page=${encodeURIComponent(SPACED)}`],
    ['GET', `/v1/user/${IFSC}`],
    ['GET', `/v1/nowhere/${IFSC}`],
    ['POST', '/v1/bank', { user_id: ASHA, account_number: SHORT, ifsc_code: SHORT }],
    ['POST', '/v1/kyc', { user_id: ASHA, kyc: [{ document_number: SHORT }] }],
    ['POST', '/v1/clientWebhook', { url: 'http://127.0.0.1:9/', webhook_secret: SHORT }],
    ['POST', '/v1/clientWebhook', { url: `ftp://a/?token=${TOKEN}`, webhook_secret: 'x' }],
    ['PUT', '/__admin/scenario', { name: TOKEN }],
    ['PUT', '/__admin/scenario', { definition }],
    ['POST', '/__admin/rules', { [AADHAAR]: 1, when: { operation: 'createUser' }, then: {} }],
    ['POST', '/__admin/clients', { name: 'x', [PAN]: 1 }],
    ['POST', '/__admin/clients', { name: 'x', from: { client: AADHAAR } }],
    ['POST', '/__admin/clients', { name: 'x', clock: TOKEN }],
    ['POST', `/__admin/timers/${AADHAAR}/fire`],
    ['DELETE', `/__admin/rules/${TOKEN}`],
    ['GET', `/__admin/requests/${AADHAAR}`],
    ['GET', `/__admin/webhooks/deliveries/${TOKEN}`],
    ['POST', `/__admin/snapshots/${AADHAAR}/restore`],
    ['DELETE', `/__admin/clients/${AADHAAR}`],
  ]
  for (const [method, url, body] of table) {
    const { status, text } = await call(method, url, body)
    t.ok(status === 400 || status === 404, `${method} ${url}: ${status}`)
    for (const value of [TOKEN, AADHAAR, PAN, SPACED, IFSC, String(SHORT)])
      t.notOk(text.includes(value), text)
  }
})

t.test('the inbox keeps headers that sign nothing masked', async (t) => {
  const { call, get } = await start(t)
  await call('POST', '/__admin/webhooks/inbox', {}, { 'user-agent': `hook ${AADHAAR}` })
  const { body } = await get('/__admin/webhooks/inbox')
  t.equal(body.messages[0].headers['user-agent'], 'hook XXXXXXXX1098')
})
