import type { Payouts } from '../payouts/payouts.ts'
import type { TimelineAction, TimelinePayment } from '../scenarios/compiled.ts'
import { kindOf, type ResourceKind, resourceIdOf } from '../tables/resources.ts'
import type { WorldContext } from '../tables/world-context.ts'
import type { CallAction, TimelineInputs } from './timeline-inputs.ts'

type Deps = Pick<WorldContext, 'store' | 'events'> & { payouts: Payouts; inputs: TimelineInputs }

/** An action on the resources of the world. The others change scenario, rules or all data. */
export type ResourceAction = Exclude<
  TimelineAction,
  CallAction | { use: string } | { rule: unknown } | { reset: true } | { set_webhook: string }
>
type Simulate = Extract<TimelineAction, { simulate: unknown }>['simulate']

/** Runs the actions of timelines on resources. */
export class TimelineActions {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Runs an action. Throws a `SandboxError` if it is impossible now. */
  run(action: ResourceAction) {
    const { events, payouts, inputs } = this.#deps
    if ('trigger' in action)
      events.emit(action.trigger, this.#idOf(kindOf(action.trigger), action.resource), true)
    else if ('simulate' in action) this.#simulate(action.simulate)
    else if ('credit' in action) this.#pay('credit', action.credit)
    else if ('payout' in action) this.#pay('debit', action.payout)
    else for (let i = 0; i < action.create_users; i++) payouts.users.create(inputs.newUser())
  }

  /** Whether an action is a payment to any user, and no user can receive one yet. */
  waitsForAccount(action: TimelineAction): boolean {
    const payment =
      'credit' in action ? action.credit : 'payout' in action ? action.payout : undefined
    if (!payment || payment.to_user_id || payment.benif_bank_id) return false
    return !this.#deps.inputs.hasReceiver()
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
      ...this.#deps.inputs.partiesOf(payment),
      ...(remark && { remark }),
      ...(reference_id && { reference_id }),
    }
    this.#deps.payouts.payments.createByTimeline(type, input, transaction)
  }
}
