import type * as z from 'zod'
import { ClientRow } from '../model/client.ts'
import type { FixtureSet, Fixtures } from '../model/fixtures.ts'
import { omitUndefined } from '../model/formats.ts'
import { type KycMetadata, panMetadata, panResult } from '../model/kyc.ts'
import { inOrderOf } from '../model/paging.ts'
import { failureOf, paiseOf } from '../model/payment.ts'
import { headsOf, indiasDay } from '../payouts/payments.ts'
import { uuidOf } from '../runtime/random.ts'
import { ROWS, type Rows } from '../tables/rows.ts'

/** The rows of a set in the order of its files; clients have none yet. */
export type FixtureRows = {
  [T in 'client' | 'users' | 'kyc' | 'bank_accounts' | 'payments' | 'webhook']: Rows[T][]
}

function kycMetadata(row: Fixtures['kyc'][number]): KycMetadata | null {
  if (row.document_type === 'pid') return null
  const ok = row.kyc_status === 'success'
  const statusCode = row.statusCode ?? 200
  const message = row.message ?? (ok ? 'PAN verified successfully' : 'PAN verification failed')
  const result = panResult(row.document_number, statusCode, row.result)
  return panMetadata(ok, message, statusCode, result, {
    requestId: `${Date.parse(row.created_at)}-${uuidOf(`request ${row.kyc_id}`)}`,
    transactionId: uuidOf(`transaction ${row.kyc_id}`),
  })
}

const inOrder = <R extends { created_at: string }>(rows: readonly R[]) =>
  rows.toSorted((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at))

/** The ids of each user that follow from other rows: the last verified documents, and the first verified account. */
function linksOf(set: Fixtures) {
  const links = new Map(
    set.users.map(({ user_id }) => [
      user_id,
      { pid: null, tid: null, bank_id: null } as Pick<Rows['users'], 'pid' | 'tid' | 'bank_id'>,
    ]),
  )
  for (const row of inOrder(set.kyc)) {
    const link = links.get(row.user_id)
    if (link && row.kyc_status === 'success') link[row.document_type] = row.kyc_id
  }
  for (const row of inOrder(set.bank_accounts)) {
    const link = links.get(row.user_id)
    if (link && row.bank_status === 'success') link.bank_id ??= row.bank_id
  }
  return links
}

/** The client of a set that has no clients. */
const DEFAULT_CLIENT = {
  client_id: 'c0000000-0000-4000-8000-000000000001',
  access_token: 'sbx_test_token',
  name: 'Sandbox Payments',
  email: 'payments@example.com',
}

const digitsOf = (uuid: string, count: number) =>
  String(Number.parseInt(uuid.slice(-12), 16) % 10 ** count).padStart(count, '0')

/** Gives rows the ids and numbers that they lack: derived from their other fields, so that each start derives the same. */
export function complete(set: FixtureSet): Fixtures {
  const taken = new Set(
    set.transactions.flatMap((row) => [
      ...[row.transaction_id, row.id, row.partner_transaction_id, row.utr],
    ]),
  )
  const derive = (field: string, content: unknown, numberOf = (uuid: string) => uuid): string => {
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    for (let n = 0; ; n++) {
      const value = numberOf(uuidOf(`${field} ${n} ${text}`))
      if (taken.has(value)) continue
      taken.add(value)
      return value
    }
  }
  for (const row of set.clients) {
    const { client } = row
    const own = {
      client_id: uuidOf(`client ${client}`),
      access_token: `sbx_${client}`,
      name: `Sandbox client ${client}`,
      email: `${client}@example.com`,
    }
    Object.assign(row, { ...(client === 'default' ? DEFAULT_CLIENT : own), ...row })
  }
  for (const row of set.users) row.user_id ??= derive('user', [row.client, row.email, row.mobile])
  for (const row of set.kyc)
    row.kyc_id ??= derive('kyc', [row.user_id, row.document_type, row.document_number])
  for (const row of set.bank_accounts)
    row.bank_id ??= derive('bank', [row.user_id, row.account_number, row.ifsc_code])
  for (const row of set.webhooks) row.webhook_id ??= derive('webhook', [row.client, row.url])
  for (const row of set.transactions) {
    const content = JSON.stringify(row)
    row.transaction_id ??= derive('transaction', content)
    row.id ??= derive('history', content)
    row.partner_transaction_id ??= derive('partner', content, (uuid) => `PTX${digitsOf(uuid, 15)}`)
    const { imps } = headsOf(indiasDay(Date.parse(row.created_at)))
    if (row.status === 'SUCCESS')
      row.utr ??= derive('utr', content, (uuid) => imps + digitsOf(uuid, 8))
  }
  return set as Fixtures
}

/** Returns the function that makes rows of a table: their fields have the order of its schema, and it has no others. */
function rowsBy<R extends { updated_at: string; created_at: string }>(schema: z.ZodType<R>) {
  const inOrder = inOrderOf(schema)
  return (row: Omit<R, 'updated_at'> & { updated_at?: string | undefined }) =>
    omitUndefined(inOrder({ ...row, updated_at: row.updated_at ?? row.created_at })) as R
}
const clientRow = rowsBy(ClientRow)
const userRow = rowsBy(ROWS.users)
const kycRow = rowsBy(ROWS.kyc)
const accountRow = rowsBy(ROWS.bank_accounts)
const paymentRow = rowsBy(ROWS.payments)

/** Turns a set into stored rows: row n of a table is made from row n of its noun. */
export function rowsOf(set: Fixtures): FixtureRows {
  const links = linksOf(set)
  const accounts = new Map(set.bank_accounts.map((row) => [row.bank_id, row]))
  return {
    client: set.clients.map(clientRow),
    users: set.users.map((row) => userRow({ ...row, ...links.get(row.user_id)! })),
    kyc: set.kyc.map((row) => kycRow({ ...row, metadata: kycMetadata(row) })),
    bank_accounts: set.bank_accounts.map((row) =>
      accountRow({ ...row, account_name: row.account_holder_name }),
    ),
    payments: set.transactions.map((row) => {
      const account = accounts.get(row.benif_bank_id)
      return paymentRow({
        ...row,
        utr: row.utr ?? null,
        reference_id: row.reference_id ?? null,
        client_transaction_id: row.client_transaction_id ?? row.reference_id ?? row.id,
        // A missing account is an error that the check of the rows finds.
        account_number: account?.account_number ?? '',
        ifsc_code: account?.ifsc_code ?? '',
        account_name: account?.account_holder_name ?? '',
        bank_status: account?.bank_status ?? 'failed',
        currency_code: 'INR',
        paise: paiseOf(row.amount)!,
        failure: row.status === 'FAILED' && row.reason ? failureOf(row.reason) : null,
      })
    }),
    webhook: set.webhooks.map(({ webhook_id, url, webhook_secret }) => ({
      webhook_id,
      url,
      webhook_secret,
    })),
  }
}

/** The rows of one client, oldest first. */
export function rowsOfClient(set: Fixtures, rows: FixtureRows, name: string): FixtureRows {
  const isOfClient = (row: { client: string }) => row.client === name
  const users = new Set(set.users.filter(isOfClient).map((row) => row.user_id))
  return {
    client: rows.client.filter(isOfClient),
    users: inOrder(rows.users.filter((row) => users.has(row.user_id))),
    kyc: inOrder(rows.kyc.filter((row) => users.has(row.user_id))),
    bank_accounts: inOrder(rows.bank_accounts.filter((row) => users.has(row.user_id))),
    payments: inOrder(rows.payments.filter((row) => users.has(row.from_user_id))),
    webhook: rows.webhook.filter((_, i) => isOfClient(set.webhooks[i]!)),
  }
}
