import t from 'tap'
import { ASHA, KABIR, PAN, pluck, ROHAN, start } from '../helper.ts'

const OTHER = { assume: { status_words: 'other', unverified_account: 'refused' } }
const ACCOUNT = { user_id: KABIR, ifsc_code: 'HDFC0000001' }
t.test('status_words=other: a refused and a pending account have other words', async (t) => {
  const { get, post } = await start(t, OTHER)
  const shown: string[] = []
  for (const account_number of ['999900000002', '999900000003', '123456789012']) {
    const { body } = await post('/v1/bank', { ...ACCOUNT, account_number })
    shown.push(body.data.data.bank_status)
  }
  const { data } = (await get(`/v1/bank/${KABIR}`)).body
  const listed = pluck(data, 'bank_status')
  t.strictSame(listed.slice(0, 3).reverse(), shown, 'the list shows the same words')
  t.ok(shown.includes('rejected'))
  t.equal(shown.at(-1), 'success')
  const pay = { from_user_id: ASHA, to_user_id: KABIR, amount: 10 }
  const refused = data.find((one: { bank_status: string }) => one.bank_status === 'rejected')
  const { body } = await post('/v1/transaction', { ...pay, benif_bank_id: refused.bank_id })
  t.match(body, { error: 'bank_not_verified', message: /is rejected\./ })
})

t.test('status_words=other: so has a verified KYC record, also in its webhook', async (t) => {
  const { get, post, advance } = await start(t, OTHER)
  await post('/v1/clientWebhook', { url: 'http://127.0.0.1:9/', webhook_secret: 's' })
  const made = await post('/v1/kyc', { user_id: ROHAN, kyc: [PAN] })
  t.equal(made.body.data[0].data.kyc_status, 'verified')
  const read = await get(`/v1/kyc/${ROHAN}`)
  t.equal(read.body.data.response.data.kycData[0].kyc_status, 'verified')
  await advance('0s')
  const { deliveries } = (await get('/__admin/webhooks/deliveries?event=kyc.success')).body
  const { body } = (await get(`/__admin/webhooks/deliveries/${deliveries[0].delivery_id}`)).body
  t.match(JSON.parse(body), { type: 'kyc.success', data: { kyc_status: 'verified' } })
})
