import { CurrentScenario } from '../active-scenario/current-scenario.ts'
import type { Library } from '../scenarios/library.ts'
import type { Table } from '../storage/table.ts'
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
  wall: () => number
  log: { warn(message: string): void }
}

const hasRows = <R>(table: Table<R>) => !table.rows().next().done

/** Whether the start of a client's world only stores settings, and nothing happens before the client's first call. */
function canWait({ tables, wall }: Deps, scenario: CurrentScenario, clock: ClockState): boolean {
  const { timers, deliveries, rules, counters } = tables.tables
  if (hasRows(timers) || hasRows(deliveries)) return false
  // The wall clock was set back: the client's clock continues from now on.
  if (clock.wallAnchor > wall()) return false
  if (!scenario.isStale) return true
  // The start scenario is activated.
  if (hasRows(rules) || hasRows(counters)) return false
  return scenario.layers(scenario.startChoice).every(({ timeline }) => timeline.length === 0)
}

/** Warns if the file of the active scenario or of the start scenario was deleted while the sandbox was stopped. */
function warnOfDeletedScenario({ tables, start, library, log }: Deps) {
  const { scenario, fallbackScenario } = start
  const warn = (what: string) => log.warn(`client ${tables.name}: ${what}`)
  const exists = (name: string) => library.names.includes(name)
  const active = storedScenario(tables)
  if (!exists(scenario))
    warn(
      `its start scenario ${scenario} no longer exists; it starts with ${fallbackScenario}. To get it back, pass its folder with --scenarios, and reset the client.`,
    )
  else if (active?.startedAs === scenario && !active.definition && !exists(active.name))
    warn(
      `the active scenario ${active.name} no longer exists; the active scenario is now ${scenario}`,
    )
}

/** Stores what the start of a client's world stores, if the world can be made later; returns whether it can. */
export function storeStart(client: Deps): boolean {
  warnOfDeletedScenario(client)
  const { tables, start, library, wall } = client
  const scenario = new CurrentScenario(tables, () => library, start)
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
