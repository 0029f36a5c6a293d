import type { RequestLog } from '../requests/request-log.ts'
import type { Scheduler } from '../time/scheduler.ts'
import type { createDeliveries } from '../webhooks/deliveries.ts'
import type { createInbox } from '../webhooks/inbox.ts'
import { type Access, storeTokenIssue } from './access.ts'
import type { Behaviour } from './behaviour.ts'
import { startsFromState } from './client-rows.ts'
import type { Feed, FeedEvents } from './feed.ts'
import type { DelayedResponses } from './waiting.ts'
import { adoptSettings, storedClock, storedScenario, type WorldClock } from './world-clock.ts'
import type { WorldDeps } from './world-deps.ts'

/** The parts of a world that a reset can select. */
export const RESET_PARTS = [
  'data',
  'clock',
  'scenario',
  'assumptions',
  'deliveries',
  'requests',
] as const
export type ResetPart = (typeof RESET_PARTS)[number]

/** The parts of a world that keep state of their own beside the rows. */
type StatefulPart = 'clock' | 'data' | 'scenario' | 'deliveries' | 'requests'

type Parts = Pick<Behaviour, 'scenarios' | 'assumptions' | 'timeline'> & {
  worldClock: WorldClock
  scheduler: Scheduler
  deliveries: ReturnType<typeof createDeliveries>
  inbox: ReturnType<typeof createInbox>
  requests: RequestLog
  delayed: DelayedResponses
  access: Access
  feed: Feed
}

/** Replaces the content of a world: by a start, a reset, a restored snapshot or an imported state. */
export function createWorldContent(deps: WorldDeps, parts: Parts) {
  const { tables } = deps
  const { worldClock, scheduler, scenarios, assumptions, timeline, deliveries, feed } = parts

  /** Updates the parts of the world to rows that were replaced; `replaced` are the parts with other content. */
  function reload(replaced: readonly StatefulPart[]) {
    const isReplaced = (part: StatefulPart) => replaced.includes(part)
    if (isReplaced('clock')) worldClock.reload()
    if (isReplaced('clock') || isReplaced('data')) parts.access.forget()
    if (isReplaced('data')) {
      deps.onProfileChanged()
      parts.delayed.rejectAll()
    }
    if (isReplaced('scenario')) scenarios.reload()
    assumptions.update()
    if (isReplaced('deliveries')) deliveries.forget()
    scheduler.reload()
    // It schedules attempts, so the timers come first.
    if (isReplaced('deliveries')) deliveries.recover()
    if (isReplaced('requests')) parts.requests.restart()
  }

  /** Replaces rows by `load`, in one change, and updates the parts of the world after its commit. */
  function replaceContent<K extends 'reset' | 'restore'>(
    load: () => void,
    replaced: readonly StatefulPart[],
    kind: K,
    event: FeedEvents[K],
  ) {
    tables.change(() => {
      load()
      deps.store.afterCommit(() => {
        reload(replaced)
        deps.callerView?.forget()
        feed.publish(kind, event)
      })
    })
  }

  /** Loads the start rows; clock, scenario and assumptions stay. */
  function resetData() {
    const restoreScenarios = scenarios.capture()
    const restoreAssumptions = assumptions.capture()
    deps.loadStartRows(tables)
    // In the same order as for a new client.
    restoreScenarios()
    restoreAssumptions()
    worldClock.persist()
  }

  /** Loads the state with which the client starts, and what options of the start replace. Returns whether a timeline starts. */
  function loadStartState(): boolean {
    deps.loadStartRows(tables)
    const now = storedClock(tables)?.anchor ?? worldClock.restart()
    if (storedScenario(tables)) return false
    timeline.restart(now)
    return true
  }

  function clearDeliveries() {
    deliveries.clear()
    parts.inbox.clear()
  }

  return {
    /** Updates a new world to its stored rows. */
    start() {
      reload(['deliveries'])
      parts.access.start()
    },
    /**
     * Resets parts to fixtures, start clock and seed; all parts to the state with which the client starts, if there is one.
     * Returns whether the timeline starts: then the caller runs its due entries.
     */
    reset(parts: readonly ResetPart[]): boolean {
      const has = (part: ResetPart) => parts.includes(part)
      const toState = startsFromState(tables) && RESET_PARTS.every(has)
      let startsTimeline = true
      const replaced: StatefulPart[] = []
      if (has('clock')) replaced.push('clock')
      if (has('data')) replaced.push('data')
      if (has('data') || has('deliveries')) replaced.push('deliveries')
      if (has('requests')) replaced.push('requests')
      function load() {
        if (toState) {
          startsTimeline = loadStartState()
          return
        }
        if (has('data')) resetData()
        else if (has('deliveries')) clearDeliveries()
        const now = has('clock') ? worldClock.restart() : worldClock.clock.now()
        if (has('data') || has('clock')) storeTokenIssue(tables, now)
        if (has('assumptions')) assumptions.reset()
        // This also updates the state that the scenarios keep beside the rows.
        if (has('scenario')) timeline.restart(now)
      }
      replaceContent(load, replaced, 'reset', { parts })
      return startsTimeline
    },
    /** Replaces the whole state by `load`. */
    restore(from: 'snapshot' | 'state', load: () => void) {
      replaceContent(
        () => {
          load()
          adoptSettings(tables, deps.start, deps.steadyWall)
        },
        ['clock', 'data', 'scenario', 'deliveries'],
        'restore',
        { from },
      )
    },
    /** Stores the whole state, including clock and timers, as a snapshot. */
    save(snapshot: string) {
      tables.change(() => {
        worldClock.persistNow()
        tables.save(snapshot)
      })
    },
  }
}
