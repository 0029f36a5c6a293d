import { type BankAccountRow, holderNameOf } from '../model/bank-account.ts'
import { SandboxError } from '../model/errors.ts'
import { mobileKey, type UserRow } from '../model/user.ts'
import { hasSuccessfulKyc } from '../payouts/payments.ts'
import type { TimelineAction, TimelinePayment } from '../scenarios/compiled.ts'
import { ENDPOINT_OF } from '../scenarios/operations-and-events.ts'
import type { Table } from '../store/table.ts'
import type { WorldContext } from '../tables/world-context.ts'

export type CallAction = Extract<TimelineAction, { call: unknown }>
/** A call of the service; the path is that below `/v1`. */
export type ServiceCall = { method: string; path: string; body?: object }

type Fields = Readonly<Record<string, unknown>>
type Parties = Pick<TimelinePayment, 'from_user_id' | 'to_user_id' | 'benif_bank_id'>

// Among these newest rows, a timeline chooses who acts, who pays and who receives.
const MAX_NEWEST = 100
const BANKS = ['HDFC', 'ICIC', 'KKBK', 'SBIN', 'UTIB']

const nobody = () =>
  new SandboxError('not_found', 'it waits until there is a row that it can be about')

function findRow<T>(rows: Iterable<T>, matches: (row: T) => boolean): T | undefined {
  for (const row of rows) if (matches(row)) return row
  return undefined
}

/** Chooses what the actions of a timeline leave out: from the rows of the world, and from its random series. */
export class TimelineInputs {
  readonly #tables: WorldContext['store']['tables']
  readonly #random: WorldContext['random']

  constructor({ store, random }: Pick<WorldContext, 'store' | 'random'>) {
    this.#tables = store.tables
    this.#random = random
  }

  /** Whether a user can receive a payment. */
  hasReceiver(): boolean {
    const { bank_accounts: accounts } = this.#tables
    return findRow(accounts.rows(), ({ bank_status }) => bank_status === 'success') !== undefined
  }

  /** Chooses payer, receiver and account for a payment, at random; the action can name each of them. */
  partiesOf({ from_user_id, to_user_id, benif_bank_id }: Parties) {
    const matches = (row: BankAccountRow) =>
      row.bank_status === 'success' &&
      row.bank_id === (benif_bank_id ?? row.bank_id) &&
      row.user_id === (to_user_id ?? row.user_id) &&
      row.user_id !== from_user_id
    const { bank_accounts: accounts, users } = this.#tables
    const account = this.#pick(accounts, matches) ?? findRow(accounts.rows(), matches)
    if (!account)
      throw new SandboxError(
        'not_found',
        'No user with a verified bank account can receive this payment. Add a bank account, or change to_user_id or benif_bank_id.',
      )
    const isOther = ({ user_id }: { user_id: string }) => user_id !== account.user_id
    const payer =
      from_user_id ??
      this.#pick(users, (row) => isOther(row) && hasSuccessfulKyc(this.#tables, row.user_id))
        ?.user_id ??
      findRow(users.rows(), isOther)?.user_id
    if (payer === undefined)
      throw new SandboxError(
        'not_found',
        'There is no second user who could make this payment. Create one, or set from_user_id.',
      )
    return { from_user_id: payer, to_user_id: account.user_id, benif_bank_id: account.bank_id }
  }

  /** A user who is not there yet. */
  newUser() {
    const digits = this.#unusedDigits()
    const name = holderNameOf(digits).toLowerCase().replace(' ', '.')
    return {
      email: `${name}.${digits}@example.com`,
      mobile: `+919${digits}`,
      user_type: 'individual' as const,
    }
  }

  /** The call of an action, with all that it needs. Throws `not_found` if no row is suitable now. */
  callOf({ call: operation, params, body = {} }: CallAction): ServiceCall {
    const [method, url] = ENDPOINT_OF[operation].split(' ') as [string, string]
    const path = url.replace(/:(\w+)/g, (_, name: string) =>
      encodeURIComponent(params?.[name] ?? this.#idFor(name)),
    )
    if (method === 'GET') return { method, path }
    return { method, path, body: { ...this.#bodyOf(operation, body), ...body } }
  }

  /** What a body of an operation needs besides these fields. */
  #bodyOf(operation: CallAction['call'], given: Fields): object {
    switch (operation) {
      case 'createUser':
        return this.newUser()
      case 'submitKyc':
        return this.#documentOf(this.#userFor(given, (id) => this.#count('kyc', id) === 0))
      case 'addBankAccount':
        return this.#accountOf(
          this.#userFor(
            given,
            (id) => hasSuccessfulKyc(this.#tables, id) && this.#count('bank_accounts', id) === 0,
          ),
        )
      case 'createTransaction':
        return this.#paymentOf(given)
      default:
        return {}
    }
  }

  #documentOf({ user_id, mobile }: UserRow) {
    const item = {
      document_type: 'tid',
      document_name: 'pan',
      document_number: `XXXPX${this.#between(1_000, 9_999)}A`,
      dateOfBirth: `${this.#between(10, 28)}-0${this.#between(1, 9)}-${this.#between(1960, 2005)}`,
      Nationality: 'Indian',
      nameOnCard: holderNameOf(mobile.slice(-9)),
    }
    return { user_id, kyc: [item] }
  }

  #accountOf({ user_id }: UserRow) {
    const bank = BANKS[this.#between(0, BANKS.length - 1)]
    return {
      user_id,
      account_number: `5${this.#random.digits(11)}`,
      ifsc_code: `${bank}0${this.#random.digits(6)}`,
    }
  }

  #paymentOf(given: Fields & Parties) {
    const isNamed = given.from_user_id && given.to_user_id && given.benif_bank_id
    return {
      ...(!isNamed && this.partiesOf(given)),
      amount: (this.#between(10_100, 999_999) / 100).toFixed(2),
      currency_code: 'INR',
      reference_id: `REF-${this.#random.next()}`,
    }
  }

  #between(min: number, max: number): number {
    return min + Math.floor(this.#random.fraction() * (max - min + 1))
  }

  #count(table: 'kyc' | 'bank_accounts', userId: string): number {
    return this.#tables[table].count('user', userId)
  }

  /** The user of a body, or the newest one for whom a call is to do something. */
  #userFor({ user_id: id }: Fields, isFor: (id: string) => boolean): UserRow {
    const { users } = this.#tables
    const named = typeof id === 'string' ? users.get(id) : undefined
    const newest = users.page('all', 'all', 0, MAX_NEWEST).map(({ row }) => row)
    const user = named ?? newest.find(({ user_id }) => id !== undefined || isFor(user_id))
    if (!user) throw nobody()
    return user
  }

  /** The id of a random row for a parameter of a path. */
  #idFor(param: string): string {
    const { users, payments } = this.#tables
    const id =
      param === 'transaction_id' ? this.#pick(payments)?.transaction_id : this.#pick(users)?.user_id
    if (id === undefined) throw nobody()
    return id
  }

  /** A random one of the newest rows that match: a timeline that runs often must not search a long table. */
  #pick<R>(table: Table<R>, matches: (row: R) => boolean = () => true): R | undefined {
    const rows = table.page('all', 'all', 0, MAX_NEWEST).map(({ row }) => row)
    const found = rows.filter(matches)
    return found[Math.floor(this.#random.fraction() * found.length)]
  }

  /** Digits of a mobile that no user has yet: among many thousand users, two draws can be equal. */
  #unusedDigits(): string {
    for (;;) {
      const digits = this.#random.digits(9)
      if (this.#tables.users.count('mobile', mobileKey(`+919${digits}`)) === 0) return digits
    }
  }
}
