import type * as z from 'zod'
import { WEBHOOK_EVENT_BODIES } from '../model/webhook.ts'
import { EVENTS, type EventName } from '../scenarios/operations-and-events.ts'

type Json = Record<string, unknown>

const WEBHOOK_HEADERS: Readonly<Record<string, string>> = {
  'webhook-id': 'The event’s id, the same on every attempt.',
  'webhook-timestamp': 'Unix seconds of the attempt.',
  'webhook-signature':
    '`v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`; one or two signatures, separated by a space.',
  'x-webhook-signature': 'Hex HMAC-SHA256 of the body alone.',
  'x-webhook-attempt': '1 for the first attempt.',
}

const EXAMPLE_IDS = {
  client: 'c0000000-0000-4000-8000-000000000001',
  one: '00000000-0000-4000-8000-000000000001',
  two: '00000000-0000-4000-8000-000000000002',
  account: 'b0000000-0000-4000-8000-000000000002',
  resource: '2f0c3d5e-6a1b-4c7d-8e9f-0a1b2c3d4e5f',
}
const AT = '2026-01-01T00:00:03.000Z'

function exampleData(type: string): Json {
  const [noun, status] = type.split('.') as [string, string]
  const ids = EXAMPLE_IDS
  const times = { created_at: '2026-01-01T00:00:00.000Z', updated_at: AT }
  const account = {
    bank_id: ids.account,
    user_id: ids.two,
    bank_name: null,
    account_number: 'XXXXXXXX9012',
    ifsc_code: 'HDFCXXXX234',
    bank_status: noun === 'bank' ? status : 'success',
  }
  switch (noun) {
    case 'transaction': {
      const utr = status === 'success' ? '600100048271' : null
      const failure = {
        reason: 'beneficiary_bank_offline',
        description: 'The beneficiary bank is offline.',
        source: 'beneficiary_bank',
      }
      return {
        transaction_id: ids.resource,
        client_id: ids.client,
        reference_id: null,
        from_user_id: ids.one,
        to_user_id: ids.two,
        benif_bank_id: ids.account,
        currency_code: 'INR',
        transaction_type: 'debit',
        amount: '100.00',
        utr: utr && 'XXXXXXXX8271',
        transaction_status: status === 'processing' ? 'pending' : status,
        ...times,
        benif_bank: account,
        history: {
          id: '7b1d2c3e-4f5a-4b6c-8d7e-9f0a1b2c3d4e',
          client_id: ids.client,
          client_transaction_id: 'TXN123456789012345',
          partner_transaction_id: 'PTX123456789012345',
          user_id: ids.one,
          account_holder_name: 'ROHAN MEHTA',
          account_number: 'XXXXXXXX9012',
          ifsc_code: 'HDFCXXXX234',
          bank_name: 'HDFC Bank',
          amount: '100.00',
          status: status.toUpperCase(),
          currency: 'INR',
          utr,
          remark: '',
          metadata: status === 'failed' ? failure : null,
          ...times,
        },
      }
    }
    case 'kyc':
      return {
        kyc_id: ids.resource,
        user_id: ids.one,
        country: 'IN',
        document_type: 'pid',
        document_name: 'aadhar',
        document_number: 'XXXXXXXX0019',
        full_name: 'Asha Nair',
        dob: '1990-02-01',
        kyc_status: status,
        vp: null,
        verified_by: 'client',
        metadata: null,
        ...times,
      }
    case 'bank':
      return { ...account, ...times }
    case 'user':
      return {
        user_id: ids.one,
        client_id: ids.client,
        user_type: 'individual',
        email: 'asha@example.com',
        mobile: '+919812345678',
        pid: null,
        tid: null,
        bank_id: null,
        ...times,
      }
    default:
      return {
        webhook_id: ids.resource,
        client_id: ids.client,
        url: 'http://127.0.0.1:3000/webhook',
      }
  }
}

const WHEN: Readonly<Record<string, string>> = {
  transaction: 'Sent when a payment gets this status.',
  kyc: 'Sent when a KYC record gets this status.',
  bank: 'Sent when a bank account gets this status.',
  user: 'Sent only when you trigger it.',
  webhook: 'Sent only when you trigger it.',
}

function webhookOf(type: EventName, ref: (schema: z.ZodType) => Json): Json {
  const noun = type.slice(0, type.indexOf('.')) as keyof typeof WEBHOOK_EVENT_BODIES
  const example = {
    id: 'evt_0123456789abcdef0123456789abcdef',
    type,
    timestamp: AT,
    client_id: EXAMPLE_IDS.client,
    data: exampleData(type),
  }
  return {
    post: {
      operationId: `on-${type.replace('.', '-')}`,
      tags: ['Webhook'],
      summary: WHEN[noun],
      security: [],
      parameters: Object.entries(WEBHOOK_HEADERS).map(([name, description]) => ({
        name,
        in: 'header',
        required: true,
        description,
        schema: { type: 'string' },
      })),
      requestBody: {
        required: true,
        content: { 'application/json': { schema: ref(WEBHOOK_EVENT_BODIES[noun]), example } },
      },
      responses: {
        '2XX': { description: 'Delivered. The sandbox retries after any other status.' },
        '410': { description: 'The sandbox makes no further attempt.' },
      },
    },
  }
}

/** The `webhooks` section of the OpenAPI document: every event that the sandbox can send to the client's webhook. */
export const webhooksOf = (ref: (schema: z.ZodType) => Json): Json =>
  Object.fromEntries(EVENTS.map((type) => [type, webhookOf(type, ref)]))
