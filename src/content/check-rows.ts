// content/: what a client can contain, from outside and back: fixtures become a state, a state is read, checked and
// written, and snapshots are listed and compared.

import { DOCUMENT_OF } from '../model/kyc.ts'
import { quoteInput } from '../model/mask.ts'
import { UTR_TIMER } from '../model/payment.ts'
import type { Rows } from '../tables/rows.ts'
import type { TableName as Table } from './state.ts'

/** Rows to check: of one client, or of all clients of a fixture set. Their shapes are already checked. */
export type CheckedRows = {
  // The secret of a webhook may follow later.
  readonly [T in Table]?: readonly (T extends 'webhook'
    ? Omit<Rows[T], 'webhook_secret'>
    : Rows[T])[]
}

export type NoteProblem = (table: Table, row: number, field: string, message: string) => void

type ClientOf = (user: string) => string | undefined

/** The fields that two rows cannot have in common; the first is the id. What a reading permits twice, such as a reference, is none. */
const UNIQUE: Readonly<Record<Table, readonly [string, ...string[]]>> = {
  users: ['user_id'],
  kyc: ['kyc_id'],
  bank_accounts: ['bank_id'],
  payments: ['transaction_id', 'id', 'utr'],
  webhook: ['webhook_id'],
  events: ['event_id'],
  deliveries: ['delivery_id'],
  inbox: ['message_id'],
  idempotency: ['key'],
  timers: ['timer_id'],
  rules: ['rule_id'],
  counters: ['name'],
}

/** The fields that refer to a row of another table, and what that is called. */
const REFERENCES: readonly [from: Table, field: string, to: Table, noun: string][] = [
  ['kyc', 'user_id', 'users', 'user'],
  ['bank_accounts', 'user_id', 'users', 'user'],
  ['payments', 'from_user_id', 'users', 'user'],
  ['payments', 'to_user_id', 'users', 'user'],
  ['payments', 'benif_bank_id', 'bank_accounts', 'bank account'],
  ['deliveries', 'event_id', 'events', 'event'],
]

/** The strings of a field in the rows of a table, row by row; a row that its schema rejects may have none. */
function* textsOf(rows: CheckedRows, table: Table, field: string) {
  for (const [i, row] of (rows[table] ?? []).entries()) {
    const text = (row as object as Record<string, unknown>)[field]
    if (typeof text === 'string') yield [i, text] as const
  }
}

function* checkKeys(rows: CheckedRows, note: NoteProblem) {
  const known = new Map<string, Set<string>>()
  for (const [table, fields] of Object.entries(UNIQUE) as unknown as [Table, string[]][])
    for (const field of fields) {
      const seen = new Set<string>()
      known.set(`${table} ${field}`, seen)
      for (const [i, key] of textsOf(rows, table, field)) {
        yield
        if (seen.has(key)) note(table, i, field, 'is the same as in an earlier row')
        seen.add(key)
      }
    }
  for (const [from, field, to, noun] of REFERENCES) {
    const ids = known.get(`${to} ${UNIQUE[to][0]}`)!
    for (const [i, id] of textsOf(rows, from, field)) {
      yield
      if (!ids.has(id)) note(from, i, field, `there is no ${noun} ${quoteInput(id)}`)
    }
  }
}

function* checkPayments(
  { payments = [], bank_accounts = [], timers = [] }: CheckedRows,
  note: NoteProblem,
  clientOf: ClientOf,
) {
  const accounts = new Map(bank_accounts.map((row) => [row.bank_id, row]))
  const withLaterUtr = new Set<string | undefined>()
  for (const { kind, resource_id } of timers) {
    if (kind === UTR_TIMER) withLaterUtr.add(resource_id)
    yield
  }
  for (const [i, row] of payments.entries()) {
    yield
    const { from_user_id: from, to_user_id: to, status, utr } = row
    const invalid = (field: string, message: string) => note('payments', i, field, message)
    const [payer, receiver] = [clientOf(from), clientOf(to)]
    if (payer !== undefined && receiver !== undefined && payer !== receiver)
      invalid('to_user_id', 'belongs to another client')
    if (from === to) invalid('to_user_id', 'must not be the payer')
    const account = accounts.get(row.benif_bank_id)
    if (account && account.user_id !== to)
      invalid('benif_bank_id', 'does not belong to the receiver')
    if (status === 'SUCCESS' && utr === null && !withLaterUtr.has(row.transaction_id))
      invalid('utr', 'is required for status SUCCESS')
    // A reversed payment retains the number of its SUCCESS.
    if ((status === 'PENDING' || status === 'PROCESSING') && utr !== null)
      invalid('utr', `must be null while the status is ${status}`)
    if (status === 'FAILED' && row.failure === null)
      invalid('failure', 'is required for status FAILED')
  }
}

/** Notes what no row has alone: duplicates, missing references, impossible payments. The caller can pause at each `yield`. */
export function* checkRows(
  rows: CheckedRows,
  note: NoteProblem,
  clientOf: ClientOf = () => '',
): Generator<undefined, void> {
  yield* checkKeys(rows, note)
  for (const [i, row] of (rows.kyc ?? []).entries()) {
    yield
    // A bad document is stored as a failed record.
    if (row.kyc_status !== 'failed' && DOCUMENT_OF[row.document_type] !== row.document_name)
      note('kyc', i, 'document_name', 'must be aadhar with pid, or pan with tid')
  }
  yield* checkPayments(rows, note, clientOf)
}
