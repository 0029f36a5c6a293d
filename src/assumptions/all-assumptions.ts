import { accountNumberFormat } from './account-number-format.ts'
import { amountAsText } from './amount-as-text.ts'
import type { Assumption } from './assumption.ts'
import { duplicateUser } from './duplicate-user.ts'
import { emptyQueryValue } from './empty-query-value.ts'
import { errorBody } from './error-body.ts'
import { historyMetadata } from './history-metadata.ts'
import { historyUtr } from './history-utr.ts'
import { idempotencyKey } from './idempotency-key.ts'
import { ifscCase } from './ifsc-case.ts'
import { kycBadDocument } from './kyc-bad-document.ts'
import { largestPage } from './largest-page.ts'
import { limitParameter } from './limit-parameter.ts'
import { listOrder } from './list-order.ts'
import { malformedId } from './malformed-id.ts'
import { missingRemark } from './missing-remark.ts'
import { mobileFormat } from './mobile-format.ts'
import { newWords } from './new-words.ts'
import { ownRequestFields } from './own-request-fields.ts'
import { pagePastTheEnd } from './page-past-the-end.ts'
import { processingStatus } from './processing-status.ts'
import { rateLimit } from './rate-limit.ts'
import { referenceId } from './reference-id.ts'
import { refusedBankAccount } from './refused-bank-account.ts'
import { sameBankAccount } from './same-bank-account.ts'
import { secondWebhook } from './second-webhook.ts'
import { statusWords } from './status-words.ts'
import { token } from './token.ts'
import { tokenLifetime } from './token-lifetime.ts'
import { trailingSlash } from './trailing-slash.ts'
import { unknownRequestFields } from './unknown-request-fields.ts'
import { unverifiedAccount } from './unverified-account.ts'
import { userHistory } from './user-history.ts'
import { utrForm } from './utr-form.ts'
import { utrOfSuccess } from './utr-of-success.ts'
import { webhookDelivery } from './webhook-delivery.ts'
import { webhookOrder } from './webhook-order.ts'
import { webhookSignature } from './webhook-signature.ts'

/** Every assumption, in the order of docs/assumptions.md. */
export const ASSUMPTIONS: readonly Assumption[] = [
  idempotencyKey,
  referenceId,
  ownRequestFields,
  amountAsText,
  unknownRequestFields,
  limitParameter,
  largestPage,
  emptyQueryValue,
  trailingSlash,
  pagePastTheEnd,
  malformedId,
  mobileFormat,
  accountNumberFormat,
  ifscCase,
  processingStatus,
  statusWords,
  listOrder,
  refusedBankAccount,
  sameBankAccount,
  unverifiedAccount,
  duplicateUser,
  historyMetadata,
  missingRemark,
  historyUtr,
  userHistory,
  utrForm,
  utrOfSuccess,
  kycBadDocument,
  token,
  tokenLifetime,
  rateLimit,
  errorBody,
  newWords,
  secondWebhook,
  webhookDelivery,
  webhookOrder,
  webhookSignature,
]
