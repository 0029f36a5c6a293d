import * as z from 'zod'
import { BankStatus } from './bank-account.ts'
import { Timestamp, Uuid } from './formats.ts'

/** The four states of a payment, as the history names them. */
export const PaymentStatus = z.enum(['PENDING', 'PROCESSING', 'SUCCESS', 'FAILED'])
export type PaymentStatus = z.infer<typeof PaymentStatus>

/** Why a payment failed, as the metadata of the history returns it. */
export const PaymentFailure = z
  .strictObject({
    reason: z.string(),
    description: z.string(),
    source: z.enum(['gateway', 'beneficiary_bank', 'business', 'internal']),
  })
  .meta({ id: 'PaymentFailure' })
export type PaymentFailure = z.infer<typeof PaymentFailure>

/** Who can set the status of a payment outside its steps: an admin call, or the timeline of a scenario. */
export const SetBy = z.enum(['call', 'timeline'])
export type SetBy = z.infer<typeof SetBy>

/**
 * The one stored row behind both views of a payment: `/transaction` and `/transaction/history`.
 * Paise as an integer, full account number; the views mask.
 */
export const PaymentRow = z.strictObject({
  transaction_id: Uuid,
  id: Uuid,
  reference_id: z.string().nullable(),
  client_transaction_id: z.string(),
  partner_transaction_id: z.string(),
  from_user_id: Uuid,
  to_user_id: Uuid,
  benif_bank_id: Uuid,
  account_number: z.string(),
  ifsc_code: z.string(),
  account_name: z.string(),
  bank_status: BankStatus,
  currency_code: z.literal('INR'),
  transaction_type: z.enum(['debit', 'credit']),
  paise: z.int(),
  status: PaymentStatus,
  utr: z.string().nullable(),
  remark: z.string(),
  failure: PaymentFailure.nullable(),
  created_at: Timestamp,
  /** When it changed: when it reached its current status, or got its UTR after that. */
  updated_at: Timestamp,
  /** When it reached the statuses after the first one, if `updated_at` does not say it. */
  earlier: z
    .strictObject({ PROCESSING: Timestamp.optional(), SUCCESS: Timestamp.optional() })
    .optional(),
  /** Who set the status that it has, if not the steps with which it began. */
  set_by: SetBy.optional(),
})
export type PaymentRow = z.infer<typeof PaymentRow>

/** A status of a payment, and when it was reached. */
export const PaymentStep = z
  .strictObject({ status: PaymentStatus, at: Timestamp })
  .meta({ id: 'PaymentStep' })
