import * as z from 'zod'
import { BenifBank } from './bank-account.ts'
import { MaskedNumber, sandboxDefault } from './client.ts'
import { Timestamp, text, Uuid } from './formats.ts'
import { envelope, listFields, listQuery } from './paging.ts'
import { Amount, AmountInput } from './payment.ts'

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
  id: 'TransactionsResponse',
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
).meta({ id: 'ListTransactionsResponse' })
