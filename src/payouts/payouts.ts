import { type WorldContext, withMore } from '../tables/world-context.ts'
import { type BankAccounts, createBankAccounts } from './bank-accounts.ts'
import { createKyc, type Kyc } from './kyc.ts'
import { createPayments, type Payments } from './payments.ts'
import { createUsers, type Users } from './users.ts'

/** What a client's users do: KYC, bank accounts and payments. Each is made when it is first used. */
export class Payouts {
  readonly users: Users
  readonly #context: WorldContext
  readonly #checkKyc: () => boolean
  #kyc: Kyc | undefined
  #bankAccounts: BankAccounts | undefined
  #payments: Payments | undefined

  constructor(context: WorldContext, checkKyc: () => boolean) {
    this.users = createUsers(context)
    this.#context = context
    this.#checkKyc = checkKyc
  }

  get kyc(): Kyc {
    this.#kyc ??= createKyc(withMore(this.#context, { users: this.users }))
    return this.#kyc
  }

  get bankAccounts(): BankAccounts {
    this.#bankAccounts ??= createBankAccounts(withMore(this.#context, { users: this.users }))
    return this.#bankAccounts
  }

  get payments(): Payments {
    const more = { users: this.users, checkKyc: this.#checkKyc }
    this.#payments ??= createPayments(withMore(this.#context, more))
    return this.#payments
  }

  /** Makes what handles the timers of an earlier process. */
  handleTimers(): readonly object[] {
    return [this.kyc, this.bankAccounts, this.payments]
  }
}
