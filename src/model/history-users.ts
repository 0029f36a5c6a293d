import type { PaymentRow } from './payment.ts'

/** Whose history a payment is in: the paying user's for a debit, the receiving user's for a credit. */
export const historyUserOf = (row: PaymentRow): string =>
  row.transaction_type === 'debit' ? row.from_user_id : row.to_user_id

/** The other user of a payment. */
export const historyOtherUserOf = (row: PaymentRow): string =>
  row.transaction_type === 'debit' ? row.to_user_id : row.from_user_id
