import type { TimerRow } from '../model/delivery.ts'
import { formatDuration } from '../model/duration.ts'
import { SandboxError } from '../model/errors.ts'
import type {
  CompiledTimelineEntry,
  StoredTimelineEntry,
  TimelineAction,
} from '../scenarios/compiled.ts'
import { CREATING } from '../scenarios/operations-and-events.ts'
import type { SandboxTables } from '../tables/tables.ts'
import { entryTimers, type Scenarios, TIMELINE_ENTRY } from './scenarios.ts'
import {
  type CallAction,
  type ServiceCall,
  type TimelineActionDeps,
  TimelineActions,
} from './timeline-actions.ts'

export type TimelineDeps = TimelineActionDeps & {
  scenarios: Scenarios
  /** Makes a call of the service; resolves when it took effect, was rejected, or waits. Without it no calls are made. */
  callService?: ((call: ServiceCall) => Promise<void>) | undefined
  reset: () => void
  useInbox: () => void
  warn: (message: string) => void
  info: (message: string) => void
}

const entryOf = ({ payload }: { payload: unknown }) => payload as StoredTimelineEntry

const storedEntry = (
  { every_ms: everyMs, times, do: action }: CompiledTimelineEntry,
  isImposed: boolean,
): StoredTimelineEntry => ({
  do: action,
  ...(isImposed && { imposed: true as const }),
  ...(everyMs !== undefined && { every_ms: everyMs }),
  ...(everyMs !== undefined && times !== undefined && { remaining: times }),
})

// A late entry catches up on at most this many runs; earlier ones are skipped.
const MAX_BEHIND = 1_000
// A scenario that runs for days must not fill the memory: once a table has this number of rows, a timeline adds no more to any.
const MANY = 250_000
const MAX_ROWS = { users: MANY, kyc: MANY, bank_accounts: MANY, payments: MANY, deliveries: 50_000 }

const actionName = (action: TimelineAction): string =>
  'call' in action ? action.call : Object.keys(action)[0]!

const endsTimeline = (action: TimelineAction) => 'use' in action || 'reset' in action

const isRecurring = ({ every_ms: everyMs, remaining, do: action }: StoredTimelineEntry): boolean =>
  everyMs !== undefined && (remaining === undefined || remaining > 1) && !endsTimeline(action)

/** The number of times that an entry runs between `now` and `at`; skipped runs are not counted. */
function countRuns(entry: StoredTimelineEntry, due_at: number, at: number, now = due_at): number {
  if (!isRecurring(entry)) return 1
  const everyMs = entry.every_ms!
  const { skipped } = nextTurn(everyMs, due_at, now)
  return Math.min(
    entry.remaining ?? Number.POSITIVE_INFINITY,
    1 + Math.floor((at - due_at) / everyMs) - skipped,
  )
}

/** The time of the next run of an entry, and the number of runs that are skipped because it is too late. */
function nextTurn(everyMs: number, due_at: number, now: number) {
  const skipped = Math.max(0, Math.floor((now - due_at) / everyMs) - MAX_BEHIND)
  return { due_at: due_at + (skipped + 1) * everyMs, skipped }
}

const GROWING = new Set<string>(['create_users', 'credit', 'payout', 'trigger', ...CREATING])

/** The reason why an action is skipped: a table has the maximum number of rows; else `undefined`. */
export function limitReached(action: TimelineAction, { tables }: SandboxTables) {
  if (!GROWING.has(actionName(action))) return undefined
  for (const [table, max] of Object.entries(MAX_ROWS))
    if (tables[table as keyof typeof MAX_ROWS].size >= max)
      return `skipped: the client has ${max.toLocaleString('en-US')} ${table}, the maximum that a timeline creates`
  return undefined
}

/** Runs the timeline of the active scenario, from the moment of its activation (scenarios: Timeline). */
export class Timeline {
  readonly #deps: TimelineDeps
  readonly #actions: TimelineActions
  // Calls run one after the other: each chooses from the rows that the calls before it have made.
  #lastCall: Promise<void> = Promise.resolve()
  // What was already logged: an entry that runs for hours must not log the same each time.
  readonly #logged = new Set<string>()
  // The start time of the active timeline, and whether its entries for that time are running now.
  #startedAt = Number.NEGATIVE_INFINITY
  #isRunningDueEntries = false

  constructor(deps: TimelineDeps) {
    this.#deps = deps
    this.#actions = new TimelineActions(deps)
    const { scheduler, clock } = deps
    scheduler.handle(TIMELINE_ENTRY, (timer) => this.#runEntry(entryOf(timer), timer.due_at), {
      countRuns: (timer, at) => countRuns(entryOf(timer), timer.due_at, at, clock.now()),
    })
  }

  /** Activates a scenario (default: the start scenario) and runs the entries of its timeline that are due immediately. */
  start(setScenario?: () => void) {
    this.#deps.store.change(() => {
      if (setScenario) this.activate(setScenario)
      else this.restart()
      this.runDueEntries()
    })
  }

  /** Activates the start scenario, and starts all timelines; `from` is the time to which the clock is about to be set. */
  restart(from?: number) {
    this.activate(() => this.#deps.scenarios.reset(from), true, from)
  }

  /** Activates a scenario and starts its timeline in one change. */
  activate(setScenario: () => void, isStart = false, from?: number) {
    const { store, clock } = this.#deps
    const startsAt = from ?? (this.#isRunningDueEntries ? this.#startedAt : clock.now())
    store.change(() => {
      setScenario()
      this.#scheduleEntries(startsAt, isStart)
    })
  }

  /** Runs the entries that are due at the start of the timeline: on a frozen clock they would never run otherwise. */
  runDueEntries() {
    const { store, scheduler } = this.#deps
    this.#isRunningDueEntries = true
    try {
      // A `use` replaces these entries by others.
      for (let due = this.#dueAtStart(); due.length > 0; due = this.#dueAtStart())
        for (const timer of due)
          if (store.tables.timers.get(timer.timer_id)) scheduler.runNow(timer)
    } finally {
      this.#isRunningDueEntries = false
    }
  }

  #dueAtStart(): TimerRow[] {
    return entryTimers(this.#deps.store).filter(({ due_at }) => due_at <= this.#startedAt)
  }

  #schedule(entry: StoredTimelineEntry, due_at: number) {
    this.#deps.scheduler.schedule({ due_at, kind: TIMELINE_ENTRY, payload: entry })
  }

  #cancel(isConcerned: (entry: StoredTimelineEntry) => boolean) {
    for (const timer of entryTimers(this.#deps.store))
      if (isConcerned(entryOf(timer))) this.#deps.scheduler.cancel(timer.timer_id)
  }

  /** Replaces the pending entries by those of the active timeline, relative to `from`; what an imposed scenario has pending goes on. */
  #scheduleEntries(from: number, isStart: boolean) {
    const { scenarios } = this.#deps
    const startsImposed = isStart || scenarios.isImposedActive
    this.#cancel((entry) => startsImposed || !this.#isImposed(entry))
    const starting = startsImposed ? scenarios.imposedTimeline() : []
    const schedule = (entry: CompiledTimelineEntry, isImposed: boolean) =>
      this.#schedule(
        storedEntry(entry, isImposed),
        Math.max(from, entry.at_ms ?? from + entry.after_ms),
      )
    for (const entry of starting) schedule(entry, true)
    for (const entry of scenarios.timelineEntries()) schedule(entry, false)
    this.#startedAt = from
  }

  #isImposed({ imposed }: StoredTimelineEntry): boolean {
    return imposed === true && this.#deps.scenarios.imposes
  }

  #runEntry(entry: StoredTimelineEntry, due_at: number): Promise<void> | undefined {
    if (isRecurring(entry)) this.#scheduleNextTurn(entry, entry.every_ms!, due_at)
    const full = limitReached(entry.do, this.#deps.store)
    if (full !== undefined) {
      this.#logOnce('warn', entry, 'full', full)
      return undefined
    }
    if (this.#actions.waitsForAccount(entry.do)) {
      this.#logOnce('info', entry, 'account', 'it waits until a user has a verified bank account')
      return undefined
    }
    const { do: action } = entry
    if (!('call' in action)) return this.#attempt(entry, () => this.#run(entry))
    const call = this.#lastCall.then(() => this.#attempt(entry, () => this.#call(action)))
    this.#lastCall = call.catch(() => {})
    return call
  }

  /** Logs an action that cannot run now; the rest of the timeline continues. */
  #attempt<T>(entry: StoredTimelineEntry, run: () => T): T | undefined {
    try {
      return run()
    } catch (error) {
      if (!(error instanceof SandboxError) || error.status >= 500) throw error
      // A scenario that is in all clients can name what only one of them has.
      const level = error.code === 'not_found' ? 'info' : 'warn'
      this.#logOnce(level, entry, error.code, error.message)
      return undefined
    }
  }

  #call(action: CallAction): Promise<void> {
    const { store, callService } = this.#deps
    if (!callService) throw new SandboxError('not_found', 'there is no HTTP interface to call')
    return callService(store.change(() => this.#actions.callOf(action)))
  }

  /** Ends the imposed scenario and activates another one, unless a call has activated one. */
  #endImposed(next: string) {
    const { store, scenarios } = this.#deps
    store.change(() => {
      const isActive = scenarios.isImposedActive
      this.#cancel((entry) => this.#isImposed(entry))
      if (isActive) this.activate(() => scenarios.use(next))
      else scenarios.changed()
    })
  }

  #run(entry: StoredTimelineEntry): undefined {
    const { scenarios, reset, useInbox } = this.#deps
    const { do: action } = entry
    if ('use' in action && this.#isImposed(entry)) this.#endImposed(action.use)
    else if ('use' in action) this.activate(() => scenarios.use(action.use))
    else if ('rule' in action) scenarios.push(action.rule)
    else if ('reset' in action) reset()
    else if ('set_webhook' in action) useInbox()
    else if (!('call' in action)) this.#actions.run(action)
  }

  #scheduleNextTurn(entry: StoredTimelineEntry, everyMs: number, dueAt: number) {
    const { clock } = this.#deps
    const { due_at, skipped } = nextTurn(everyMs, dueAt, clock.now())
    const { remaining } = entry
    this.#schedule(
      { ...entry, ...(remaining !== undefined && { remaining: remaining - 1 }) },
      due_at,
    )
    if (skipped === 0) return
    const message = `the rate is too high for clock speed ${clock.state.speed}: the entry runs as often as this machine can, and some runs are skipped`
    this.#logOnce('warn', entry, 'rate', message)
  }

  /** Logs a problem of an entry, unless it or an entry with the same problem was logged before. */
  #logOnce(
    level: 'info' | 'warn',
    { do: action, every_ms: everyMs }: StoredTimelineEntry,
    why: string,
    message: string,
  ) {
    const scenario = `timeline of ${this.#deps.scenarios.name}: `
    const every = everyMs === undefined ? '' : ` every ${formatDuration(everyMs)}`
    const entry = `${scenario}${actionName(action)}${every}: `
    // A message can have a new id each time; an entry warns only once.
    const keys = [`${entry}${why}`, `${scenario}${message}`]
    if (keys.some((key) => this.#logged.has(key))) return
    for (const key of keys) this.#logged.add(key)
    this.#deps[level](`${entry}${message}`)
  }
}
