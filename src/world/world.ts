import { createTimeline } from '../active-scenario/timeline.ts'
import { createScenarios } from '../active-scenario/world-scenarios.ts'
import { createSnapshots } from '../content/snapshots.ts'
import { createState } from '../content/state.ts'
import type { FeedKind } from '../model/feed-kinds.ts'
import { createBankAccounts } from '../payouts/bank-accounts.ts'
import { createKyc } from '../payouts/kyc.ts'
import { createPayments } from '../payouts/payments.ts'
import { createViews } from '../payouts/response-texts.ts'
import { createUsers } from '../payouts/users.ts'
import { createRequestLog } from '../requests/request-log.ts'
import { createRandom } from '../runtime/random.ts'
import type { Budget } from '../runtime/ring-buffer.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Library } from '../scenarios/library.ts'
import { createResourceEvents } from '../tables/resource-events.ts'
import type { SandboxStore, SandboxTables } from '../tables/tables.ts'
import { type ClockState, createClock } from '../time/clock.ts'
import { createScheduler, type TimerRow } from '../time/scheduler.ts'
import {
  createAttemptSender,
  RETRY_PLANS,
  type WebhookSettings,
} from '../webhooks/attempt-request.ts'
import { createDeliveries } from '../webhooks/deliveries.ts'
import { createExplore } from '../webhooks/explore.ts'
import { createInbox } from '../webhooks/inbox.ts'
import type { SendLimit } from '../webhooks/send-limit.ts'
import { createWebhookEvents } from '../webhooks/webhook-events.ts'
import { createWebhooks } from '../webhooks/webhooks.ts'
import { createDelayedResponses } from './delayed-responses.ts'
import { createFeed, type FeedEvents } from './feed.ts'
import type { TimerObserver } from './recorder.ts'

/** The start options of a world, which a reset restores. */
export type WorldStart = { randomSeed: number; clock: string; clockSpeed: number; scenario: string }

export type WorldDeps = {
  name: string
  tables: SandboxTables
  store: SandboxStore
  start: WorldStart
  /** The present library of scenarios; it changes when the files are reloaded. */
  library: () => Library
  webhookSettings: WebhookSettings
  /** Limits the concurrent webhook attempts of all clients. */
  sendLimit: SendLimit
  /** The memory limit that the request logs of all clients share. */
  logBudget: Budget
  /** The prefix of the event ids of this world's feed. */
  feedName: string
  runtime: Runtime
  /** The monotonic wall clock that drives the client's clock. */
  steadyWall: () => number
  timerRan?: TimerObserver | undefined
  log: { warn(message: string): void; error(message: string, error?: unknown): void }
  /** Resets the client, for the `reset` action of a timeline. */
  reset: () => void
  /** Called when the client's token may have changed. */
  profileChanged: () => void
}

/** The start time of `--clock frozen`: fixed, so that two runs give the same bytes. */
const FROZEN_AT = Date.parse('2026-01-01T00:00:00.000Z')

/** The clock of the start options. */
function startingClock({ clock, clockSpeed }: WorldStart, wall: () => number): ClockState {
  const wallAnchor = wall()
  if (clock === 'real') return { mode: 'real', speed: clockSpeed, anchor: wallAnchor, wallAnchor }
  const anchor = clock === 'frozen' ? FROZEN_AT : Date.parse(clock)
  return { mode: 'frozen', speed: clockSpeed, anchor, wallAnchor }
}

// The delay before the clock is stored again after a failure, real ms.
const CLOCK_RETRY_MS = 1_000

/** The prefix of worlds that collect rows before they replace those of a client; not allowed in client names. */
const STAGING_PREFIX = '~'
export const isStagingName = (name: string): boolean => name.startsWith(STAGING_PREFIX)

function stagingName(taken: ReadonlyMap<string, unknown>): string {
  let n = 1
  while (taken.has(`${STAGING_PREFIX}${n}`)) n++
  return `${STAGING_PREFIX}${n}`
}

const startedAsOf = ({ clock, clockSpeed }: WorldStart) => `${clock} ${clockSpeed}`

/**
 * Adapts stored settings, of a snapshot or of another client, to the start options of this client: the clock continues
 * from the stored time, and the scenario stays. Returns the state of the clock.
 */
export function adoptSettings(
  tables: SandboxTables,
  start: WorldStart,
  wall: () => number,
): ClockState | undefined {
  const { settings } = tables.tables
  const scenario = settings.get('scenario')
  if (scenario?.name === 'scenario')
    tables.put('settings', {
      name: 'scenario',
      value: { ...scenario.value, startedAs: start.scenario },
    })
  const clock = settings.get('clock')
  if (clock?.name !== 'clock') return undefined
  const value = { ...clock.value, wallAnchor: wall(), startedAs: startedAsOf(start) }
  tables.put('settings', { name: 'clock', value })
  return value
}

/** Creates one client's world: its services, on its own tables, clock and random series. */
export function createWorld({
  name,
  tables,
  store,
  start,
  library,
  webhookSettings,
  sendLimit,
  logBudget,
  feedName,
  runtime,
  steadyWall: wall,
  timerRan,
  log,
  reset,
  profileChanged,
}: WorldDeps) {
  const startedAs = startedAsOf(start)
  const setting = tables.tables.settings.get('clock')
  const storedClock = setting?.name === 'clock' ? setting.value : undefined
  // A restart continues with the stored time, unless the clock options have changed.
  const clock = createClock(
    storedClock?.startedAs === startedAs ? storedClock : startingClock(start, wall),
    wall,
  )
  // The store persists the position in the random series with every change.
  const random = createRandom(start.randomSeed, tables.random)
  const events = createResourceEvents()
  const feed = createFeed(feedName)
  /** Publishes an event after the commit of the present change. */
  function publish<K extends FeedKind>(kind: K, subject: FeedEvents[K]) {
    if (feed.isWanted) store.afterCommit(() => feed.publish(kind, subject))
  }
  const requests = createRequestLog({
    budget: logBudget,
    elapsed: runtime.elapsed,
    onLogged: (call) => feed.publish('request', call),
  })
  const { timers } = tables.tables
  const scheduler = createScheduler({
    clock,
    rows: {
      all: () => timers.rows(),
      get: timers.get,
      put: (row: TimerRow) => void tables.put('timers', row),
      remove: (id) => tables.remove('timers', id),
      change: tables.change,
      nextSeq: random.next,
    },
    onError: (error, timer) =>
      log.error(`Timer ${timer.timer_id} (${timer.kind}) of client ${name} failed`, error),
    onRun(timer) {
      timerRan?.(name, timer)
      publish('timer', timer)
    },
    onHalfway: persistClockSoon,
    runtime,
  })

  const context = { store: tables, clock, random, scheduler, events }
  const { client } = tables.tables
  let currentViews = createViews(client.newest('all', 'all')!.id)
  /** The views with the present client id, which changes with a reset to other fixtures or a restored snapshot. */
  function views() {
    if (!client.get(currentViews.clientId))
      currentViews = createViews(client.newest('all', 'all')!.id)
    return currentViews
  }
  const profile = () => client.get(views().clientId)!
  const users = createUsers(context)
  const kyc = createKyc({ ...context, users })
  const bankAccounts = createBankAccounts({ ...context, users })
  const payments = createPayments({ ...context, users, checkKyc: () => profile().check_kyc })
  const webhooks = createWebhooks(context)
  const scenarios = createScenarios({
    ...context,
    library,
    startScenario: start.scenario,
    onChanged: (name) => publish('scenario', { name }),
  })
  const attempts = createAttemptSender({
    clock,
    runtime,
    settings: webhookSettings,
    lane: sendLimit.lane(),
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
    onError: (error) =>
      log.error(`The result of a webhook attempt of client ${name} was lost`, error),
    onChanged: (row) => publish('delivery', row),
  })
  events.on(({ type, resourceId }) => {
    if (feed.isWanted) publish('change', { type, resource_id: resourceId, at: clock.iso() })
  })
  const { deadlineMs } = webhookSettings
  const explore = createExplore({
    ...context,
    webhooks,
    attempts,
    runtime,
    lane: sendLimit.lane(),
    ...(deadlineMs !== undefined && { deadlineMs }),
  })
  const inbox = createInbox({ ...context, webhooks, unixNow: attempts.unixNow })
  const timeline = createTimeline({
    ...context,
    scenarios,
    users,
    kyc,
    bankAccounts,
    payments,
    reset,
    warn: log.warn,
  })

  const delayed = createDelayedResponses({ ...context, name, runtime, warn: log.warn })

  /** The present state of the clock, as it can be stored in a snapshot or another world. */
  const clockNow = (): ClockState => ({
    ...clock.state,
    anchor: clock.now(),
    wallAnchor: wall(),
  })

  /** Stores the whole state, including clock and timers, as a snapshot. */
  function save(snapshot: string) {
    tables.change(() => {
      tables.put('settings', { name: 'clock', value: { ...clockNow(), startedAs } })
      tables.save(snapshot)
    })
  }

  /** Replaces the content of the tables by `load`, and updates all services to it. */
  function adopt(from: 'snapshot' | 'state', load: () => void) {
    tables.change(() => {
      load()
      delayed.removeOrphanedTimers()
      const now = adoptSettings(tables, start, wall)
      store.afterCommit(() => {
        if (now) clock.load(now)
        profileChanged()
        scenarios.reload()
        deliveries.forget()
        scheduler.reload()
        deliveries.recover()
        delayed.rejectCancelled()
        feed.publish('restore', { from })
      })
    })
  }

  // Whether the clock is ahead of its stored state, because a write failed.
  let isClockUnsaved = false
  let cancelClockRetry = () => {}
  function persistClock() {
    tables.put('settings', { name: 'clock', value: { ...clock.state, startedAs } })
    isClockUnsaved = false
  }

  function tryToPersistClock(): boolean {
    try {
      if (isClockUnsaved) persistClock()
    } catch {
      // Not yet.
    }
    return !isClockUnsaved
  }

  function persistClockSoon() {
    isClockUnsaved = true
    cancelClockRetry = runtime.later(CLOCK_RETRY_MS, () => {
      if (!tryToPersistClock()) persistClockSoon()
    })
  }

  return {
    name,
    tables,
    clock,
    runtime,
    random,
    scheduler,
    events,
    get clientId() {
      return views().clientId
    },
    profile,
    users,
    kyc,
    bankAccounts,
    payments,
    webhooks,
    scenarios,
    timeline,
    deliveries,
    explore,
    inbox,
    requests,
    feed,
    get views() {
      return views()
    },
    change: tables.change,
    batch: store.batch,
    onDurable: store.onDurable,
    after: delayed.after,
    rejectCancelled: delayed.rejectCancelled,
    clockNow,
    snapshots: createSnapshots({
      store: tables,
      save,
      adopt: (load) => adopt('snapshot', load),
      pauses: runtime.yieldsToOthers,
    }),
    state: createState({
      ...context,
      scenarios,
      clockNow,
      adopt: (load) => adopt('state', load),
      stage: () => store.addWorld(stagingName(store.worlds), tables.empty),
      pauses: runtime.yieldsToOthers,
    }),
    /** Stores the state of the clock, so that a restart continues from there. */
    persistClock,
    /** Changes the clock and stores it; if it cannot be stored, the change is rolled back. */
    changeClock(run: () => void) {
      const before = clock.state
      try {
        run()
        persistClock()
        const { mode, speed } = clock.state
        feed.publish('clock', { now: clock.iso(), mode, speed })
      } catch (error) {
        clock.load(before)
        throw error
      } finally {
        scheduler.arm()
      }
    },
    /** Resets the clock to the start options; returns its new time, ms. */
    restartClock(): number {
      const value = startingClock(start, wall)
      tables.put('settings', { name: 'clock', value: { ...value, startedAs } })
      store.afterCommit(() => clock.load(value))
      return value.anchor
    },
    /** Applies a changed library; activates the start scenario if the active one was deleted. */
    libraryChanged() {
      scenarios.changed()
      if (!scenarios.isStale) return
      log.warn(
        `client ${name}: the active scenario no longer exists; the active scenario is now ${start.scenario}`,
      )
      timeline.start(scenarios.reset)
    },
    start() {
      delayed.removeOrphanedTimers()
      scheduler.reload()
      deliveries.recover()
      if (scenarios.isStale) timeline.start(scenarios.reset)
      scheduler.start()
      if (storedClock?.startedAs !== startedAs) persistClock()
    },
    stop() {
      tryToPersistClock()
      cancelClockRetry()
      scheduler.stop()
      deliveries.stop()
      requests.clear()
      feed.close()
    },
    runDelayed: delayed.runAll,
    rejectDelayed: delayed.rejectAll,
  }
}

/** One client's world. */
export type World = ReturnType<typeof createWorld>
