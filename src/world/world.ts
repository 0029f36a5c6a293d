import { Assumed } from '../assumptions/readings.ts'
import { createSnapshots } from '../content/snapshots.ts'
import { createPayouts } from '../payouts/payouts.ts'
import { createViews, type Views } from '../payouts/views.ts'
import { RequestLog } from '../requests/request-log.ts'
import { createRandom, type Random } from '../runtime/random.ts'
import { createResourceEvents } from '../tables/resources.ts'
import type { WorldContext } from '../tables/world-context.ts'
import type { Clock } from '../time/clock.ts'
import { createScheduler, type TimerRow } from '../time/scheduler.ts'
import { createAttemptSender, RETRY_PLANS } from '../webhooks/attempt.ts'
import { createDeliveries, type DeliveriesDeps } from '../webhooks/deliveries.ts'
import { createWebhookEvents } from '../webhooks/events.ts'
import { createInbox } from '../webhooks/inbox.ts'
import { createWebhooks } from '../webhooks/webhooks.ts'
import { createAccess } from './access.ts'
import { createBehaviour } from './behaviour.ts'
import { Feed } from './feed.ts'
import { DelayedResponses } from './waiting.ts'
import { createWorldClock, storedScenario } from './world-clock.ts'
import { createWorldContent, RESET_PARTS } from './world-content.ts'
import type { Publish, WorldDeps } from './world-deps.ts'

const rowOf = ({ row }: { row: TimerRow }) => row

/** The scheduler of a world, with its timers in a table. */
function createWorldScheduler(
  { name, tables, runtime, log }: WorldDeps,
  clock: Clock,
  random: Random,
  more: { onHalfway: () => void; onRun: (timer: TimerRow) => void },
) {
  const { timers } = tables.tables
  return createScheduler({
    clock,
    rows: {
      all: () => timers.page('all', 'all', 0, Number.POSITIVE_INFINITY).map(rowOf).reverse(),
      soonest: () => timers.page('all', 'all', timers.count('all', 'all') - 1, 1)[0]?.row,
      count: () => timers.size,
      get: (id) => timers.get(id),
      insert: (row: TimerRow) => void tables.put('timers', row),
      remove: (id) => tables.remove('timers', id),
      change: tables.change,
      nextSeq: random.next,
    },
    onError: (error, timer) =>
      log.error(`Timer ${timer.timer_id} (${timer.kind}) of client "${name}" failed`, error),
    ...more,
    runtime,
  })
}

/** The webhook of a client: what is sent, by itself or on request, and what its inbox receives. */
function createSending(
  context: WorldContext,
  { name, store, runtime, webhookSettings, webhookWarning, log }: WorldDeps,
  parts: Pick<DeliveriesDeps, 'scenarios' | 'onChanged'> & { views: Views },
) {
  const { scenarios, views, onChanged } = parts
  const webhooks = createWebhooks(context, (url) => {
    const warning = webhookWarning(url)
    if (warning !== undefined) log.warn(`The webhook of client "${name}": ${warning}.`)
  })
  const attempts = createAttemptSender({
    clock: context.clock,
    assumed: context.assumed,
    runtime,
    settings: webhookSettings,
    sendToInbox: (request) => inbox.send(request),
  })
  const deliveries = createDeliveries({
    ...context,
    webhooks,
    scenarios,
    webhookEvents: createWebhookEvents({ ...context, views }),
    sender: attempts,
    retryPlan: RETRY_PLANS[webhookSettings.retries],
    storeHooks: store,
    later: runtime.later,
    onError: (error: unknown) =>
      log.error(`The result of a webhook attempt of client "${name}" was lost`, error),
    onChanged,
  })
  const inbox = createInbox({ ...context, webhooks, unixNow: attempts.unixNow, storeHooks: store })
  return { webhooks, deliveries, inbox }
}

const createRequestLog = (
  { name, logBudget, allRequests, runtime, callerView }: WorldDeps,
  feed: Feed,
) =>
  new RequestLog({
    budget: logBudget,
    addToAll: (call, era) => allRequests.add(name, call, era),
    elapsed: runtime.elapsed,
    onLogged(entry) {
      callerView?.called(entry)
      feed.publish('request', entry)
    },
  })

/** Creates one client's world: its parts, on its own tables, clock and random series. */
export function createWorld(deps: WorldDeps) {
  const { name, tables, store, start, runtime } = deps
  const wall = deps.steadyWall
  const worldClock = createWorldClock({ tables, start, wall, later: runtime.later })
  const { clock } = worldClock
  // The store persists the position in the random series with every change.
  const random = createRandom(start.randomSeed, tables.random)
  const events = createResourceEvents()
  const assumed = new Assumed()
  const feed = new Feed(deps.feedName)
  /** Publishes an event after the commit of the present change. */
  const publish: Publish = (kind, subject) => {
    if (feed.isWanted) store.afterCommit(() => feed.publish(kind, subject))
  }
  const scheduler = createWorldScheduler(deps, clock, random, {
    onHalfway: worldClock.persistSoon,
    onRun: (timer) => publish('timer', timer),
  })
  const context: WorldContext = { store: tables, clock, random, scheduler, events, assumed }
  const profile = () => tables.tables.client.newest('all', 'all')!.row
  // The id changes with a reset to other fixtures or a restored snapshot.
  const views = createViews(() => profile().client_id, assumed)
  const payouts = createPayouts(context, () => profile().check_kyc)
  const { warnOfDeleted, replaceStale, ...behaviour } = createBehaviour(context, deps, {
    payouts,
    publish,
    reset: () => content.reset(RESET_PARTS), // A reset starts a timeline, which can reset.
    useInbox: () => sending.webhooks.useInbox(name),
  })
  const { scenarios, timeline } = behaviour
  const sending = createSending(context, deps, {
    scenarios,
    views,
    onChanged(row) {
      deps.callerView?.delivered(row)
      publish('delivery', row)
    },
  })
  events.on(({ type, resourceId }) => {
    if (feed.isWanted) publish('change', { type, resource_id: resourceId, at: clock.iso() })
  })
  const requests = createRequestLog(deps, feed)
  const delayed = new DelayedResponses(runtime, (count) => feed.publish('waiting', { count }))
  const access = createAccess(tables, clock, assumed)
  const parts = { ...behaviour, ...sending, scheduler, requests, delayed, feed }
  const content = createWorldContent(deps, { ...parts, worldClock, access })
  const snapshots = createSnapshots({
    store: tables,
    save: content.save,
    adopt(load) {
      content.restore('snapshot', load)
      replaceStale()
    },
  })

  return {
    name,
    tables,
    clock,
    runtime,
    random,
    events,
    assumed,
    profile,
    get clientId() {
      return profile().client_id
    },
    views,
    ...payouts,
    ...parts,
    snapshots,
    enter: access.enter,
    change: tables.change,
    batch: store.batch,
    onDurable: store.onDurable,
    clockNow: worldClock.now,
    reset: content.reset,
    /** Replaces the whole state by that of a document. */
    adoptState: (load: () => void) => content.restore('state', load),
    /** The secrets of webhooks in exported states, by id: an import into the same client needs none. */
    exportedSecrets: new Map<string, string>(),
    /** Changes the clock and stores it; if it cannot be stored, the change is rolled back. */
    changeClock(run: () => void) {
      try {
        worldClock.change(run)
        const { mode, speed } = clock.state
        feed.publish('clock', { now: clock.iso(), mode, speed })
      } finally {
        scheduler.arm()
      }
    },
    /** Applies a changed library. */
    libraryChanged() {
      scenarios.changed()
      replaceStale()
    },
    /** The client in a list of clients. */
    summary() {
      const { client_id, status, check_kyc } = profile()
      const scenario = storedScenario(tables)!.name
      const snapshots = tables.snapshots.size
      return { name, client_id, status, check_kyc, scenario, now: clock.iso(), snapshots }
    },
    start() {
      warnOfDeleted()
      content.start()
      if (scenarios.isStale) timeline.start()
      scheduler.start()
      worldClock.start()
    },
    stop() {
      worldClock.stop()
      scheduler.stop()
      sending.deliveries.stop()
      requests.release()
      feed.close()
    },
  }
}

/** One client's world. */
export type World = ReturnType<typeof createWorld>
