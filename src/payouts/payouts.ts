import type { WorldContext } from '../tables/world-context.ts'
import { createBankAccounts } from './bank-accounts.ts'
import { createKyc } from './kyc.ts'
import { type NewTable, VISIBLE_TIMER } from './lifecycle.ts'
import { createPayments } from './payments.ts'
import { createUsers } from './users.ts'

/** What a client's users do: KYC, bank accounts and payments. */
export function createPayouts(context: WorldContext, checkKyc: () => boolean) {
  const users = createUsers(context)
  const { store, scheduler } = context
  scheduler.handle(VISIBLE_TIMER, ({ resource_id, payload }) => {
    const table = payload['table'] as NewTable
    const row = store.tables[table].get(resource_id!)
    if (!row) return false
    const { visible_at: _, ...visible } = row
    store.put(table, visible as typeof row)
    return undefined
  })
  return {
    users,
    kyc: createKyc({ ...context, users }),
    bankAccounts: createBankAccounts({ ...context, users }),
    payments: createPayments({ ...context, users, checkKyc }),
  }
}

export type Payouts = ReturnType<typeof createPayouts>
