import { canCompile } from '../active-scenario/current-scenario.ts'
import { createTimeline } from '../active-scenario/timeline.ts'
import type { Totals } from '../active-scenario/totals.ts'
import { createScenarios, type Scenarios } from '../active-scenario/world-scenarios.ts'
import { Assumed } from '../assumptions/assumed.ts'
import { createSnapshots } from '../content/snapshots.ts'
import { stateOnDemand } from '../content/state-on-demand.ts'
import type { FeedKind } from '../model/feed-kinds.ts'
import { Payouts } from '../payouts/payouts.ts'
import type { Views } from '../payouts/response-texts.ts'
import type { AllRequests } from '../requests/all-requests.ts'
import { RequestLog } from '../requests/request-log.ts'
import { createRandom, type Random } from '../runtime/random.ts'
import type { Budget } from '../runtime/ring-buffer.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Library } from '../scenarios/library.ts'
import { createResourceEvents } from '../tables/resource-events.ts'
import type { SandboxStore, SandboxTables } from '../tables/tables.ts'
import { type WorldContext, withMore } from '../tables/world-context.ts'
import type { Clock } from '../time/clock.ts'
import { createScheduler, type SchedulerDeps, type TimerRow } from '../time/scheduler.ts'
import {
  createAttemptSender,
  RETRY_PLANS,
  type WebhookSettings,
} from '../webhooks/attempt-request.ts'
import { createDeliveries, type DeliveriesDeps } from '../webhooks/deliveries.ts'
import { createExplore } from '../webhooks/explore.ts'
import { createInbox } from '../webhooks/inbox.ts'
import { createWebhookEvents } from '../webhooks/webhook-events.ts'
import { createWebhooks } from '../webhooks/webhooks.ts'
import { createAccess } from './access.ts'
import { DelayedResponses } from './delayed-responses.ts'
import { Feed, type FeedEvents } from './feed.ts'
import type { Imposed } from './imposed.ts'
import { PartsOnDemand } from './parts-on-demand.ts'
import { Profile } from './profile.ts'
import type { TimerObserver } from './recorder.ts'
import { type ClientStart, storedScenario } from './start-options.ts'
import { WorldAssumptions } from './world-assumptions.ts'
import { createWorldClock } from './world-clock.ts'
import { createWorldContent, RESET_PARTS } from './world-content.ts'

export type WorldDeps = {
  name: string
  tables: SandboxTables
  store: SandboxStore
  start: ClientStart
  /** The present library of scenarios; it changes when the files are reloaded. */
  library: () => Library
  /** The scenario that is imposed on all clients, if there is one. */
  imposed: Imposed
  webhookSettings: WebhookSettings
  /** A warning about a URL to which webhooks are probably not sent. */
  webhookWarning: (url: string) => string | undefined
  /** The memory limit that the request logs of all clients share. */
  logBudget: Budget
  /** The calls of all clients. */
  allRequests: AllRequests
  /** What happened in all clients. */
  totals: Totals
  /** The prefix of the event ids of this world's feed. */
  feedName: string
  runtime: Runtime
  /** The monotonic wall clock that drives the client's clock. */
  steadyWall: () => number
  timerRan?: TimerObserver | undefined
  /** Replaces all rows by those with which the client starts. */
  loadStartRows: (tables: SandboxTables) => void
  /** Called when the client's token may have changed. */
  onProfileChanged: () => void
  log: {
    info(message: string): void
    warn(message: string): void
    error(message: string, error?: unknown): void
  }
}

const rowOf = ({ row }: { row: TimerRow }) => row

/** The scheduler of a world, with its timers in a table. */
function createWorldScheduler(
  { name, tables, runtime, timerRan, log }: WorldDeps,
  clock: Clock,
  random: Random,
  more: Required<Pick<SchedulerDeps, 'onHalfway' | 'onUnknownKind'>> & {
    onRun: (timer: TimerRow) => void
  },
) {
  const { timers } = tables.tables
  return createScheduler({
    clock,
    rows: {
      all: () => timers.page('all', 'all', 0, Number.POSITIVE_INFINITY).map(rowOf).reverse(),
      soonest: () => timers.page('all', 'all', timers.count('all', 'all') - 1, 1)[0]?.row,
      count: () => timers.size,
      get: (id) => timers.get(id),
      insert: (row: TimerRow) => void tables.insert('timers', row),
      remove: (id) => tables.remove('timers', id),
      change: tables.change,
      nextSeq: random.next,
    },
    onError: (error, timer) =>
      log.error(`Timer ${timer.timer_id} (${timer.kind}) of client "${name}" failed`, error),
    onRun(timer) {
      timerRan?.(name, timer)
      more.onRun(timer)
    },
    onUnknownKind: more.onUnknownKind,
    onHalfway: more.onHalfway,
    runtime,
  })
}

/** The webhook of a client: what is sent, by itself or on request, and what its inbox receives. */
function createSending(
  context: WorldContext,
  { name, store, runtime, webhookSettings, webhookWarning, log }: WorldDeps,
  parts: Pick<DeliveriesDeps, 'scenarios' | 'onChanged'> & { views: () => Views },
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
  })
  const deliveries = createDeliveries(
    withMore(context, {
      webhooks,
      scenarios,
      webhookEvents: createWebhookEvents(withMore(context, { views })),
      sender: attempts,
      retryPlan: RETRY_PLANS[webhookSettings.retries],
      storeHooks: store,
      later: runtime.later,
      onError: (error: unknown) =>
        log.error(`The result of a webhook attempt of client "${name}" was lost`, error),
      onChanged,
    }),
  )
  return {
    webhooks,
    deliveries,
    makeExplore() {
      const { deadlineMs } = webhookSettings
      const limits = deadlineMs === undefined ? {} : { deadlineMs }
      return createExplore({ ...context, webhooks, attempts, runtime, ...limits })
    },
    makeInbox: () => createInbox({ ...context, webhooks, unixNow: attempts.unixNow }),
  }
}

type Publish = <K extends FeedKind>(kind: K, subject: FeedEvents[K]) => void

/** The scenarios of a client, and its readings, of which the active scenario chooses some. */
function createBehaviour(context: WorldContext, deps: WorldDeps, publish: Publish) {
  const { tables, start, library, imposed, totals } = deps
  const scenarios = createScenarios(
    withMore(context, {
      library,
      start,
      imposed: imposed.layers,
      totals,
      onChanged(name: string) {
        assumptions.update()
        publish('scenario', { name })
      },
    }),
  )
  const assumptions = new WorldAssumptions({
    tables,
    assumed: context.assumed,
    start: start.assume ?? {},
    ofScenario: (scenario) => scenarios.readings(scenario),
    imposed: imposed.readings,
    onChanged: (changed) => publish('assumptions', { changed }),
  })
  return { scenarios, assumptions }
}

/** Activates the start scenario if the active one was deleted, or if the file of the start scenario is there again. */
function replaceStaleScenario(
  { name, tables, library, log }: WorldDeps,
  scenarios: Scenarios,
  timeline: ReturnType<typeof createTimeline>,
) {
  if (!scenarios.isStale) return
  const before = storedScenario(tables)!
  const why = canCompile(library(), before)
    ? 'its start scenario exists again'
    : `the active scenario ${before.name} no longer exists`
  timeline.start()
  log.warn(`client "${name}": ${why}; the active scenario is now ${scenarios.name}`)
}

/** Creates one client's world: its parts, on its own tables, clock and random series. */
export function createWorld(deps: WorldDeps) {
  const { name, tables, store, start, runtime, log, steadyWall: wall } = deps
  const worldClock = createWorldClock({ tables, start, wall, later: runtime.later })
  const { clock } = worldClock
  // The store persists the position in the random series with every change.
  const random = createRandom(start.randomSeed, tables.random)
  const events = createResourceEvents()
  const feed = new Feed(deps.feedName)
  /** Publishes an event after the commit of the present change. */
  function publish<K extends FeedKind>(kind: K, subject: FeedEvents[K]) {
    if (feed.isWanted) store.afterCommit(() => feed.publish(kind, subject))
  }
  const requests = new RequestLog({
    budget: deps.logBudget,
    addToAll: (call, era) => deps.allRequests.add(name, call, era),
    elapsed: runtime.elapsed,
    onLogged: (call) => feed.publish('request', call),
  })
  const scheduler = createWorldScheduler(deps, clock, random, {
    onHalfway: worldClock.persistSoon,
    onRun: (timer) => publish('timer', timer),
    onUnknownKind: () => void payouts.handleTimers(),
  })
  const assumed = new Assumed()
  const context = { store: tables, clock, random, scheduler, events, assumed }
  const profile = new Profile(tables, assumed)
  const payouts = new Payouts(context, () => profile.row.check_kyc)
  const { scenarios, assumptions } = createBehaviour(context, deps, publish)
  const access = createAccess(tables, clock, assumed)
  const { webhooks, deliveries, makeExplore, makeInbox } = createSending(context, deps, {
    scenarios,
    views: () => profile.views,
    onChanged: (row) => publish('delivery', row),
  })
  events.on(({ type, resourceId }) => {
    if (feed.isWanted) publish('change', { type, resource_id: resourceId, at: clock.iso() })
  })
  const timeline = createTimeline(
    withMore(context, {
      payouts,
      scenarios,
      // A reset starts a timeline, and a timeline can reset.
      reset: () => content.reset(RESET_PARTS),
      warn: (message: string) => log.warn(`client "${name}": ${message}`),
      info: (message: string) => log.info(`client "${name}": ${message}`),
    }),
  )
  const delayed = new DelayedResponses(runtime, (count) => feed.publish('waiting', { count }))
  const content = createWorldContent({
    tables,
    afterCommit: store.afterCommit,
    start,
    wall,
    worldClock,
    scheduler,
    scenarios,
    assumptions,
    timeline,
    deliveries,
    inbox: () => parts.inbox,
    requests,
    delayed,
    access,
    feed,
    loadStartRows: deps.loadStartRows,
    onProfileChanged: deps.onProfileChanged,
  })
  const pauses = runtime.yieldsToOthers
  const replaceStale = () => replaceStaleScenario(deps, scenarios, timeline)
  const parts = new PartsOnDemand(profile, payouts, {
    explore: makeExplore,
    inbox: makeInbox,
    snapshots: () =>
      createSnapshots({
        store: tables,
        save: content.save,
        adopt(load) {
          content.restore('snapshot', load)
          replaceStale()
        },
      }),
  })

  return Object.assign(parts, {
    profile: () => profile.row,
    name,
    tables,
    clock,
    runtime,
    random,
    scheduler,
    events,
    assumed,
    assumptions,
    enter: access.enter,
    webhooks,
    deliveries,
    scenarios,
    timeline,
    requests,
    feed,
    state: stateOnDemand(
      withMore(context, {
        scenarios,
        assumptions,
        clockNow: worldClock.now,
        adopt: (load: () => void) => content.restore('state', load),
        pauses,
      }),
    ),
    change: tables.change,
    batch: store.batch,
    onDurable: store.onDurable,
    delayed,
    clockNow: worldClock.now,
    reset: content.reset,
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
    start() {
      content.start()
      if (scenarios.isStale) timeline.start()
      scheduler.start()
      worldClock.start()
    },
    stop() {
      worldClock.stop()
      scheduler.stop()
      deliveries.stop()
      requests.release()
      feed.close()
    },
  })
}

/** One client's world. */
export type World = ReturnType<typeof createWorld>
