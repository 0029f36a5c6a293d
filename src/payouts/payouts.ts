import type { WorldContext } from '../tables/world-context.ts'
import { createBankAccounts } from './bank-accounts.ts'
import { createKyc } from './kyc.ts'
import { createPayments } from './payments.ts'
import { createUsers } from './users.ts'
import { createViews } from './views.ts'

/** What a client and its users do: KYC, bank accounts and payments. */
export function createPayouts(context: WorldContext) {
  /** The row of the client. Its id changes with a reset to other fixtures or a restored snapshot. */
  const profile = () => context.store.tables.client.newest('all', 'all')!.row
  const users = createUsers(context)
  return {
    profile,
    users,
    kyc: createKyc({ ...context, users }),
    bankAccounts: createBankAccounts({ ...context, users }),
    payments: createPayments({ ...context, users, checkKyc: () => profile().check_kyc }),
    views: createViews(() => profile().client_id, context.assumed),
  }
}

export type Payouts = ReturnType<typeof createPayouts>
