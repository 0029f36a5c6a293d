import * as z from 'zod'
import { accountTextParts, BenifBank } from './bank-account.ts'
import { envelope } from './envelope.ts'
import { Timestamp, text, Uuid } from './formats.ts'
import { type JsonText, json, stringify, timesText, unescaped } from './json-text.ts'
import { listFields, listQuery } from './list.ts'
import { maskNumber } from './mask.ts'
import { Amount, AmountInput, rupeesOf } from './money.ts'
import type { PaymentRow, PaymentStatus } from './payment.ts'
import { MaskedNumber, sandboxDefault } from './sandbox-default.ts'

/** Interface 2.4: a payment from user to user. */
export const Transaction = z
  .strictObject({
    transaction_id: Uuid,
    client_id: Uuid,
    reference_id: z.string().nullable(),
    from_user_id: Uuid,
    to_user_id: Uuid,
    benif_bank_id: Uuid,
    currency_code: sandboxDefault(z.string().length(3)),
    transaction_type: sandboxDefault(z.enum(['debit', 'credit'])),
    amount: Amount,
    utr: MaskedNumber.nullable(),
    transaction_status: sandboxDefault(
      z.enum(['pending', 'processing', 'success', 'failed']),
      z.string().regex(/^[^A-Z]*$/),
    ),
    created_at: Timestamp,
    updated_at: Timestamp,
    benif_bank: BenifBank,
  })
  .meta({ id: 'Transaction' })

/** Body of POST /transaction. */
export const CreateTransaction = z
  .object({
    from_user_id: Uuid,
    to_user_id: Uuid,
    benif_bank_id: Uuid,
    amount: AmountInput,
    reference_id: text(100).optional(),
    remark: text(50, 0).optional(),
    currency_code: z.literal('INR').default('INR'),
  })
  .meta({ id: 'CreateTransaction' })
export type CreateTransaction = z.infer<typeof CreateTransaction>

export const TransactionQuery = listQuery(10)
export const TransactionsResponse = envelope(200, z.array(Transaction)).meta({
  id: 'TransactionsAnswer',
})
/** `total_transation` is the service's own spelling. */
export const ListTransactionsResponse = envelope(
  200,
  z.strictObject({
    total_transation: z.int(),
    ...listFields,
    total_pages: z.int(),
    transactions: z.array(Transaction),
  }),
).meta({ id: 'ListTransactionsAnswer' })

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
