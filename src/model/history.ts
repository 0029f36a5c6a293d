import * as z from 'zod'
import { bankNameOf } from './bank-names.ts'
import { envelope } from './envelope.ts'
import { Timestamp, Uuid } from './formats.ts'
import { type JsonText, json, stringify, timesText, unescaped } from './json-text.ts'
import { listFields, listQuery } from './list.ts'
import { maskIfsc, maskNumber } from './mask.ts'
import { Amount, rupeesOf } from './money.ts'
import { PaymentFailure, type PaymentRow, PaymentStatus } from './payment.ts'
import { ANY_VALUE, MaskedIfsc, MaskedNumber, sandboxDefault } from './sandbox-default.ts'

/** Interface 2.5: a payment as a flat payout record. */
export const HistoryRecord = z
  .strictObject({
    id: Uuid,
    client_id: Uuid,
    client_transaction_id: z.string().max(100),
    partner_transaction_id: z.string().max(100),
    user_id: Uuid,
    account_holder_name: z.string(),
    account_number: MaskedNumber,
    ifsc_code: MaskedIfsc,
    bank_name: z.string(),
    amount: Amount,
    status: PaymentStatus,
    currency: z.string().length(3),
    utr: z.string().max(100).nullable(),
    // The contract: an optional note. In all known examples it is null.
    remark: sandboxDefault(z.string().max(50).nullable(), z.string().max(50).nullish()),
    metadata: sandboxDefault(
      PaymentFailure.nullable(),
      ANY_VALUE.meta({
        description:
          'The contract does not show its content. In this sandbox: null, or why the payment failed (`reason`, `description`, `source`).',
      }),
    ),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'HistoryRecord' })

export const UserHistoryQuery = listQuery(10)
export const HistoryQuery = UserHistoryQuery.extend({ type: z.literal('debit').optional() })
export const HistoryResponse = envelope(
  200,
  z.strictObject({
    total_transactions: z.int(),
    ...listFields,
    total_pages: z.int(),
    transactions: z.array(HistoryRecord),
  }),
).meta({ id: 'HistoryAnswer' })

/** Whose history a payment is in: the paying user's for a debit, the receiving user's for a credit. */
export const historyUserOf = (row: PaymentRow): string =>
  row.transaction_type === 'debit' ? row.from_user_id : row.to_user_id

/** The other user of a payment. */
export const historyOtherUserOf = (row: PaymentRow): string =>
  row.transaction_type === 'debit' ? row.to_user_id : row.from_user_id

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
