import type { WorldContext } from '../tables/world-context.ts'
import { createBankAccounts } from './bank-accounts.ts'
import { createKyc } from './kyc.ts'
import { createPayments } from './payments.ts'
import { createUsers } from './users.ts'

/** What a client's users do: KYC, bank accounts and payments. */
export function createPayouts(context: WorldContext, checkKyc: () => boolean) {
  const users = createUsers(context)
  return {
    users,
    kyc: createKyc({ ...context, users }),
    bankAccounts: createBankAccounts({ ...context, users }),
    payments: createPayments({ ...context, users, checkKyc }),
  }
}

export type Payouts = ReturnType<typeof createPayouts>
