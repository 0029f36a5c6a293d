import * as z from 'zod'
import { accountTextParts, BenifBank } from './bank-account.ts'
import { envelope } from './envelope.ts'
import { Timestamp, text, Uuid } from './formats.ts'
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
      z.enum(['pending', 'success', 'failed']),
      z.string().lowercase(),
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

/** The status of a payment as the API shows it in `transaction_status`. */
export const API_STATUS: Readonly<Record<PaymentStatus, 'pending' | 'success' | 'failed'>> = {
  PENDING: 'pending',
  PROCESSING: 'pending',
  SUCCESS: 'success',
  FAILED: 'failed',
}

/**
 * The JSON text of a payment in the view of 2.4, without the opening brace, id and client id. Every payment renders
 * it, so it is built from strings, in half the time of an object; only user input needs escaping.
 */
export const transactionTextParts = (row: PaymentRow): string =>
  `"reference_id":${JSON.stringify(row.reference_id)},` +
  `"from_user_id":"${row.from_user_id}","to_user_id":"${row.to_user_id}","benif_bank_id":"${row.benif_bank_id}",` +
  `"currency_code":"${row.currency_code}","transaction_type":"${row.transaction_type}",` +
  `"amount":"${rupeesOf(row.paise)}","utr":${JSON.stringify(row.utr && maskNumber(row.utr))},` +
  `"transaction_status":"${API_STATUS[row.status]}",` +
  `"created_at":"${row.created_at}","updated_at":"${row.updated_at}",` +
  `"benif_bank":{${accountTextParts(row.benif_bank_id, row.to_user_id, row)}}}`
