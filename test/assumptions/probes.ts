import type { Test } from 'tap'
import { ASHA, KABIR, PAN, pluck, ROHAN, type start, TOKEN } from '../helper.ts'
import { receiver } from '../receiver.ts'

type Sandbox = Awaited<ReturnType<typeof start>>

/** Makes the calls on which the readings of one assumption differ, and returns what a caller sees. */
export type Probe = (sandbox: Sandbox, t: Test) => Promise<unknown>

const NEW_ACCOUNT = { user_id: ASHA, account_number: '123456789012', ifsc_code: 'HDFC0000001' }

const pay = async (sandbox: Sandbox, more: object = {}) => (await sandbox.pay(more)).body.data[0]

const addAccount = async ({ post }: Sandbox, account_number = '123456789012') =>
  (await post('/v1/bank', { user_id: KABIR, account_number, ifsc_code: 'HDFC0000001' })).body.data
    ?.data

const newestRecord = async ({ get }: Sandbox) =>
  (await get('/v1/transaction/history?limit=1', TOKEN)).body.data.transactions[0]

/** One probe for each assumption. Two readings with the same result do not differ for a caller. */
export const PROBES: Readonly<Record<string, Probe>> = {
  async idempotency_key({ pay, get }) {
    const before = (await get('/v1/transaction')).body.data.total_transation
    for (const _ of [1, 2]) await pay({}, { 'idempotency-key': 'k' })
    return (await get('/v1/transaction')).body.data.total_transation - before
  },
  async reference_id(sandbox) {
    const first = await pay(sandbox, { reference_id: 'one' })
    return [first.reference_id, (await sandbox.pay({ reference_id: 'one' })).status]
  },
  async own_request_fields({ post }) {
    const user = { email: 'new@example.com', mobile: '9812345678', user_type: 'business' }
    return (await post('/v1/user', user)).body.data.user_type
  },
  amount_as_text: async (sandbox) => (await sandbox.pay({ amount: '10.00' })).status,
  smallest_amount: async (sandbox) =>
    Promise.all([0.5, 50].map(async (amount) => (await sandbox.pay({ amount })).status)),
  async late_success(sandbox) {
    const { transaction_id } = await pay(sandbox)
    const set = (status: string) =>
      sandbox.post(`/__admin/simulate/transactions/${transaction_id}`, { status })
    await set('FAILED')
    return (await set('SUCCESS')).status
  },
  async pid_and_tid({ post, get }) {
    const ids = async () => {
      const { pid, tid } = (await get(`/v1/user/${KABIR}`)).body.data
      return [pid !== null, tid !== null]
    }
    await post('/v1/kyc', { user_id: KABIR, kyc: [{ ...PAN, document_number: 'XXXPX0001A' }] })
    const failed = await ids()
    await post('/v1/kyc', { user_id: KABIR, kyc: [PAN] })
    return [failed, await ids()]
  },
  unknown_request_fields: async (sandbox) => (await sandbox.pay({ mode: 'IMPS' })).status,
  async limit_parameter({ get }) {
    const lists = ['/v1/users', '/v1/transaction'].map((url) => get(`${url}?limit=3`))
    return (await Promise.all(lists)).map(({ body }) => body.data.limit)
  },
  largest_page: async ({ get }) => (await get('/v1/users?limit=1000')).body.data.limit,
  empty_query_value: async ({ get }) => (await get('/v1/users?page=')).status,
  trailing_slash: async ({ get }) => (await get('/v1/users/')).status,
  page_past_the_end: async ({ get }) => (await get('/v1/users?page=99')).status,
  unknown_id: async ({ get }) => (await get(`/v1/transaction/${ASHA}`)).status,
  missing_webhook: async ({ get }) => (await get('/v1/clientWebhook')).status,
  async entry_status({ post }) {
    const document = { ...PAN, document_number: 'XXXPX0001A' }
    return (await post('/v1/kyc', { user_id: KABIR, kyc: [document] })).body.data[0].status
  },
  malformed_id: async ({ get }) => (await get('/v1/user/nope')).status,
  async unverified_account(sandbox) {
    const { bank_id } = await addAccount(sandbox, '999900000002')
    return (await sandbox.pay({ to_user_id: KABIR, benif_bank_id: bank_id })).status
  },
  async history_utr(sandbox) {
    await pay(sandbox)
    await sandbox.advance('1h')
    return (await newestRecord(sandbox)).utr
  },
  async second_webhook({ post }) {
    const webhook = { url: 'http://127.0.0.1:9/', webhook_secret: 'secret' }
    await post('/v1/clientWebhook', webhook)
    return (await post('/v1/clientWebhook', webhook)).status
  },
  email_format: async ({ post }) =>
    (await post('/v1/user', { email: 'a@münchen.de', mobile: '9876500001' })).status,
  mobile_format: async ({ post }) =>
    (await post('/v1/user', { email: 'new@example.com', mobile: '+910000000000' })).status,
  account_number_format: async ({ post }) =>
    (await post('/v1/bank', { ...NEW_ACCOUNT, account_number: 'AB123456' })).status,
  ifsc_case: async ({ post }) =>
    (await post('/v1/bank', { ...NEW_ACCOUNT, ifsc_code: 'hdfc0000001' })).status,
  async processing_status(sandbox) {
    const { transaction_id } = await pay(sandbox)
    await sandbox.advance('1s')
    const { body } = await sandbox.get(`/v1/transaction/${transaction_id}`)
    return body.data[0].transaction_status
  },
  async status_words(sandbox) {
    await addAccount(sandbox, '999900000002')
    return pluck((await sandbox.get(`/v1/bank/${KABIR}`)).body.data, 'bank_status')
  },
  async list_order({ get }) {
    const { body } = await get('/v1/transaction?limit=3')
    return pluck(body.data.transactions, 'created_at')
  },
  async refused_bank_account(sandbox) {
    const { metadata } = await addAccount(sandbox, '999900000002')
    return metadata.response.data
  },
  async same_bank_account(sandbox) {
    const first = await addAccount(sandbox)
    const again = await addAccount(sandbox)
    return again && again.bank_id === first.bank_id
  },
  async duplicate_user({ post }) {
    const user = { email: 'one@example.com', mobile: '9876511111' }
    await post('/v1/user', user)
    return (await post('/v1/user', user)).status
  },
  async history_metadata(sandbox) {
    const { transaction_id } = await pay(sandbox)
    await sandbox.post(`/__admin/simulate/transactions/${transaction_id}`, { status: 'FAILED' })
    return (await newestRecord(sandbox)).metadata
  },
  async missing_remark(sandbox) {
    await pay(sandbox)
    return (await newestRecord(sandbox)).remark
  },
  async user_history(sandbox) {
    await pay(sandbox)
    const { body } = await sandbox.get(`/v1/transaction/history/user/${ROHAN}`, TOKEN)
    return body.data.total_transactions
  },
  async utr_form(sandbox) {
    await pay(sandbox, { amount: 600_000 })
    await sandbox.advance('8s')
    return (await newestRecord(sandbox)).utr
  },
  async utr_of_success(sandbox) {
    await pay(sandbox)
    await sandbox.advance('3s')
    return (await newestRecord(sandbox)).utr === null
  },
  async kyc_bad_document({ post }) {
    const document = { document_type: 'vid', document_name: 'passport', document_number: '1' }
    const person = { dateOfBirth: '31-12-1899', Nationality: 'Indian', nameOnCard: 'Kabir Singh' }
    return (await post('/v1/kyc', { user_id: KABIR, kyc: [{ ...document, ...person }] })).status
  },
  async webhook_delivery(sandbox) {
    // Nothing listens on port 9: each attempt fails.
    await sandbox.post('/v1/clientWebhook', { url: 'http://127.0.0.1:9/', webhook_secret: 's' })
    await pay(sandbox)
    await sandbox.advance('1s')
    const { body } = await sandbox.get('/__admin/webhooks/deliveries?event=transaction.pending')
    const [{ status, attempts }] = body.deliveries
    return [status, attempts.length]
  },
  async webhook_order(sandbox) {
    await sandbox.post('/v1/clientWebhook', { url: 'http://127.0.0.1:9/', webhook_secret: 's' })
    await pay(sandbox)
    await sandbox.advance('1s')
    const { body } = await sandbox.get('/__admin/webhooks/deliveries?event=transaction.processing')
    return body.deliveries[0].attempts.length
  },
  async webhook_signature(sandbox) {
    await sandbox.post('/v1/clientWebhook', { url: 'http://127.0.0.1:9/', webhook_secret: 's' })
    const { body } = await sandbox.post('/__admin/webhooks/trigger', { event: 'webhook.test' })
    return Object.keys(body.deliveries[0].attempts[0].headers)
  },
  async webhook_body(sandbox, t) {
    const { url, received } = await receiver(t)
    await sandbox.post('/v1/clientWebhook', { url, webhook_secret: 's' })
    await sandbox.post('/__admin/webhooks/trigger', { event: 'webhook.test' })
    const [{ headers, body }] = received as [(typeof received)[number]]
    return [headers['x-webhook-event'], Object.keys(JSON.parse(body))]
  },
  async token({ get }) {
    const tokens = [{}, { authorization: 'Bearer unknown' }]
    const paths = ['/v1/users', '/v1/client/profile']
    return Promise.all(
      paths.flatMap((path) => tokens.map(async (sent) => (await get(path, sent)).status)),
    )
  },
  async token_lifetime(sandbox) {
    await sandbox.advance('1h')
    return (await sandbox.get('/v1/client/profile', TOKEN)).status
  },
  async rate_limit({ get }) {
    return [(await get('/v1/users')).status, (await get('/v1/users')).status]
  },
  async new_words({ get }) {
    return Object.keys((await get(`/v1/user/${ASHA}`)).body.data)
  },
  async error_body({ get }) {
    const { headers, text } = await get('/v1/transaction/unknown')
    return [headers['content-type'], text]
  },
}
