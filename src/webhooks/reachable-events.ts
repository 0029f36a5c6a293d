import { canTransition } from '../model/lifecycle.ts'
import { kindOf } from '../tables/resource-ids.ts'
import type { SandboxTables } from '../tables/tables.ts'

/** Whether an event can still happen to a resource, automatically or on request. */
export function isReachable(
  event: string,
  resource_id: string,
  { payments, kyc, bank_accounts, timers }: SandboxTables['tables'],
): boolean {
  const status = event.slice(event.indexOf('.') + 1)
  switch (kindOf(event)) {
    case 'transaction': {
      const now = payments.get(resource_id)?.status
      if (!now || !canTransition('transaction', now, status.toUpperCase())) return false
      if (now !== 'SUCCESS') return true
      // A payment is reversed late only by a scheduled step.
      for (const timer of timers.rows()) if (timer.resource_id === resource_id) return true
      return false
    }
    case 'kyc':
      return canTransition('kyc', kyc.get(resource_id)?.kyc_status ?? '', status)
    case 'bank':
      return canTransition('bank', bank_accounts.get(resource_id)?.bank_status ?? '', status)
    default:
      return false
  }
}
