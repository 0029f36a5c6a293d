import { snapshotOf } from '../content/snapshots.ts'
import { type SandboxTables, settingOf } from '../tables/tables.ts'
import { storeTokenIssue } from './access.ts'
import { startsFromState } from './client-rows.ts'
import type { FeedEvents } from './feed.ts'
import type { World } from './world.ts'

export const RESET_PARTS = [
  'data',
  'clock',
  'scenario',
  'assumptions',
  'deliveries',
  'requests',
] as const
export type ResetPart = (typeof RESET_PARTS)[number]

/** Updates the parts of a world to rows that were replaced; `replaced` are the parts with other content. */
function reload({ clock, scenarios, webhooks, requests }: World, replaced: readonly ResetPart[]) {
  const isReplaced = (part: ResetPart) => replaced.includes(part)
  if (isReplaced('clock')) clock.reload()
  if (isReplaced('clock') || isReplaced('data')) requests.access.forget()
  if (isReplaced('data')) requests.delayed.rejectAll()
  if (isReplaced('scenario')) scenarios.reload()
  scenarios.assumptions.update()
  if (isReplaced('deliveries')) webhooks.deliveries.forget()
  clock.timers.reload()
  // It schedules attempts, so the timers come first.
  if (isReplaced('deliveries')) webhooks.deliveries.recover()
  if (isReplaced('requests')) requests.restart()
}

/** Replaces rows by `load`, in one change, and updates the parts of the world after its commit. */
function replaceContent<K extends 'reset' | 'restore'>(
  world: World,
  load: () => void,
  replaced: readonly ResetPart[],
  kind: K,
  event: FeedEvents[K],
) {
  world.tables.change(() => {
    load()
    world.tables.unit.afterCommit(() => {
      reload(world, replaced)
      world.feed.publish(kind, event)
    })
  })
}

export function startWorld(world: World) {
  const { clock, scenarios, requests } = world
  scenarios.warnOfDeleted()
  reload(world, ['deliveries'])
  requests.access.start()
  if (scenarios.isStale) scenarios.timeline.start()
  clock.start()
}

export function stopWorld({ clock, webhooks, requests, feed }: World) {
  clock.stop()
  webhooks.deliveries.stop()
  requests.release()
  feed.close()
}

type LoadStartRows = (tables: SandboxTables) => void

/** Loads the start rows; clock, scenario and assumptions stay. */
function resetData({ tables, clock, scenarios }: World, loadStartRows: LoadStartRows) {
  const restoreScenarios = scenarios.capture()
  const restoreAssumptions = scenarios.assumptions.capture()
  loadStartRows(tables)
  // In the same order as for a new client.
  restoreScenarios()
  restoreAssumptions()
  clock.persist()
}

/** Loads the state with which the client starts, and what options of the start replace. Returns whether a timeline starts. */
function loadStartState({ tables, clock, scenarios }: World, loadStartRows: LoadStartRows) {
  loadStartRows(tables)
  const now = settingOf(tables.tables.settings, 'clock')?.anchor ?? clock.restart()
  if (settingOf(tables.tables.settings, 'scenario')) return false
  scenarios.timeline.restart(now)
  return true
}

/** Resets parts to fixtures, start clock and seed, or all to a start state; returns whether the caller must run due timeline entries. */
export function resetWorld(
  world: World,
  parts: readonly ResetPart[],
  loadStartRows: LoadStartRows,
): boolean {
  const { tables, clock, scenarios, webhooks } = world
  const has = (part: ResetPart) => parts.includes(part)
  const toState = startsFromState(tables) && RESET_PARTS.every(has)
  let startsTimeline = true
  // The restart of the timeline also updates what the scenarios keep beside the rows.
  const replaced = parts.filter((part) => part !== 'scenario')
  if (has('data')) replaced.push('deliveries')
  function load() {
    if (toState) {
      startsTimeline = loadStartState(world, loadStartRows)
      return
    }
    if (has('data')) resetData(world, loadStartRows)
    else if (has('deliveries')) {
      webhooks.deliveries.clear()
      webhooks.inbox.clear()
    }
    const now = has('clock') ? clock.restart() : clock.now()
    if (has('data') || has('clock')) storeTokenIssue(tables, now)
    if (has('assumptions')) scenarios.assumptions.reset()
    if (has('scenario')) scenarios.timeline.restart(now)
  }
  replaceContent(world, load, replaced, 'reset', { parts })
  return startsTimeline
}

export function restore(world: World, from: 'snapshot' | 'state', load: () => void) {
  function adopt() {
    load()
    world.clock.adoptSettings()
  }
  replaceContent(world, adopt, ['clock', 'data', 'scenario', 'deliveries'], 'restore', { from })
}

export function restoreSnapshot(world: World, name: string) {
  snapshotOf(world, name)
  restore(world, 'snapshot', () => world.tables.restore(name))
  world.scenarios.replaceStale()
}
