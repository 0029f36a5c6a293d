import { ASHA, ROHAN, ROHANS_ACCOUNT, type start, TOKEN } from '../helper.ts'

type Sandbox = Awaited<ReturnType<typeof start>>

/** Makes the calls on which the readings of one assumption differ, and returns what a caller sees. */
export type Probe = (sandbox: Sandbox) => Promise<unknown>

const PAYMENT = { from_user_id: ASHA, to_user_id: ROHAN, benif_bank_id: ROHANS_ACCOUNT, amount: 10 }

const pay = async ({ post }: Sandbox, more: object = {}) =>
  (await post('/v1/transaction', { ...PAYMENT, ...more })).body.data[0]

/** One probe for each assumption. Two readings with the same result do not differ for a caller. */
export const PROBES: Readonly<Record<string, Probe>> = {
  async idempotency_key({ post, get }) {
    const before = (await get('/v1/transaction')).body.data.total_transation
    for (const _ of [1, 2]) await post('/v1/transaction', PAYMENT, { 'idempotency-key': 'k' })
    return (await get('/v1/transaction')).body.data.total_transation - before
  },
  async processing_status(sandbox) {
    const { transaction_id } = await pay(sandbox)
    await sandbox.post('/__admin/clock/advance', { by: '1s' })
    const { body } = await sandbox.get(`/v1/transaction/${transaction_id}`)
    return body.data[0].transaction_status
  },
  async list_order({ get }) {
    const { body } = await get('/v1/transaction?limit=3')
    return body.data.transactions.map((one: { created_at: string }) => one.created_at)
  },
  async webhook_delivery(sandbox) {
    // Nothing listens on port 9: each attempt fails.
    await sandbox.post('/v1/clientWebhook', { url: 'http://127.0.0.1:9/', webhook_secret: 's' })
    await pay(sandbox)
    await sandbox.post('/__admin/clock/advance', { by: '1s' })
    const { body } = await sandbox.get('/__admin/webhooks/deliveries?event=transaction.pending')
    const [{ status, attempts }] = body.deliveries
    return [status, attempts.length]
  },
  async webhook_order(sandbox) {
    await sandbox.post('/v1/clientWebhook', { url: 'http://127.0.0.1:9/', webhook_secret: 's' })
    await pay(sandbox)
    await sandbox.post('/__admin/clock/advance', { by: '1s' })
    const { body } = await sandbox.get('/__admin/webhooks/deliveries?event=transaction.processing')
    return body.deliveries[0].attempts.length
  },
  async webhook_signature(sandbox) {
    await sandbox.post('/v1/clientWebhook', { url: 'http://127.0.0.1:9/', webhook_secret: 's' })
    const { body } = await sandbox.post('/__admin/webhooks/trigger', { event: 'webhook.test' })
    return Object.keys(body.deliveries[0].attempts[0].headers)
  },
  async token({ get }) {
    const tokens = [{}, { authorization: 'Bearer unknown' }]
    const paths = ['/v1/users', '/v1/client/profile']
    return Promise.all(
      paths.flatMap((path) => tokens.map(async (sent) => (await get(path, sent)).status)),
    )
  },
  async token_lifetime(sandbox) {
    await sandbox.post('/__admin/clock/advance', { by: '1h' })
    return (await sandbox.get('/v1/client/profile', TOKEN)).status
  },
  async rate_limit({ get }) {
    return [(await get('/v1/users')).status, (await get('/v1/users')).status]
  },
  async error_body({ get }) {
    const { headers, text } = await get('/v1/transaction/unknown')
    return [headers['content-type'], text]
  },
}
