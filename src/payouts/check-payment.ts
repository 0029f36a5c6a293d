import { processingStatus, referenceId, unverifiedAccount } from '../assumptions/payments.ts'
import { statusWords } from '../assumptions/responses.ts'
import type { BankAccountRow } from '../model/bank-account.ts'
import { type ErrorCode, SandboxError } from '../model/errors.ts'
import { quoteInput } from '../model/mask.ts'
import type { PaymentRow } from '../model/payment.ts'
import type { CreateTransaction } from '../model/transaction.ts'
import { fieldError, notFound, type WorldContext } from '../tables/world-context.ts'
import type { Users } from './users.ts'
import { apiStatus } from './views.ts'

/** The payer and the account of the receiver. */
export type Parties = { payer_id: string; account: BankAccountRow }

const reject = (code: ErrorCode, field: string, message: string, advice: string) => {
  throw new SandboxError(code, `${message} ${advice}`, fieldError(field, code, message))
}

/** The error of a second payment. A caller that lost the first response must not pay twice because of it. */
function duplicateReference(
  { transaction_id, status }: PaymentRow,
  { assumed }: Pick<WorldContext, 'assumed'>,
): SandboxError {
  const shown = apiStatus(status, assumed.get(processingStatus))
  const used = `was used for transaction ${transaction_id}, which is ${shown}`
  return new SandboxError(
    'duplicate_reference',
    `This reference_id ${used}. If you are retrying, do not pay again: read it with GET /transaction/${transaction_id}. Only a different payment may have a different reference_id.`,
    { errors: [{ field: 'reference_id', code: 'duplicate', message: used }] },
  )
}

export type PaymentCheckDeps = Pick<WorldContext, 'store' | 'assumed'> & {
  users: Users
  /** Whether a payer needs a successful KYC record. */
  checkKyc: () => boolean
}

/** Whether a user has a KYC record with which they can pay. */
export const hasSuccessfulKyc = (
  { kyc }: WorldContext['store']['tables'],
  userId: string,
): boolean =>
  kyc
    .page('user', userId, 0, Number.POSITIVE_INFINITY)
    .some(({ row }) => row.kyc_status === 'success')

/** Returns the function that finds the parties of a payment and throws the errors of POST /transaction. */
export function createPaymentCheck({ store, assumed, users, checkKyc }: PaymentCheckDeps) {
  const { payments, bank_accounts } = store.tables

  return (input: CreateTransaction): Parties => {
    const { from_user_id, to_user_id, benif_bank_id, reference_id } = input
    const { id: payer_id } = users.get(from_user_id, 'from_user_id')
    users.get(to_user_id, 'to_user_id')
    const account = bank_accounts.get(benif_bank_id)
    if (!account) throw notFound('bank account', quoteInput(benif_bank_id), 'benif_bank_id')
    if (from_user_id === to_user_id)
      reject(
        'same_user',
        'to_user_id',
        'from_user_id and to_user_id are the same user.',
        'Pay to another user.',
      )
    if (account.user_id !== to_user_id)
      reject(
        'bank_user_mismatch',
        'benif_bank_id',
        `The bank account ${benif_bank_id} does not belong to user ${to_user_id}.`,
        'Use an account of the receiver.',
      )
    if (account.bank_status !== 'success' && !assumed.get(unverifiedAccount))
      reject(
        'bank_not_verified',
        'benif_bank_id',
        `The bank account ${benif_bank_id} is ${assumed.get(statusWords).bank[account.bank_status]}.`,
        'Use one with bank_status success.',
      )
    if (checkKyc() && !hasSuccessfulKyc(store.tables, from_user_id)) {
      throw new SandboxError(
        'kyc_required',
        `User ${from_user_id} has no successful KYC record. Submit one with POST /kyc first.`,
      )
    }
    const earlier =
      reference_id === undefined || !assumed.get(referenceId).isUnique
        ? undefined
        : payments.first('reference', reference_id)
    if (earlier) throw duplicateReference(earlier.row, { assumed })
    return { payer_id, account }
  }
}
