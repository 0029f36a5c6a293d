import type { Assumption } from './assumption.ts'
import { errorBody } from './error-body.ts'
import { idempotencyKey } from './idempotency-key.ts'
import { listOrder } from './list-order.ts'
import { processingStatus } from './processing-status.ts'
import { rateLimit } from './rate-limit.ts'
import { token } from './token.ts'
import { tokenLifetime } from './token-lifetime.ts'
import { webhookDelivery } from './webhook-delivery.ts'
import { webhookOrder } from './webhook-order.ts'
import { webhookSignature } from './webhook-signature.ts'

/** Every assumption, in the order of docs/assumptions.md. */
export const ASSUMPTIONS: readonly Assumption[] = [
  idempotencyKey,
  processingStatus,
  listOrder,
  token,
  tokenLifetime,
  rateLimit,
  errorBody,
  webhookDelivery,
  webhookOrder,
  webhookSignature,
]
