// The JSON texts of rows in responses. They are apart from the schemas, which a start does not need.
import type { BankAccountRow, BankStatus } from './bank-account.ts'
import { bankNameOf } from './bank-names.ts'
import type { ClientRow } from './client.ts'
import { historyUserOf } from './history-users.ts'
import { type JsonText, json, stringify, timesText, unescaped } from './json-text.ts'
import type { KycRow } from './kyc.ts'
import { maskIfsc, maskNumber } from './mask.ts'
import { rupeesOf } from './money.ts'
import type { PaymentRow, PaymentStatus } from './payment.ts'
import type { UserRow } from './user.ts'

const idOrNull = (id: string | null): JsonText => json(id === null ? 'null' : `"${unescaped(id)}"`)

/**
 * The JSON text of a user, in the order of the responses, without braces and the fields that depend on the client. Built
 * from strings, as that of a payment.
 */
export function userTextParts(row: UserRow): JsonText {
  const { user_type, email, mobile, pid, tid, bank_id } = row
  const ids = json(`"pid":${idOrNull(pid)},"tid":${idOrNull(tid)},"bank_id":${idOrNull(bank_id)}`)
  return json(
    `"user_type":"${user_type}","email":${stringify(email)},"mobile":${stringify(mobile)},${ids},${timesText(row)}`,
  )
}

/** The JSON text of the public fields of a bank account, without braces; only user input needs escaping. */
export const accountTextParts = (
  bank_id: string,
  user_id: string,
  row: { account_number: string; ifsc_code: string; bank_status: BankStatus },
): JsonText => {
  const ids = json(`"bank_id":"${unescaped(bank_id)}","user_id":"${unescaped(user_id)}"`)
  const [number, ifsc] = [
    stringify(maskNumber(row.account_number)),
    stringify(maskIfsc(row.ifsc_code)),
  ]
  return json(
    `${ids},"bank_name":null,"account_number":${number},"ifsc_code":${ifsc},"bank_status":"${row.bank_status}"`,
  )
}

/** The JSON text of an account in a list. */
export const bankAccountText = (row: BankAccountRow): JsonText =>
  json(`{${accountTextParts(row.bank_id, row.user_id, row)},${timesText(row)}}`)

/** The JSON text of a record, masked. */
export const kycText = (row: KycRow): JsonText => {
  const { metadata, created_at, updated_at, ...rest } = row
  return stringify({
    ...rest,
    document_number: maskNumber(row.document_number),
    vp: null,
    metadata,
    created_at,
    updated_at,
  })
}

/** The status of a payment as the API shows it in `transaction_status`; `processing` is the word for PROCESSING. */
export function apiStatus(status: PaymentStatus, processing: 'pending' | 'processing') {
  if (status === 'PROCESSING') return processing
  return status === 'PENDING' ? 'pending' : status === 'SUCCESS' ? 'success' : 'failed'
}

/**
 * The JSON text of a payment in the view of 2.4, without braces, id and client id. Every payment renders it, so it is
 * built from strings, in half the time of an object; only user input needs escaping.
 */
export function transactionTextParts(
  row: PaymentRow,
  processing: 'pending' | 'processing',
): JsonText {
  const { from_user_id, to_user_id, benif_bank_id, currency_code, transaction_type, utr } = row
  const users = json(
    `"from_user_id":"${unescaped(from_user_id)}","to_user_id":"${unescaped(to_user_id)}","benif_bank_id":"${unescaped(benif_bank_id)}"`,
  )
  const money = json(
    `"currency_code":"${currency_code}","transaction_type":"${transaction_type}","amount":"${unescaped(rupeesOf(row.paise))}"`,
  )
  const status = json(
    `"utr":${stringify(utr && maskNumber(utr))},"transaction_status":"${apiStatus(row.status, processing)}"`,
  )
  const account = accountTextParts(benif_bank_id, to_user_id, row)
  return json(
    `"reference_id":${stringify(row.reference_id)},${users},${money},${status},${timesText(row)},"benif_bank":{${account}}`,
  )
}

/** What readings decide about a history record. */
export type HistoryView = {
  /** Whether a failed payment shows the reason. */
  hasReason: boolean
  /** The value of a missing remark. */
  noRemark: '' | null
  /** The UTR as it is shown. */
  utrOf: (utr: string | null) => string | null
}

/**
 * The JSON text of a payment in the view of 2.5, without braces, id and client id. Built
 * like the text of 2.4.
 */
export function historyTextParts(
  row: PaymentRow,
  { hasReason, noRemark, utrOf }: HistoryView,
  userId = historyUserOf(row),
): JsonText {
  const { client_transaction_id, partner_transaction_id, account_number, ifsc_code } = row
  const ids = json(
    `"client_transaction_id":${stringify(client_transaction_id)},"partner_transaction_id":${stringify(partner_transaction_id)},"user_id":"${unescaped(userId)}"`,
  )
  const account = json(
    `"account_holder_name":${stringify(row.account_name)},"account_number":${stringify(maskNumber(account_number))},"ifsc_code":${stringify(maskIfsc(ifsc_code))},"bank_name":${stringify(bankNameOf(ifsc_code))}`,
  )
  const money = json(
    `"amount":"${unescaped(rupeesOf(row.paise))}","status":"${row.status}","currency":"${row.currency_code}","utr":${stringify(utrOf(row.utr))}`,
  )
  const notes = json(
    `"remark":${stringify(row.remark || noRemark)},"metadata":${stringify(hasReason ? row.failure : null)}`,
  )
  return json(`${ids},${account},${money},${notes},${timesText(row)}`)
}

/** The JSON text of a profile. */
export const clientProfileText = (row: ClientRow): JsonText => {
  const { client: _, access_token: __, ...profile } = row
  return stringify({ ...profile, ClientConfigurations: [] })
}
