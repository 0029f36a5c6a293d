import { TABLE_NAMES } from '../content/state.ts'

/** The example request of a call: its path parameters and its body. A test sends each one to a fresh sandbox. */
export type ExampleRequest = { params?: Readonly<Record<string, string>>; body?: unknown }

// Of the shipped fixtures: both users are ready for a payment.
const ASHA = '00000000-0000-4000-8000-000000000001'
const ROHAN = '00000000-0000-4000-8000-000000000003'
const ROHANS_ACCOUNT = 'b0000000-0000-4000-8000-000000000003'
const PAID = 'a0000000-0000-4000-8000-000000000001'
const PENDING_PAYMENT = 'a0000000-0000-4000-8000-000000000045'
const PENDING_KYC = 'd0000000-0000-4000-8000-000000000006'
const PENDING_ACCOUNT = 'b0000000-0000-4000-8000-000000000010'
// The id of a row that is created after the start; replace it with your own.
const DELIVERY = 'dlv_7ce1050a7d924357ab9f500ed785b2c1'

export const SERVICE_REQUESTS: Readonly<Record<string, ExampleRequest>> = {
  createUser: { body: { email: 'asha.new@example.com', mobile: '+919812345678' } },
  getUser: { params: { userId: ASHA } },
  submitKyc: {
    body: {
      user_id: ASHA,
      kyc: [
        {
          document_type: 'tid',
          document_name: 'pan',
          document_number: 'XXXPX1234A',
          dateOfBirth: '17-05-1990',
          Nationality: 'Indian',
          nameOnCard: 'Asha Rao',
        },
      ],
    },
  },
  getKyc: { params: { userId: ROHAN } },
  addBankAccount: {
    body: { user_id: ASHA, account_number: '000011112222', ifsc_code: 'HDFC0000001' },
  },
  listBankAccounts: { params: { userId: ROHAN } },
  createTransaction: {
    body: {
      from_user_id: ASHA,
      to_user_id: ROHAN,
      benif_bank_id: ROHANS_ACCOUNT,
      amount: 1500.5,
      reference_id: 'invoice-17',
    },
  },
  getTransaction: { params: { transaction_id: PAID } },
  listUserTransactionHistory: { params: { userId: ASHA } },
  createWebhook: {
    body: {
      url: 'http://127.0.0.1:3000/hooks',
      webhook_secret: 'whsec_c2VjcmV0LW9mLWFuLWV4YW1wbGU=',
    },
  },
  updateWebhook: { body: { url: 'http://127.0.0.1:3000/payouts' } },
}

const NAME = { params: { name: 'before' } }

const EMPTY_STATE = {
  format: 1,
  clock: { now: '2026-01-01T00:00:00.000Z', mode: 'frozen', speed: 1 },
  scenario: { name: 'default' },
  draws: 0,
  profile: {
    name: 'Sandbox Payments',
    email: 'payments@example.com',
    email_verified: true,
    status: 'active',
    check_kyc: false,
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
  },
  tables: Object.fromEntries(TABLE_NAMES.map((name) => [name, []])),
}

export const ADMIN_REQUESTS: Readonly<Record<string, ExampleRequest>> = {
  freezeClock: { body: { at: '2030-01-01T00:00:00Z' } },
  setClockSpeed: { body: { factor: 60 } },
  advanceClock: { body: { by: '3m' } },
  deleteTimer: { params: { id: 'tmr_5' } },
  fireTimer: { params: { id: 'tmr_5' } },
  reset: {
    body: { parts: ['data', 'clock', 'scenario', 'assumptions', 'deliveries', 'requests'] },
  },
  readScenario: { params: { name: 'slow' } },
  setScenario: { body: { name: 'slow' } },
  setAssumptions: { body: { idempotency_key: 'honoured', list_order: null } },
  pushRule: {
    body: {
      name: 'the next payment meets an outage',
      when: { operation: 'createTransaction' },
      then: { respond: { status: 503 } },
      times: 1,
    },
  },
  deleteRule: { params: { id: 'rul_1' } },
  simulateTransaction: { params: { id: PENDING_PAYMENT }, body: { status: 'SUCCESS' } },
  simulateKyc: { params: { id: PENDING_KYC }, body: { status: 'success' } },
  simulateBankAccount: { params: { id: PENDING_ACCOUNT }, body: { status: 'success' } },
  createClient: { body: { name: 'worker-3', clock: 'frozen' } },
  deleteClient: { params: { name: 'second' } },
  putState: { body: EMPTY_STATE },
  saveSnapshot: { body: { name: 'before' } },
  getSnapshot: NAME,
  deleteSnapshot: NAME,
  restoreSnapshot: NAME,
  diffSnapshot: NAME,
  getDelivery: { params: { id: DELIVERY } },
  redeliver: { params: { id: DELIVERY } },
  triggerWebhook: { body: { event: 'transaction.success' } },
  receiveWebhook: { body: { type: 'transaction.success' } },
  getRequest: { params: { id: 'req_1' } },
  findRequests: { body: { match: { operation: 'createTransaction' }, limit: 10 } },
  countRequests: { body: { match: { operation: 'createTransaction', status: 200 } } },
  verifyRequests: { body: { match: { operation: 'createTransaction' }, at_most: 1 } },
  wait: {
    body: {
      for: 'transaction',
      match: { transaction_id: PAID, transaction_status: 'success' },
      timeout_ms: 1000,
    },
  },
  reconcile: { body: { rows: [{ reference: 'order-7', amount: '1500.50', status: 'SUCCESS' }] } },
  readUser: { params: { id: ASHA } },
  readTransaction: { params: { id: PAID } },
}
