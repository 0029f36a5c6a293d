import { CurrentScenario } from '../active-scenario/current-scenario.ts'
import type { Library } from '../scenarios/library.ts'
import type { Table } from '../storage/table.ts'
import type { SandboxTables } from '../tables/tables.ts'
import { Clock, type ClockState } from '../time/clock.ts'
import { clockAtStart, startedAsOf, storeClock, type WorldStart } from './start-options.ts'
import { issueToken } from './token-age.ts'

type ClientStart = {
  tables: SandboxTables
  start: WorldStart
  library: Library
  wall: () => number
}

const hasRows = <R>(table: Table<R>) => !table.rows().next().done

/** Whether the start of a client's world only stores settings, and nothing happens before the client's first call. */
function canWait(
  { tables, start, wall }: ClientStart,
  scenario: CurrentScenario,
  clock: ClockState,
): boolean {
  const { timers, deliveries, rules, counters } = tables.tables
  if (hasRows(timers) || hasRows(deliveries)) return false
  // The wall clock was set back: the client's clock continues from now on.
  if (clock.wallAnchor > wall()) return false
  if (!scenario.isStale) return true
  // The start scenario is activated.
  if (hasRows(rules) || hasRows(counters)) return false
  return scenario.layers({ name: start.scenario }).every(({ timeline }) => timeline.length === 0)
}

/** Stores what the start of a client's world stores, if the world can be made later; returns whether it can. */
export function storeStart(client: ClientStart): boolean {
  const { tables, start, library, wall } = client
  const scenario = new CurrentScenario(tables, () => library, start.scenario)
  const { isContinued, state } = clockAtStart(tables, start, wall)
  if (!canWait(client, scenario, state)) return false
  tables.change(() => {
    // In the same order as the world.
    issueToken(tables, new Clock(state, wall).now())
    if (scenario.isStale) scenario.reset()
    if (!isContinued) storeClock(tables, state, startedAsOf(start))
  })
  return true
}
