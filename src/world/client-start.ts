import { CurrentScenario, canCompile } from '../active-scenario/current-scenario.ts'
import type { CompiledScenario } from '../scenarios/compiled.ts'
import type { Library } from '../scenarios/library.ts'
import type { Table } from '../store/table.ts'
import type { SandboxTables } from '../tables/tables.ts'
import { Clock, type ClockState } from '../time/clock.ts'
import {
  type ClientStart,
  clockAtStart,
  startedAsOf,
  storeClock,
  storedScenario,
} from './start-options.ts'
import { issueToken } from './token-age.ts'

type Deps = {
  tables: SandboxTables
  start: ClientStart
  library: Library
  /** The layers of the scenario that is imposed on all clients. */
  imposed: readonly CompiledScenario[]
  wall: () => number
  log: { warn(message: string): void }
}

const hasRows = <R>(table: Table<R>) => table.size > 0

/** Whether the start of a client's world only stores settings, and nothing happens before the client's first call. */
function canWait(
  { tables, imposed, wall }: Deps,
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
  const starting = [...imposed, ...scenario.layers(scenario.startChoice)]
  return starting.every(({ timeline }) => timeline.length === 0)
}

/** Warns if the file of the start scenario or of the active one was deleted while the sandbox was stopped. */
function warnOfDeletedScenario({ tables, start, library, log }: Deps, startName: string) {
  const warn = (what: string) => log.warn(`client "${tables.name}": ${what}`)
  const active = storedScenario(tables)
  if (startName !== start.scenario)
    warn(
      `its start scenario ${start.scenario} no longer exists; ${startName} takes its place. To get it back, pass its folder with --scenarios.`,
    )
  if (active && !canCompile(library, active))
    warn(
      `the active scenario ${active.name} no longer exists; the active scenario is now ${startName}`,
    )
}

/** Stores what the start of a client's world stores, if the world can be made later; returns whether it can. */
export function storeStart(client: Deps): boolean {
  const { tables, start, library, wall } = client
  const scenario = new CurrentScenario(tables, () => library, start)
  warnOfDeletedScenario(client, scenario.startChoice.name)
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
