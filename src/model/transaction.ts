import * as z from 'zod'
import { BenifBank } from './bank-account.ts'
import { ANY_VALUE, MaskedIfsc, MaskedNumber, sandboxDefault } from './client.ts'
import { named, rowTimes, text, Uuid } from './formats.ts'
import { envelope, listFields, listQuery } from './paging.ts'
import { Amount, AmountInput, PaymentFailure, type PaymentRow, PaymentStatus } from './payment.ts'

/** Interface 2.4: a payment from user to user. */
export const Transaction = named('Transaction', {
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
  ...rowTimes,
  benif_bank: BenifBank,
})

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
export const TransactionsResponse = envelope('TransactionsResponse', 200, z.array(Transaction))
/** `total_transation` is the service's own spelling. */
export const ListTransactionsResponse = envelope(
  'ListTransactionsResponse',
  200,
  z.strictObject({
    total_transation: z.int(),
    ...listFields,
    total_pages: z.int(),
    transactions: z.array(Transaction),
  }),
)

/** Interface 2.5: a payment as a flat payout record. */
export const HistoryRecord = named('HistoryRecord', {
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
  ...rowTimes,
})

export const UserHistoryQuery = listQuery(10)
export const HistoryQuery = UserHistoryQuery.extend({ type: z.enum(['debit']).optional() })
export const HistoryResponse = envelope(
  'HistoryResponse',
  200,
  z.strictObject({
    total_transactions: z.int(),
    ...listFields,
    total_pages: z.int(),
    transactions: z.array(HistoryRecord),
  }),
)

/** Whose history a payment is in: the paying user's for a debit, the receiving user's for a credit. */
export const historyUserOf = (row: PaymentRow): string =>
  row.transaction_type === 'debit' ? row.from_user_id : row.to_user_id

export const historyOtherUserOf = (row: PaymentRow): string =>
  row.transaction_type === 'debit' ? row.to_user_id : row.from_user_id
