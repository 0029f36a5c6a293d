import { amountAsText } from './amount-as-text.ts'
import type { Assumption } from './assumption.ts'
import { idempotencyKey } from './idempotency-key.ts'
import { listOrder } from './list-order.ts'
import { ownRequestFields } from './own-request-fields.ts'
import { processingStatus } from './processing-status.ts'
import { referenceId } from './reference-id.ts'
import { unknownRequestFields } from './unknown-request-fields.ts'

/** Every assumption, in the order of docs/assumptions.md. */
export const ASSUMPTIONS: readonly Assumption[] = [
  idempotencyKey,
  referenceId,
  ownRequestFields,
  amountAsText,
  unknownRequestFields,
  processingStatus,
  listOrder,
]
