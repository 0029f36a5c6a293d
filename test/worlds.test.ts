import t from 'tap'
import { ASHA, GUARDED, KABIR, ROHAN, ROHANS_ACCOUNT, start } from './helper.ts'

type Box = Awaited<ReturnType<typeof start>>
const pan = (document_number: string) => ({
  document_type: 'tid',
  document_name: 'pan',
  document_number,
  dateOfBirth: '01-01-1990',
  Nationality: 'Indian',
  nameOnCard: 'Kabir Singh',
})
const payment = { from_user_id: ASHA, to_user_id: ROHAN, benif_bank_id: ROHANS_ACCOUNT }

/** The same calls to one client, each answer with its status and bytes. */
async function script({ call }: Box, base: string, headers: Record<string, string>) {
  const received: string[] = []
  const ask = async (method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown, more = {}) => {
    const answer = await call(method, `${base}${path}`, body, { ...headers, ...more })
    received.push(`${method} ${path} ${answer.status} ${answer.text}`)
    return answer.body
  }
  const user = { email: 'nila@example.com', mobile: '9876500001' }
  const { user_id } = (await ask('POST', '/v1/user', user, { 'idempotency-key': 'k' })).data
  await ask('POST', '/v1/user', user, { 'idempotency-key': 'k' })
  await ask('POST', '/v1/user', user)
  await ask('POST', '/v1/kyc', { user_id, kyc: [pan('ABCPD1234E'), pan('XXXPX0001A')] })
  await ask('POST', '/v1/bank', {
    user_id: KABIR,
    account_number: '123456789012',
    ifsc_code: 'HDFC0000001',
  })
  const [paid] = (await ask('POST', '/v1/transaction', { ...payment, amount: 5 })).data
  await ask('POST', '/v1/transaction', { ...payment, amount: '100.91', reference_id: 'r' })
  await ask('POST', '/v1/transaction', { ...payment, amount: '100.91', reference_id: 'r' })
  await ask('POST', '/v1/clientWebhook', { url: 'http://127.0.0.1:1/', webhook_secret: 's' })
  await ask('GET', '/__admin/timers')
  await ask('POST', '/__admin/clock/advance', { by: '2s' })
  await ask('GET', `/v1/transaction/${paid.transaction_id}`)
  await ask('POST', '/__admin/clock/advance', { by: '1h' })
  for (const path of [
    '/v1/users?limit=100',
    `/v1/user/${user_id}`,
    `/v1/kyc/${user_id}`,
    `/v1/bank/${KABIR}`,
    '/v1/transaction?limit=100',
    '/v1/transaction/history?limit=100',
    `/v1/transaction/history/user/${ASHA}`,
    '/v1/clientWebhook',
    '/__admin/clock',
    '/__admin/scenario',
  ])
    await ask('GET', path)
  return received
}

t.test('two clients answer the same calls with the same bytes, save their own id', async (t) => {
  const box = await start(t, GUARDED)
  const tokens = { one: 'sbx_one', two: 'sbx_two' }
  const first = await script(box, '/@one', { authorization: `Bearer ${tokens.one}` })
  const second = await script(box, '/@two', { authorization: `Bearer ${tokens.two}` })
  const idOf = (name: string) => box.sandbox.clients.get(name)!.payouts.profile().client_id
  t.not(idOf('one'), idOf('two'))
  t.equal(first.length, 23)
  t.ok(first.filter((line) => line.includes(idOf('one'))).length >= 5, 'the id is in the responses')
  for (const [i, line] of first.entries()) {
    t.notOk(line.includes(idOf('two')) || second[i]!.includes(idOf('one')), 'nor does one leak')
    t.equal(second[i]!.replaceAll(idOf('two'), idOf('one')), line, line.slice(0, 60))
  }
  const statuses = new Set(first.map((line) => line.split(' ')[2]))
  t.ok(['200', '201', '409'].every((status) => statuses.has(status)))
})
