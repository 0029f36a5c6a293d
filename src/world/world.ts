import { createPayouts } from '../payouts/payouts.ts'
import { createRandom } from '../runtime/random.ts'
import { createResourceEvents } from '../tables/resources.ts'
import type { WorldContext } from '../tables/world-context.ts'
import { Feed } from './feed.ts'
import { WorldAssumptions } from './world-assumptions.ts'
import { WorldClock } from './world-clock.ts'
import type { WorldDeps } from './world-deps.ts'
import { WorldRequests } from './world-requests.ts'
import { WorldScenarios } from './world-scenarios.ts'
import { createWorldWebhooks } from './world-webhooks.ts'

/** Creates one client's world: its parts, on its own tables, clock and random series. */
export function createWorld(deps: WorldDeps) {
  const { tables, start, shared, log } = deps
  const { steadyWall: wall, runtime } = shared
  const feed = new Feed(deps.feedName, tables.afterCommit)
  // The store persists the position in the random series with every change.
  const random = createRandom(start.randomSeed, tables.random)
  const clock = new WorldClock({ tables, start, wall, later: runtime.later, random, feed, log })
  const events = createResourceEvents()
  const assumptions = new WorldAssumptions({
    tables,
    start: start.assume ?? {},
    ofScenario: (scenario) => scenarios.readings(scenario),
    imposed: deps.imposed.readings,
    feed,
  })
  const context: WorldContext = {
    store: tables,
    clock,
    random,
    scheduler: clock.timers,
    events,
    assumed: assumptions,
  }
  const payouts = createPayouts(context)
  const useInbox = () => webhooks.useInbox()
  const scenarios = new WorldScenarios(context, deps, { payouts, assumptions, feed, useInbox })
  const webhooks = createWorldWebhooks(context, deps, { scenarios, payouts, feed })
  events.on(({ type, resourceId }) => {
    if (feed.isWanted)
      feed.publishAfterCommit('change', { type, resource_id: resourceId, at: clock.iso() })
  })
  const requests = new WorldRequests(context, deps, feed)
  return {
    name: tables.name,
    /** Its rows, how they are changed, and its snapshots. */
    tables,
    /** Its time, and the timers. */
    clock,
    /** Its profile, and what its users do: KYC, bank accounts and payments. */
    payouts,
    /** The active scenario with its timeline, the pushed rules, and the readings in force. */
    scenarios,
    /** Its webhook, the deliveries, and the inbox. */
    webhooks,
    /** Which calls it may make, those that wait, and the log of the others. */
    requests,
    /** What happens, when it happens. */
    feed,
  }
}

/** One client's world. */
export type World = ReturnType<typeof createWorld>
