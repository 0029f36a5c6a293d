import { canCompile } from '../active-scenario/current-scenario.ts'
import { createTimeline, type TimelineDeps } from '../active-scenario/timeline.ts'
import { createScenarios } from '../active-scenario/world-scenarios.ts'
import type { Payouts } from '../payouts/payouts.ts'
import type { Library } from '../scenarios/library.ts'
import { DEFAULT_SCENARIO } from '../scenarios/references.ts'
import type { WorldContext } from '../tables/world-context.ts'
import { WorldAssumptions } from './world-assumptions.ts'
import { storedScenario } from './world-clock.ts'
import type { Imposed, Publish, WorldDeps } from './world-deps.ts'

/** The scenario of this name as the one that is imposed; the default one is below all others anyway. */
export function imposedOf(name: string | undefined, library: () => Library): Imposed {
  const find = () =>
    name === undefined || name === DEFAULT_SCENARIO ? undefined : library().get(name)
  return {
    layers() {
      const scenario = find()
      return scenario ? library().ownLayersOf(scenario) : []
    },
    readings() {
      const scenario = find()
      return scenario ? library().readingsOf(scenario) : {}
    },
  }
}

/** What decides about the calls and events of a client: its scenario, with the timeline, and its readings. */
export function createBehaviour(
  context: WorldContext,
  deps: WorldDeps,
  {
    payouts,
    publish,
    ...more
  }: { payouts: Payouts; publish: Publish } & Pick<TimelineDeps, 'reset' | 'useInbox'>,
) {
  const { name, tables, start, library, imposed, totals, log } = deps
  const warn = (message: string) => log.warn(`client "${name}": ${message}`)
  const scenarios = createScenarios({
    ...context,
    library,
    start,
    imposed: imposed.layers,
    totals,
    onChanged(active: string) {
      assumptions.update()
      publish('scenario', { name: active })
    },
  })
  const assumptions = new WorldAssumptions({
    tables,
    assumed: context.assumed,
    start: start.assume ?? {},
    ofScenario: (scenario) => scenarios.readings(scenario),
    imposed: imposed.readings,
    onChanged: (changed) => publish('assumptions', { changed }),
  })
  const timeline = createTimeline({
    ...context,
    payouts,
    scenarios,
    callService: deps.callService,
    ...more,
    warn,
    info: (message: string) => log.info(`client "${name}": ${message}`),
  })

  return {
    scenarios,
    assumptions,
    timeline,
    /** Warns if the file of the start scenario or of the active one was deleted while the sandbox was stopped. */
    warnOfDeleted() {
      const isThere = canCompile(library(), { name: start.scenario })
      const starting = isThere ? start.scenario : start.fallbackScenario
      const active = storedScenario(tables)
      if (!isThere)
        warn(
          `its start scenario ${start.scenario} no longer exists, so it falls back to ${starting}. To get it back, pass its folder with --scenarios.`,
        )
      if (active && !canCompile(library(), active))
        warn(
          `the active scenario ${active.name} no longer exists; the active scenario is now ${starting}`,
        )
    },
    /** Activates the start scenario if the active one was deleted, or if the file of the start scenario is there again. */
    replaceStale() {
      if (!scenarios.isStale) return
      const before = storedScenario(tables)!
      const why = canCompile(library(), before)
        ? 'its start scenario exists again'
        : `the active scenario ${before.name} no longer exists`
      timeline.start()
      warn(`${why}; the active scenario is now ${scenarios.name}`)
    },
  }
}

export type Behaviour = ReturnType<typeof createBehaviour>
