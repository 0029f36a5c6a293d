import { SandboxError } from '../model/errors.ts'
import { holderNameOf } from '../model/names.ts'
import type { TimelineAction } from '../scenarios/compiled.ts'
import type { BankAccounts } from './bank-accounts.ts'
import type { Kyc } from './kyc.ts'
import type { Parts } from './parts.ts'
import type { Payments } from './payments.ts'
import { kindOf, type ResourceKind, resourceIdOf } from './resources.ts'
import { type Scenarios, TIMELINE_ENTRY } from './scenarios.ts'
import type { Users } from './users.ts'

/** What a stored entry of a timeline says: the action, and how it comes again. */
type Entry = { do: TimelineAction; everyMs?: number; left?: number }

export type TimelineDeps = Parts & {
  scenarios: Scenarios
  users: Users
  kyc: Kyc
  bankAccounts: BankAccounts
  payments: Payments
  /** Back to the fixtures and the start scenario. */
  reset: () => void
  warn: (message: string) => void
}

/** Does what the active scenario's timeline says, from the moment it is activated (scenarios: Timeline). */
export function createTimeline(deps: TimelineDeps) {
  const { store, clock, random, scheduler, events } = deps
  const { scenarios, users, kyc, bankAccounts, payments, reset, warn } = deps
  const tables = store.tables

  const resourceOf = (kind: ResourceKind, resource: string) => resourceIdOf(store, kind, resource)

  /** A receiver with a verified account and somebody who pays, where the action names none. */
  function parties(credit: Extract<TimelineAction, { credit: unknown }>['credit']) {
    const account = [...tables.bank_accounts.rows()].find(
      (row) =>
        row.bank_status === 'success' &&
        row.bank_id === (credit.benif_bank_id ?? row.bank_id) &&
        row.user_id === (credit.to_user_id ?? row.user_id) &&
        row.user_id !== credit.from_user_id,
    )
    if (!account)
      throw new SandboxError('not_found', 'No user has a verified account to be paid to.')
    const payer =
      credit.from_user_id ??
      tables.users.page('all', 'all', 0, 2).find(({ id }) => id !== account.user_id)?.id
    if (payer === undefined)
      throw new SandboxError('not_found', 'There is no second user who could pay.')
    return { from_user_id: payer, to_user_id: account.user_id, benif_bank_id: account.bank_id }
  }

  function createUser() {
    const digits = random.digits(9)
    const name = holderNameOf(digits).toLowerCase().replace(' ', '.')
    users.create({
      email: `${name}.${digits}@example.com`,
      mobile: `+919${digits}`,
      user_type: 'individual',
    })
  }

  function simulate({
    kind,
    resource,
    status,
    reason,
  }: Extract<TimelineAction, { simulate: unknown }>['simulate']) {
    const id = resourceOf(kind, resource)
    if (kind === 'transaction')
      payments.simulate(id, { status: status as 'SUCCESS', ...(reason && { reason }) })
    else if (kind === 'kyc')
      kyc.simulate(id, { status: status as 'success', ...(reason && { message: reason }) })
    else
      bankAccounts.simulate(id, { status: status as 'success', ...(reason && { message: reason }) })
  }

  function act(action: TimelineAction) {
    if ('trigger' in action) {
      events.emit(action.trigger, resourceOf(kindOf(action.trigger), action.resource), true)
    } else if ('simulate' in action) simulate(action.simulate)
    else if ('credit' in action) {
      const { amount, remark, reference_id } = action.credit
      const more = { ...(remark && { remark }), ...(reference_id && { reference_id }) }
      payments.credit({ amount, currency_code: 'INR', ...parties(action.credit), ...more })
    } else if ('create_users' in action) for (let i = 0; i < action.create_users; i++) createUser()
    else if ('use' in action) activate(() => scenarios.use(action.use))
    else if ('rule' in action) scenarios.push(action.rule)
    else reset()
  }

  const replaces = (action: TimelineAction) => 'use' in action || 'reset' in action

  function schedule(entry: Entry, due_at: number) {
    scheduler.schedule({ due_at, kind: TIMELINE_ENTRY, payload: entry })
  }

  scheduler.handle(TIMELINE_ENTRY, ({ payload, due_at }) => {
    const entry = payload as Entry
    const { everyMs, left } = entry
    if (everyMs !== undefined && (left === undefined || left > 1) && !replaces(entry.do)) {
      schedule({ ...entry, ...(left !== undefined && { left: left - 1 }) }, due_at + everyMs)
    }
    try {
      act(entry.do)
    } catch (error) {
      // What can't be done now is told; the rest of the timeline goes on.
      if (!(error instanceof SandboxError) || error.status >= 500) throw error
      warn(`timeline of ${scenarios.show().name}: ${Object.keys(entry.do)[0]}: ${error.message}`)
    }
    return undefined
  })

  /** Drops what is pending of the former timeline and schedules the active one's entries, from an instant on. */
  function begin(from = clock.now()) {
    for (const timer of scheduler.pending())
      if (timer.kind === TIMELINE_ENTRY) scheduler.cancel(timer.timer_id)
    for (const { afterMs, everyMs, times, do: action } of scenarios.timeline()) {
      const left = everyMs === undefined ? undefined : times
      schedule(
        {
          do: action,
          ...(everyMs !== undefined && { everyMs }),
          ...(left !== undefined && { left }),
        },
        from + afterMs,
      )
    }
  }

  /** Activates a scenario and starts its timeline, both or neither; `from` where the clock is about to be set. */
  function activate(choose: () => void, from?: number) {
    store.change(() => {
      choose()
      begin(from)
    })
  }

  /** Does what the timeline says for this instant: a frozen clock would never come to it by itself. */
  function doWhatIsDue() {
    const due = () =>
      scheduler
        .pending()
        .find(({ kind, due_at }) => kind === TIMELINE_ENTRY && due_at <= clock.now())
    // One by one: a `use` puts other entries in the place of these.
    for (let timer = due(); timer; timer = due()) scheduler.runNow(timer)
  }

  return {
    /** Activates a scenario; what its timeline says for this instant is done when this returns. */
    start(choose: () => void) {
      store.change(() => {
        activate(choose)
        doWhatIsDue()
      })
    },
    activate,
    doWhatIsDue,
  }
}
