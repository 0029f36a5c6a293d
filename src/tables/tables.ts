import { historyOtherUserOf, historyUserOf } from '../model/transaction.ts'
import { mobileKey } from '../model/user.ts'
import type { Store } from '../store/data-file.ts'
import { type Content, Table } from '../store/table.ts'
import type { Specs, WorldTables } from '../store/worlds.ts'
import type { Rows, SettingRow } from './rows.ts'

// As text: ISO 8601 sorts like the instants, and a number would need more memory.
const createdAt = ({ created_at }: { created_at: string }) => created_at
const always = () => 'all'
/** The rows that reads found late, or do not find yet. */
const lagging = ({ visible_at }: { visible_at?: string }) => visible_at && 'all'

/** The key by which a repeated account is found. */
export const accountKey = (row: { user_id: string; account_number: string; ifsc_code: string }) =>
  `${row.user_id} ${row.ifsc_code} ${row.account_number}`

/** How each table finds and orders its rows. */
export const TABLES: Specs<Rows> = {
  client: { id: (row) => row.client_id, at: createdAt, indexes: { all: always } },
  users: {
    id: (row) => row.user_id,
    at: createdAt,
    indexes: {
      all: always,
      lagging,
      email: (row) => row.email.toLowerCase(),
      mobile: (row) => mobileKey(row.mobile),
    },
  },
  kyc: {
    id: (row) => row.kyc_id,
    at: createdAt,
    indexes: { all: always, lagging, user: (row) => row.user_id },
  },
  bank_accounts: {
    id: (row) => row.bank_id,
    at: createdAt,
    indexes: {
      all: always,
      lagging,
      user: (row) => row.user_id,
      verified: (row) => (row.bank_status === 'success' ? accountKey(row) : undefined),
    },
  },
  payments: {
    id: (row) => row.transaction_id,
    at: createdAt,
    indexes: {
      all: always,
      lagging,
      type: (row) => (row.transaction_type === 'debit' ? 'debit' : undefined),
      user: historyUserOf,
      other_user: historyOtherUserOf,
      // The generated id of a payment without a reference must not be a reference of another payment.
      reference: (row) => row.reference_id ?? row.client_transaction_id,
      utr: (row) => row.utr ?? undefined,
      history: (row) => row.id,
      partner: (row) => row.partner_transaction_id,
    },
  },
  webhook: { id: (row) => row.webhook_id, at: () => 0, indexes: { all: always } },
  // In order of creation and not of time, because the clock can be set back.
  events: {
    id: (row) => row.event_id,
    at: () => 0,
    indexes: { resource: (row) => row.resource_id },
  },
  deliveries: {
    id: (row) => row.delivery_id,
    at: () => 0,
    indexes: {
      // No index has the whole backlog under one key: removal from a long list would be slow.
      ordered: (row) => (row.status === 'pending' && row.ordered ? row.resource_id : undefined),
      held: (row) => (row.status === 'pending' && row.hold_until ? row.resource_id : undefined),
    },
  },
  inbox: {
    id: (row) => row.message_id,
    at: () => 0,
    indexes: { all: always, webhook: (row) => row.webhook_id ?? undefined },
  },
  idempotency: { id: (row) => row.key, at: (row) => row.expires_at, indexes: { all: always } },
  timers: { id: (row) => row.timer_id, at: (row) => row.due_at, indexes: { all: always } },
  settings: { id: (row) => row.name, at: () => 0, indexes: {} },
  rules: { id: (row) => row.rule_id, at: () => 0, indexes: {} },
  counters: { id: (row) => row.name, at: () => 0, indexes: {} },
}

export type SandboxStore = Store<Rows>
export type SandboxTables = WorldTables<Rows>

/** The value of a setting: the present one, or that of a snapshot. */
export function settingOf<N extends SettingRow['name']>(
  settings: Table<SettingRow> | Content<SettingRow>,
  name: N,
) {
  const row = settings instanceof Table ? settings.get(name) : settings.rows.get(name)?.row
  return row?.value as Extract<SettingRow, { name: N }>['value'] | undefined
}
