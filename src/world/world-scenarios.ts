import { canCompile } from '../active-scenario/current-scenario.ts'
import { Scenarios } from '../active-scenario/scenarios.ts'
import { Timeline, type TimelineDeps } from '../active-scenario/timeline.ts'
import type { Library } from '../scenarios/library.ts'
import { DEFAULT_SCENARIO } from '../scenarios/references.ts'
import { settingOf } from '../tables/tables.ts'
import type { WorldContext } from '../tables/world-context.ts'
import type { Feed } from './feed.ts'
import type { Imposed, WorldDeps } from './shared-resources.ts'
import type { WorldAssumptions } from './world-assumptions.ts'

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

type Parts = Pick<TimelineDeps, 'payouts' | 'useInbox'> & {
  assumptions: WorldAssumptions
  feed: Feed
}

/** What decides about the calls and events of a client: its scenario and its rules, with the timeline, and its readings. */
export class WorldScenarios extends Scenarios {
  readonly assumptions: WorldAssumptions
  readonly timeline: Timeline
  readonly #deps: WorldDeps
  readonly #feed: Feed

  constructor(context: WorldContext, deps: WorldDeps, { assumptions, feed, ...more }: Parts) {
    const { start, library, imposed, shared } = deps
    super({ ...context, library, start, imposed: imposed.layers, totals: shared.totals })
    this.assumptions = assumptions
    this.#deps = deps
    this.#feed = feed
    this.timeline = new Timeline({
      ...context,
      ...more,
      scenarios: this,
      callService: deps.callService,
      reset: deps.reset,
      warn: (message) => this.#warn(message),
      info: (message) => deps.log.info(`client "${deps.tables.name}": ${message}`),
    })
  }

  #warn(message: string) {
    this.#deps.log.warn(`client "${this.#deps.tables.name}": ${message}`)
  }

  override changed() {
    super.changed()
    this.assumptions.update()
    this.#feed.publishAfterCommit('scenario', { name: this.name })
  }

  /** Warns if the file of the start scenario or of the active one was deleted while the sandbox was stopped. */
  warnOfDeleted() {
    const { library, start, tables } = this.#deps
    const isThere = canCompile(library(), { name: start.scenario })
    const starting = isThere ? start.scenario : start.fallbackScenario
    const active = settingOf(tables.tables.settings, 'scenario')
    if (!isThere)
      this.#warn(
        `its start scenario ${start.scenario} no longer exists, so it falls back to ${starting}. To get it back, pass its folder with --scenarios.`,
      )
    if (active && !canCompile(library(), active))
      this.#warn(
        `the active scenario ${active.name} no longer exists; the active scenario is now ${starting}`,
      )
  }

  libraryChanged() {
    this.changed()
    this.replaceStale()
  }

  /** Activates the start scenario if the active one was deleted, or if the file of the start scenario is there again. */
  replaceStale() {
    if (!this.isStale) return
    const before = settingOf(this.#deps.tables.tables.settings, 'scenario')!
    const why = canCompile(this.#deps.library(), before)
      ? 'its start scenario exists again'
      : `the active scenario ${before.name} no longer exists`
    this.timeline.start()
    this.#warn(`${why}; the active scenario is now ${this.name}`)
  }
}
