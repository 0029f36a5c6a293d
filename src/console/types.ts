// The responses of the admin API, with the fields that the console shows.
import type { Clock } from './clock.ts'

export type Client = {
  name: string
  client_id: string
  status: string
  check_kyc: boolean
  webhook_url: string | null
  scenario: string
  clock: Clock
  counts: Record<
    'users' | 'kyc' | 'bank_accounts' | 'transactions' | 'deliveries' | 'requests' | 'rules',
    number
  >
}

export type Timer = {
  timer_id: string
  at: string
  kind: string
  resource_id?: string
  payload: Record<string, unknown>
}

export type KycRecord = {
  kyc_id: string
  document_name: string
  document_number: string
  full_name: string
  dob: string
  kyc_status: string
  verified_by: string
  created_at: string
}

export type BankAccount = {
  bank_id: string
  bank_name: string | null
  account_number: string
  ifsc_code: string
  bank_status: string
  created_at: string
}

export type User = {
  user_id: string
  user_type: string
  email: string
  mobile: string
  created_at: string
  kyc: KycRecord[]
  bank_accounts: BankAccount[]
}

type PaymentStatus = 'PENDING' | 'PROCESSING' | 'SUCCESS' | 'FAILED'
export type Step = { status: PaymentStatus; at: string }

export type Payment = {
  transaction_id: string
  reference_id: string | null
  from_user_id: string
  to_user_id: string
  benif_bank_id: string
  currency_code: string
  transaction_type: string
  amount: string
  utr: string | null
  transaction_status: string
  created_at: string
  updated_at: string
  history: {
    account_holder_name: string
    account_number: string
    bank_name: string
    client_transaction_id: string
    status: PaymentStatus
    utr: string | null
    remark: string
    metadata: { reason: string; description: string } | null
  }
}

export type Attempt = {
  number: number
  at: string
  ok: boolean
  url: string
  headers: Record<string, string>
  status: number | null
  duration_ms: number
  response: string
  truncated: boolean
  error: { code: string; message: string } | null
}

export type Delivery = {
  delivery_id: string
  event_id: string | null
  event: string
  resource_id: string
  status: string
  created_at: string
  next_attempt_at: string | null
  hold_until: string | null
  rule: string | null
  fault: { signature?: 'wrong' | 'missing'; timestamp?: 'stale'; body?: 'truncated' } | null
  attempts: Attempt[]
}

/** A payment with all its details. */
export type PaymentWithAll = {
  transaction: Payment
  steps: Step[]
  deliveries: Delivery[]
  timers: Timer[]
}

export type InboxMessage = {
  webhook_id: string | null
  received_at: string
  verified: boolean
  code: string | null
  reason: string | null
  attempt: number | null
}

/** A call of the service in short, as the event stream sends it. */
export type ShortRequest = {
  request_id: string
  at: string
  duration_ms: number
  method: string
  path: string
  operation: string | null
  status: number | null
  rule: string | null
  fault: string | null
  replayed: boolean
}

export type LoggedRequest = ShortRequest & {
  query: Record<string, string | string[]>
  headers: Record<string, string>
  body: unknown
  response: unknown
}
