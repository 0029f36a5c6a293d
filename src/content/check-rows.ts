import { DOCUMENT_OF } from '../model/kyc.ts'
import { UTR_TIMER } from '../model/payment.ts'
import type { Rows } from '../tables/rows.ts'
import { TABLES } from '../tables/tables.ts'

type Table = keyof Rows

/** Rows to check: of one client, or of all clients of a fixture set. Their shapes are already checked. */
export type CheckedRows = {
  // The secret of a webhook may follow later.
  readonly [T in Table]?: readonly (T extends 'webhook'
    ? Omit<Rows[T], 'webhook_secret'>
    : Rows[T])[]
}

/** What is wrong with a row or a field; the caller words what only differs by its kind of file. */
export type RowProblem =
  /** An earlier row has the same id. */
  | { kind: 'duplicate' }
  /** It refers to a row that does not exist. */
  | { kind: 'missing'; table: Table; id: string }
  | { kind: 'invalid'; message: string }

export type NoteProblem = (table: Table, row: number, field: string, problem: RowProblem) => void

/** The client of a user; `undefined` if there is no such user. */
type ClientOf = (user: string) => string | undefined

/** The fields that refer to a row of another table. */
const REFERENCES = {
  kyc: { user_id: 'users' },
  bank_accounts: { user_id: 'users' },
  payments: { from_user_id: 'users', to_user_id: 'users', benif_bank_id: 'bank_accounts' },
  deliveries: { event_id: 'events' },
} as const satisfies Partial<Record<Table, Readonly<Record<string, Table>>>>

// Two payments cannot have the same value in these fields. References, e-mails and mobiles can repeat, and a payment can go to
// an account that is not verified: a reading permits it, and another reading can be in force later.
const UNIQUE_FIELDS: Partial<Record<Table, readonly string[]>> = { payments: ['id', 'utr'] }

type AnyRow = Record<string, unknown>
type KeyOf = (row: AnyRow) => string | null

/** Calls `onRepeat` for every row whose key an earlier row has. */
function* findRepeats(rows: readonly AnyRow[], keyOf: KeyOf, onRepeat: (row: number) => void) {
  const seen = new Set<string>()
  for (const [i, row] of rows.entries()) {
    yield
    const key = keyOf(row)
    if (key === null) continue
    if (seen.has(key)) onRepeat(i)
    seen.add(key)
  }
}

function* checkUnique(rows: CheckedRows, note: NoteProblem) {
  for (const table of Object.keys(rows) as Table[]) {
    const of = rows[table] as readonly object[] as readonly AnyRow[]
    const { id } = TABLES[table] as unknown as { id: KeyOf }
    yield* findRepeats(of, id, (i) => note(table, i, '', { kind: 'duplicate' }))
    for (const field of UNIQUE_FIELDS[table] ?? [])
      yield* findRepeats(
        of,
        (row) => row[field] as string | null,
        (i) =>
          note(table, i, field, { kind: 'invalid', message: 'is the same as in an earlier row' }),
      )
  }
}

function* checkReferences(rows: CheckedRows, note: NoteProblem) {
  const ids = new Map<Table, Set<string>>()
  for (const table of ['users', 'bank_accounts', 'events'] as const) {
    const known = new Set<string>()
    ids.set(table, known)
    for (const row of rows[table] ?? []) {
      known.add(TABLES[table].id(row as never))
      yield
    }
  }
  for (const [table, references] of Object.entries(REFERENCES) as [
    Table,
    Record<string, Table>,
  ][]) {
    const fields = Object.entries(references)
    for (const [i, row] of (rows[table] ?? []).entries()) {
      yield
      for (const [field, target] of fields) {
        const id = (row as object as AnyRow)[field] as string
        if (!ids.get(target)!.has(id)) note(table, i, field, { kind: 'missing', table: target, id })
      }
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
    const invalid = (field: string, message: string) =>
      note('payments', i, field, { kind: 'invalid', message })
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

/**
 * Notes the problems that no row has alone: duplicates, missing references, and a payment that the rest of its world
 * makes impossible. `clientOf` returns the client of a user if the rows have several. The caller can pause at each
 * `yield`.
 */
export function* checkRows(
  rows: CheckedRows,
  note: NoteProblem,
  clientOf: ClientOf = () => '',
): Generator<undefined, void> {
  yield* checkUnique(rows, note)
  yield* checkReferences(rows, note)
  for (const [i, row] of (rows.kyc ?? []).entries()) {
    yield
    // A bad document is stored as a failed record.
    if (row.kyc_status !== 'failed' && DOCUMENT_OF[row.document_type] !== row.document_name)
      note('kyc', i, 'document_name', {
        kind: 'invalid',
        message: 'must be aadhar with pid, or pan with tid',
      })
  }
  yield* checkPayments(rows, note, clientOf)
}
