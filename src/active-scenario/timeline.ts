import { formatDuration } from '../model/duration.ts'
import { SandboxError } from '../model/errors.ts'
import type { CompiledTimelineEntry, TimelineAction } from '../scenarios/compiled.ts'
import type { TimerRow } from '../time/scheduler.ts'
import { type TimelineActionDeps, TimelineActions } from './timeline-actions.ts'
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

export type TimelineDeps = TimelineActionDeps & {
  scenarios: Scenarios
  /** Resets the client to the fixtures and the start scenario. */
  reset: () => void
  warn: (message: string) => void
}

const entryOf = ({ payload }: { payload: unknown }) => payload as StoredTimelineEntry

const storedEntry = ({
  every_ms: everyMs,
  times,
  do: action,
}: CompiledTimelineEntry): StoredTimelineEntry => ({
  do: action,
  ...(everyMs !== undefined && { every_ms: everyMs }),
  ...(everyMs !== undefined && times !== undefined && { remaining: times }),
})

/** Runs the timeline of the active scenario, from the moment of its activation (scenarios: Timeline). */
export class Timeline {
  readonly #deps: TimelineDeps
  readonly #actions: TimelineActions
  // What was already logged: an entry that runs for hours must not log the same each time.
  readonly #warned = new Set<string>()
  // The start time of the active timeline, and whether its entries for that time are running now.
  #startedAt = Number.NEGATIVE_INFINITY
  #isRunningDueEntries = false

  constructor(deps: TimelineDeps) {
    this.#deps = deps
    this.#actions = new TimelineActions(deps)
    const { scheduler, clock } = deps
    scheduler.handle(TIMELINE_ENTRY, (timer) => this.#runEntry(entryOf(timer), timer.due_at), {
      cost: (timer) => costOf(entryOf(timer).do),
      countRuns: (timer, at) => countRuns(entryOf(timer), timer.due_at, at, clock.now()),
    })
  }

  /** Activates a scenario and runs the entries of its timeline that are due immediately. */
  start(setScenario: () => void) {
    this.#deps.store.change(() => {
      this.activate(setScenario)
      this.runDueEntries()
    })
  }

  /** Activates a scenario and starts its timeline in one change; `from` is the time to which the clock is about to be set. */
  activate(setScenario: () => void, from?: number) {
    const { store, clock } = this.#deps
    const startsAt = from ?? (this.#isRunningDueEntries ? this.#startedAt : clock.now())
    store.change(() => {
      setScenario()
      this.#scheduleEntries(startsAt)
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

  /** Warnings about entries of the active timeline that are too frequent for the clock's speed. */
  warnings(): string[] {
    return rateWarnings(this.#deps.scenarios.timeline(), this.#deps.clock.state)
  }

  #entryTimers(): TimerRow[] {
    return [...this.#deps.store.tables.timers.rows()].filter(({ kind }) => kind === TIMELINE_ENTRY)
  }

  #dueAtStart(): TimerRow[] {
    return this.#entryTimers()
      .filter(({ due_at }) => due_at <= this.#startedAt)
      .sort((a, b) => a.due_at - b.due_at || a.seq - b.seq)
  }

  #schedule(entry: StoredTimelineEntry, due_at: number) {
    this.#deps.scheduler.schedule({ due_at, kind: TIMELINE_ENTRY, payload: entry })
  }

  /** Cancels the pending entries of the previous timeline and schedules those of the active one, relative to `from`. */
  #scheduleEntries(from: number) {
    for (const { timer_id } of this.#entryTimers()) this.#deps.scheduler.cancel(timer_id)
    for (const entry of this.#deps.scenarios.timeline())
      this.#schedule(storedEntry(entry), from + entry.after_ms)
    this.#startedAt = from
  }

  #runEntry(entry: StoredTimelineEntry, due_at: number): undefined {
    if (isRecurring(entry)) this.#scheduleNextTurn(entry, entry.every_ms!, due_at)
    const full = limitReached(entry.do, this.#deps.store)
    if (full !== undefined) {
      this.#warnOnce(entry, 'full', full)
      return undefined
    }
    try {
      this.#run(entry.do)
    } catch (error) {
      // An action that cannot run now is logged; the rest of the timeline continues.
      if (!(error instanceof SandboxError) || error.status >= 500) throw error
      this.#warnOnce(entry, error.code, error.message)
    }
    return undefined
  }

  #run(action: TimelineAction) {
    const { scenarios, reset } = this.#deps
    if ('use' in action) this.activate(() => scenarios.use(action.use))
    else if ('rule' in action) scenarios.push(action.rule)
    else if ('reset' in action) reset()
    else this.#actions.run(action)
  }

  /** Schedules the next run of a recurring entry. */
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
    this.#warnOnce(entry, 'rate', message)
  }

  /** Logs a warning about an entry, unless it or an entry with the same problem was logged before. */
  #warnOnce({ do: action, every_ms: everyMs }: StoredTimelineEntry, why: string, message: string) {
    const scenario = `timeline of ${this.#deps.scenarios.name}: `
    const every = everyMs === undefined ? '' : ` every ${formatDuration(everyMs)}`
    const entry = `${scenario}${actionName(action)}${every}: `
    // A message can have a new id each time; an entry warns only once.
    const keys = [`${entry}${why}`, `${scenario}${message}`]
    if (keys.some((key) => this.#warned.has(key))) return
    for (const key of keys) this.#warned.add(key)
    this.#deps.warn(`${entry}${message}`)
  }
}

export const createTimeline = (deps: TimelineDeps): Timeline => new Timeline(deps)
