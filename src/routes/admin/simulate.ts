import * as z from 'zod'
import { adminCall } from '../../http/admin-call.ts'
import { BankStatus } from '../../model/bank-account.ts'
import { named, text, Uuid } from '../../model/formats.ts'
import { KycStatus } from '../../model/kyc.ts'
import { PaymentStatus } from '../../model/payment.ts'

const ResourcePath = z.object({ id: Uuid })
const reason = text(64).optional()

/** The calls that change the status of one resource; a transition that its status does not allow is 422. */
export const simulateCalls = [
  adminCall({
    id: 'simulateTransaction',
    summary: "Change a payment's status, and cancel its scheduled steps",
    params: ResourcePath,
    body: z.strictObject({ status: PaymentStatus, reason }),
    response: named('MovedTransactionResponse', { transaction_id: Uuid, status: PaymentStatus }),
    errors: ['invalid_transition'],
    handle({ payouts }, { params, body: { status, reason: why } }) {
      const { row } = payouts.payments.simulate(params.id, {
        status,
        set_by: 'call',
        ...(why && { reason: why }),
      })
      return { transaction_id: row.transaction_id, status: row.status }
    },
  }),
  adminCall({
    id: 'simulateKyc',
    summary: "Change a pending KYC record's status",
    params: ResourcePath,
    body: z.strictObject({ status: KycStatus, reason }),
    response: named('MovedKycResponse', { kyc_id: Uuid, kyc_status: KycStatus }),
    errors: ['invalid_transition'],
    handle({ payouts }, { params, body: { status, reason: why } }) {
      const { row } = payouts.kyc.simulate(params.id, { status, ...(why && { message: why }) })
      return { kyc_id: row.kyc_id, kyc_status: row.kyc_status }
    },
  }),
  adminCall({
    id: 'simulateBankAccount',
    summary: "Change a pending bank account's status",
    params: ResourcePath,
    body: z.strictObject({ status: BankStatus, reason }),
    response: named('MovedBankAccountResponse', { bank_id: Uuid, bank_status: BankStatus }),
    errors: ['invalid_transition'],
    handle({ payouts }, { params, body: { status, reason: why } }) {
      const { row } = payouts.bankAccounts.simulate(params.id, {
        status,
        ...(why && { message: why }),
      })
      return { bank_id: row.bank_id, bank_status: row.bank_status }
    },
  }),
]
