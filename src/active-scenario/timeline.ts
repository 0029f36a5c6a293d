import type { BankAccountRow } from '../model/bank-account.ts'
import { SandboxError } from '../model/errors.ts'
import { holderNameOf } from '../model/holder-names.ts'
import { mobileKey } from '../model/user.ts'
import type { BankAccounts } from '../payouts/bank-accounts.ts'
import type { Kyc } from '../payouts/kyc.ts'
import type { Payments } from '../payouts/payments.ts'
import type { Users } from '../payouts/users.ts'
import type { TimelineAction } from '../scenarios/compiled.ts'
import { kindOf, type ResourceKind, resourceIdOf } from '../tables/resource-ids.ts'
import type { WorldContext } from '../tables/world-context.ts'
import { formatDuration } from '../time/duration.ts'
import { createRepeatedWarning } from './repeated-warning.ts'
import {
  actionName,
  costOf,
  countRuns,
  isRecurring,
  limitReached,
  nextTurn,
  rateWarnings,
  type StoredTimelineEntry,
} from './timeline-limits.ts'
import { type Scenarios, TIMELINE_ENTRY } from './world-scenarios.ts'

export type TimelineDeps = WorldContext & {
  scenarios: Scenarios
  users: Users
  kyc: Kyc
  bankAccounts: BankAccounts
  payments: Payments
  /** Resets the client to the fixtures and the start scenario. */
  reset: () => void
  warn: (message: string) => void
}

function findRow<T>(rows: Iterable<T>, matches: (row: T) => boolean): T | undefined {
  for (const row of rows) if (matches(row)) return row
  return undefined
}

/** Runs the timeline of the active scenario, from the moment of its activation (scenarios: Timeline). */
export function createTimeline(deps: TimelineDeps) {
  const { store, clock, random, scheduler, events } = deps
  const { scenarios, users, kyc, bankAccounts, payments, reset, warn } = deps
  const tables = store.tables

  const resourceOf = (kind: ResourceKind, resource: string) => resourceIdOf(store, kind, resource)

  /** Chooses payer, receiver and account for a credit; the action can name each of them. */
  function parties(credit: Extract<TimelineAction, { credit: unknown }>['credit']) {
    const matches = (row: BankAccountRow) =>
      row.bank_status === 'success' &&
      row.bank_id === (credit.benif_bank_id ?? row.bank_id) &&
      row.user_id === (credit.to_user_id ?? row.user_id) &&
      row.user_id !== credit.from_user_id
    const account = findRow(tables.bank_accounts.rows(), matches)
    if (!account)
      throw new SandboxError(
        'not_found',
        'No user with a verified bank account can receive this credit. Add a bank account, or change to_user_id or benif_bank_id.',
      )
    const payer =
      credit.from_user_id ??
      tables.users.page('all', 'all', 0, 2).find(({ id }) => id !== account.user_id)?.id
    if (payer === undefined)
      throw new SandboxError(
        'not_found',
        'There is no second user who could pay this credit. Create one, or set from_user_id.',
      )
    return { from_user_id: payer, to_user_id: account.user_id, benif_bank_id: account.bank_id }
  }

  /** Digits of a mobile that no user has yet: among many thousand users, two draws can be equal. */
  function unusedDigits(): string {
    for (;;) {
      const digits = random.digits(9)
      if (!tables.users.findUnique('mobile', mobileKey(`+919${digits}`))) return digits
    }
  }

  function createUser() {
    const digits = unusedDigits()
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

  function runAction(action: TimelineAction) {
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

  function schedule(entry: StoredTimelineEntry, due_at: number) {
    scheduler.schedule({ due_at, kind: TIMELINE_ENTRY, payload: entry })
  }

  const warnOnce = createRepeatedWarning(warn)
  /** Logs a warning about an entry; equal warnings about equal entries are counted. */
  function warnAboutEntry(
    { do: action, every_ms: everyMs }: StoredTimelineEntry,
    why: string,
    message: string,
  ) {
    const name = `timeline of ${scenarios.name}: ${actionName(action)}`
    const every = everyMs === undefined ? '' : ` every ${formatDuration(everyMs)}`
    warnOnce(`${name}${every}: ${why}`, `${name}${every}: ${message}`)
  }

  // The entries whose rate was already logged as too high.
  const warnedRates = new Set<string>()
  /** Schedules the next run of a recurring entry. */
  function scheduleNextTurn(entry: StoredTimelineEntry, everyMs: number, dueAt: number) {
    const { due_at, skipped } = nextTurn(everyMs, dueAt, clock.now())
    const { remaining } = entry
    schedule({ ...entry, ...(remaining !== undefined && { remaining: remaining - 1 }) }, due_at)
    const key = `${scenarios.name} ${actionName(entry.do)} ${everyMs}`
    if (skipped === 0 || warnedRates.has(key)) return
    warnedRates.add(key)
    const message = `the rate is too high for clock speed ${clock.state.speed}: the entry runs as often as this machine can, and some runs are skipped`
    warnAboutEntry(entry, 'rate', message)
  }

  scheduler.handle(
    TIMELINE_ENTRY,
    ({ payload, due_at }) => {
      const entry = payload as StoredTimelineEntry
      if (isRecurring(entry)) scheduleNextTurn(entry, entry.every_ms!, due_at)
      const full = limitReached(entry.do, store)
      if (full !== undefined) {
        warnAboutEntry(entry, 'full', full)
        return undefined
      }
      try {
        runAction(entry.do)
      } catch (error) {
        // An action that cannot run now is logged; the rest of the timeline continues.
        if (!(error instanceof SandboxError) || error.status >= 500) throw error
        warnAboutEntry(entry, error.code, error.message)
      }
      return undefined
    },
    {
      cost: ({ payload }) => costOf((payload as StoredTimelineEntry).do),
      countRuns: ({ payload, due_at }, at) =>
        countRuns(payload as StoredTimelineEntry, due_at, at, clock.now()),
    },
  )

  // The start time of the active timeline, and whether its entries for that time are running now.
  let startedAt = Number.NEGATIVE_INFINITY
  let isRunningDueEntries = false

  /** Cancels the pending entries of the previous timeline and schedules those of the active one, relative to `from`. */
  function scheduleEntries(from: number) {
    for (const { timer_id, kind } of [...tables.timers.rows()])
      if (kind === TIMELINE_ENTRY) scheduler.cancel(timer_id)
    for (const {
      after_ms: afterMs,
      every_ms: everyMs,
      times,
      do: action,
    } of scenarios.timeline()) {
      const remaining = everyMs === undefined ? undefined : times
      schedule(
        {
          do: action,
          ...(everyMs !== undefined && { every_ms: everyMs }),
          ...(remaining !== undefined && { remaining }),
        },
        from + afterMs,
      )
    }
    startedAt = from
  }

  /** Activates a scenario and starts its timeline in one change; `from` is the time to which the clock is about to be set. */
  function activate(setScenario: () => void, from = isRunningDueEntries ? startedAt : clock.now()) {
    store.change(() => {
      setScenario()
      scheduleEntries(from)
    })
  }

  const entriesDueAtStart = () =>
    [...tables.timers.rows()]
      .filter(({ kind, due_at }) => kind === TIMELINE_ENTRY && due_at <= startedAt)
      .sort((a, b) => a.due_at - b.due_at || a.seq - b.seq)

  /** Runs the entries that are due at the start of the timeline: on a frozen clock they would never run otherwise. */
  function runDueEntries() {
    isRunningDueEntries = true
    try {
      // A `use` replaces these entries by others.
      for (let due = entriesDueAtStart(); due.length > 0; due = entriesDueAtStart())
        for (const timer of due) if (tables.timers.get(timer.timer_id)) scheduler.runNow(timer)
    } finally {
      isRunningDueEntries = false
    }
  }

  return {
    /** Activates a scenario and runs the entries of its timeline that are due immediately. */
    start(setScenario: () => void) {
      store.change(() => {
        activate(setScenario)
        runDueEntries()
      })
    },
    activate,
    runDueEntries,
    /** Warnings about entries of the active timeline that are too frequent for the clock's speed. */
    warnings: () => rateWarnings(scenarios.timeline(), clock.state),
  }
}
