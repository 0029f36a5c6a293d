import * as z from 'zod'
import { ANY_VALUE, MaskedIfsc, MaskedNumber, sandboxDefault } from './client.ts'
import { Timestamp, Uuid } from './formats.ts'
import { envelope, listFields, listQuery } from './paging.ts'
import { Amount, PaymentFailure, type PaymentRow, PaymentStatus } from './payment.ts'

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
      ANY_VALUE.describe(
        'The contract does not show its content. In this sandbox: null, or why the payment failed (`reason`, `description`, `source`).',
      ),
    ),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'HistoryRecord' })

export const UserHistoryQuery = listQuery(10)
export const HistoryQuery = UserHistoryQuery.extend({ type: z.enum(['debit']).optional() })
export const HistoryResponse = envelope(
  200,
  z.strictObject({
    total_transactions: z.int(),
    ...listFields,
    total_pages: z.int(),
    transactions: z.array(HistoryRecord),
  }),
).meta({ id: 'HistoryResponse' })

/** Whose history a payment is in: the paying user's for a debit, the receiving user's for a credit. */
export const historyUserOf = (row: PaymentRow): string =>
  row.transaction_type === 'debit' ? row.from_user_id : row.to_user_id

/** The other user of a payment. */
export const historyOtherUserOf = (row: PaymentRow): string =>
  row.transaction_type === 'debit' ? row.to_user_id : row.from_user_id
