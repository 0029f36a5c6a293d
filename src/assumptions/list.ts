import type { Assumption } from './assumption.ts'
import { duplicateUser } from './duplicate-user.ts'
import { historyMetadata } from './history-metadata.ts'
import { idempotencyKey } from './idempotency-key.ts'
import { kycBadDocument } from './kyc-bad-document.ts'
import { listOrder } from './list-order.ts'
import { missingRemark } from './missing-remark.ts'
import { processingStatus } from './processing-status.ts'
import { refusedBankAccount } from './refused-bank-account.ts'
import { sameBankAccount } from './same-bank-account.ts'
import { userHistory } from './user-history.ts'
import { utrForm } from './utr-form.ts'
import { utrOfSuccess } from './utr-of-success.ts'

/** Every assumption, in the order of docs/assumptions.md. */
export const ASSUMPTIONS: readonly Assumption[] = [
  idempotencyKey,
  processingStatus,
  listOrder,
  refusedBankAccount,
  sameBankAccount,
  duplicateUser,
  historyMetadata,
  missingRemark,
  userHistory,
  utrForm,
  utrOfSuccess,
  kycBadDocument,
]
