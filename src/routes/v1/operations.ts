import type { Operation } from '../../http/operation.ts'
import { bankAccountOperations } from './bank-accounts.ts'
import { clientOperations } from './client.ts'
import { historyOperations } from './history.ts'
import { kycOperations } from './kyc.ts'
import { transactionOperations } from './transactions.ts'
import { userOperations } from './users.ts'
import { webhookOperations } from './webhook.ts'

/** Every endpoint of the service. */
export const OPERATIONS: readonly Operation[] = [
  ...userOperations,
  ...kycOperations,
  ...bankAccountOperations,
  ...transactionOperations,
  ...historyOperations,
  ...clientOperations,
  ...webhookOperations,
]
