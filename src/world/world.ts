import { createPayouts, type Payouts } from '../payouts/payouts.ts'
import { createDelayedResponses } from '../requests/delayed-responses.ts'
import { RequestLog } from '../requests/request-log.ts'
import { createRandom } from '../runtime/random.ts'
import { createResourceEvents, type WorldContext } from '../tables/world-context.ts'
import { createAttemptSender, RETRY_PLANS } from '../webhooks/attempt.ts'
import { createDeliveries } from '../webhooks/deliveries.ts'
import { createWebhookEvents } from '../webhooks/events.ts'
import { createInbox } from '../webhooks/inbox.ts'
import { createWebhooks } from '../webhooks/webhooks.ts'
import { createAccess } from './access.ts'
import { Feed } from './feed.ts'
import type { WorldDeps } from './shared-resources.ts'
import { WorldAssumptions } from './world-assumptions.ts'
import { WorldClock } from './world-clock.ts'
import { WorldScenarios } from './world-scenarios.ts'

/** The calls of one client: which it may make, those that wait for a delayed response, and the log of the others. */
export class WorldRequests extends RequestLog {
  readonly access: ReturnType<typeof createAccess>
  readonly delayed: ReturnType<typeof createDelayedResponses>

  constructor(context: WorldContext, { tables, shared }: WorldDeps, feed: Feed) {
    const { logBudget, allRequests, runtime } = shared
    super({
      budget: logBudget,
      addToAll: (call, era) => allRequests.add(tables.name, call, era),
      runtime,
      onLogged: (entry) => feed.publish('request', entry),
    })
    this.access = createAccess(context)
    this.delayed = createDelayedResponses(runtime, (count) => feed.publish('waiting', { count }))
  }
}

/** The webhook of a client: what is sent, by itself or on request, and what its inbox receives. */
function createWorldWebhooks(
  context: WorldContext,
  { shared: { runtime, webhookSettings, webhookLimit, webhookWarning }, log }: WorldDeps,
  { scenarios, payouts, feed }: { scenarios: WorldScenarios; payouts: Payouts; feed: Feed },
) {
  const { name } = context.store
  const webhooks = createWebhooks(context, (url) => {
    const warning = webhookWarning(url)
    if (warning !== undefined) log.warn(`The webhook of client "${name}": ${warning}.`)
  })
  const sender = createAttemptSender({
    ...context,
    runtime,
    settings: webhookSettings,
    common: webhookLimit,
    sendToInbox: (request) => inbox.send(request),
  })
  const { trigger, redeliver, ...deliveries } = createDeliveries({
    ...context,
    webhooks,
    scenarios,
    webhookEvents: createWebhookEvents(context, payouts.views),
    sender,
    retryPlan: RETRY_PLANS[webhookSettings.retries],
    later: runtime.later,
    onError: (error) =>
      log.error(`The result of a webhook attempt of client "${name}" was lost`, error),
    onChanged: (row) => feed.publishAfterCommit('delivery', row),
  })
  const inbox = createInbox({ ...context, webhooks, unixNow: sender.unixNow })
  return {
    ...webhooks,
    trigger,
    redeliver,
    deliveries,
    inbox,
    /** The secrets of webhooks in exported states, by id: an import into the same client needs none. */
    exportedSecrets: new Map<string, string>(),
  }
}

/** Creates one client's world: its parts, on its own tables, clock and random series. */
export function createWorld(deps: WorldDeps) {
  const { tables, start, shared, log } = deps
  const { steadyWall: wall, runtime } = shared
  const feed = new Feed(deps.feedName, tables.unit.afterCommit)
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
    tables,
    clock,
    /** Its profile, and what its users do: KYC, bank accounts and payments. */
    payouts,
    /** The active scenario with its timeline, the pushed rules, and the readings in force. */
    scenarios,
    webhooks,
    /** Which calls it may make, those that wait, and the log of the others. */
    requests,
    feed,
  }
}

export type World = ReturnType<typeof createWorld>
