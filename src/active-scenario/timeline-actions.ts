import { type BankAccountRow, holderNameOf } from '../model/bank-account.ts'
import { SandboxError } from '../model/errors.ts'
import { mobileKey } from '../model/user.ts'
import { hasSuccessfulKyc } from '../payouts/payments.ts'
import type { Payouts } from '../payouts/payouts.ts'
import type { TimelineAction, TimelinePayment } from '../scenarios/compiled.ts'
import { ENDPOINT_OF } from '../scenarios/operations-and-events.ts'
import type { Table } from '../store/table.ts'
import {
  drawUntil,
  kindOf,
  type ResourceKind,
  resourceIdOf,
  type WorldContext,
} from '../tables/world-context.ts'

export type TimelineActionDeps = WorldContext & { payouts: Payouts }

/** An action on the resources of the world. The others change scenario, rules or all data. */
export type ResourceAction = Exclude<
  TimelineAction,
  CallAction | { use: string } | { rule: unknown } | { reset: true } | { set_webhook: string }
>
export type CallAction = Extract<TimelineAction, { call: unknown }>
/** A call of the service; its path is that below `/v1`. */
export type ServiceCall = { method: string; path: string; body?: object }
type Simulate = Extract<TimelineAction, { simulate: unknown }>['simulate']

type Parties = Pick<TimelinePayment, 'from_user_id' | 'to_user_id' | 'benif_bank_id'>

// Among these newest rows, a timeline chooses who acts, who pays and who receives.
const MAX_NEWEST = 100

const nothingFound = (): never => {
  throw new SandboxError('not_found', 'it waits until there is a row that it can be about')
}

function findRow<T>(rows: Iterable<T>, matches: (row: T) => boolean): T | undefined {
  for (const row of rows) if (matches(row)) return row
  return undefined
}

export class TimelineActions {
  readonly #deps: TimelineActionDeps

  constructor(deps: TimelineActionDeps) {
    this.#deps = deps
  }

  get #tables() {
    return this.#deps.store.tables
  }

  run(action: ResourceAction) {
    const { events } = this.#deps
    if ('trigger' in action)
      events.emit(action.trigger, this.#idOf(kindOf(action.trigger), action.resource), true)
    else if ('simulate' in action) this.#simulate(action.simulate)
    else if ('credit' in action) this.#pay('credit', action.credit)
    else if ('payout' in action) this.#pay('debit', action.payout)
    else
      for (let i = 0; i < action.create_users; i++) this.#deps.payouts.users.create(this.#newUser())
  }

  /** Whether an action is a payment to any user, and no user can receive one yet. */
  waitsForAccount(action: TimelineAction): boolean {
    const payment =
      'credit' in action ? action.credit : 'payout' in action ? action.payout : undefined
    if (!payment || payment.to_user_id || payment.benif_bank_id) return false
    const { bank_accounts: accounts } = this.#tables
    return findRow(accounts.rows(), ({ bank_status }) => bank_status === 'success') === undefined
  }

  #idOf(kind: ResourceKind, resource: string) {
    return resourceIdOf(this.#deps.store, kind, resource)
  }

  #simulate({ resource, reason, ...change }: Simulate) {
    const { payments, kyc, bankAccounts } = this.#deps.payouts
    const { kind, status } = change
    const id = this.#idOf(kind, resource)
    if (kind === 'transaction')
      payments.simulate(id, { status, set_by: 'timeline', ...(reason && { reason }) })
    else {
      const checks = kind === 'kyc' ? kyc : bankAccounts
      checks.simulate(id, { status, ...(reason && { message: reason }) })
    }
  }

  #pay(type: 'credit' | 'debit', payment: TimelinePayment) {
    const { amount, remark, reference_id, transaction } = payment
    const input = {
      amount,
      currency_code: 'INR' as const,
      ...this.#partiesOf(payment),
      ...(remark && { remark }),
      ...(reference_id && { reference_id }),
    }
    this.#deps.payouts.payments.createByTimeline(type, input, transaction)
  }

  /** A random one of the newest rows that match: a timeline that runs often must not search a long table. */
  #pick<R>(table: Table<R>, matches: (row: R) => boolean = () => true): R | undefined {
    const rows = table.page('all', 'all', 0, MAX_NEWEST).map(({ row }) => row)
    const found = rows.filter(matches)
    return found[Math.floor(this.#deps.random.fraction() * found.length)]
  }

  /** Chooses payer, receiver and account for a payment, at random; the action can name each of them. */
  #partiesOf({ from_user_id, to_user_id, benif_bank_id }: Parties) {
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

  #newUser() {
    // Among many thousand users, two draws can be equal.
    const isFree = (drawn: string) =>
      this.#tables.users.count('mobile', mobileKey(`+919${drawn}`)) === 0
    const digits = drawUntil(isFree, () => this.#deps.random.digits(9))
    const name = holderNameOf(digits).toLowerCase().replace(' ', '.')
    const user_type = 'individual' as const
    return { email: `${name}.${digits}@example.com`, mobile: `+919${digits}`, user_type }
  }

  /** The call of an action, with what the action leaves out. Throws `not_found` if no row is suitable now. */
  callOf({ call: operation, params, body = {} }: CallAction): ServiceCall {
    const { users, payments } = this.#tables
    const idFor = (param: string) =>
      param === 'userId' ? this.#pick(users)?.user_id : this.#pick(payments)?.transaction_id
    const [method, url] = ENDPOINT_OF[operation].split(' ') as [string, string]
    const path = url.replace(/:(\w+)/g, (_, param: string) =>
      encodeURIComponent(params?.[param] ?? idFor(param) ?? nothingFound()),
    )
    if (method === 'GET') return { method, path }
    return { method, path, body: { ...this.#bodyOf(operation, body), ...body } }
  }

  /** A body for an operation; what it is about can be given. */
  #bodyOf(operation: CallAction['call'], given: Parties & { user_id?: string }): object {
    const { users, kyc, bank_accounts: accounts } = this.#tables
    const { random } = this.#deps
    const between = (min: number, max: number) => Math.floor(min + random.fraction() * (max - min))
    if (operation === 'createUser') return this.#newUser()
    if (operation === 'submitKyc') {
      const user_id = given.user_id ?? this.#newestUser((id) => kyc.count('user', id) === 0)
      const nameOnCard = holderNameOf(users.get(user_id)?.mobile.slice(-9) ?? '')
      const dateOfBirth = `${between(10, 28)}-0${between(1, 9)}-${between(1960, 2005)}`
      const document_number = `XXXPX${between(1_000, 9_999)}A`
      const pan = { document_type: 'tid', document_name: 'pan', document_number }
      return { user_id, kyc: [{ ...pan, dateOfBirth, Nationality: 'Indian', nameOnCard }] }
    }
    if (operation === 'addBankAccount') {
      const isReady = (id: string) =>
        accounts.count('user', id) === 0 && hasSuccessfulKyc(this.#tables, id)
      const ifsc_code = `${['HDFC', 'ICIC', 'SBIN'][between(0, 3)]}0${random.digits(6)}`
      const account_number = `5${random.digits(11)}`
      return { user_id: given.user_id ?? this.#newestUser(isReady), account_number, ifsc_code }
    }
    if (operation !== 'createTransaction') return {}
    const isNamed = given.from_user_id && given.to_user_id && given.benif_bank_id
    const amount = (between(10_100, 999_999) / 100).toFixed(2)
    const payment = { amount, currency_code: 'INR', reference_id: `REF-${random.next()}` }
    return { ...payment, ...(!isNamed && this.#partiesOf(given)) }
  }

  #newestUser(matches: (id: string) => boolean): string {
    const rows = this.#tables.users.page('all', 'all', 0, MAX_NEWEST)
    return rows.find(({ id }) => matches(id))?.id ?? nothingFound()
  }
}
