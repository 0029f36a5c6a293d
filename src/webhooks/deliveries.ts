import type { Scenarios } from '../active-scenario/scenarios.ts'
import { webhookDelivery } from '../assumptions/webhooks.ts'
import type { DeliveryRow, TimerRow } from '../model/delivery.ts'
import { SandboxError } from '../model/errors.ts'
import type { Later } from '../runtime/real-time.ts'
import { kindOf, resourceIdOf, type WorldContext } from '../tables/world-context.ts'
import { type CommitOrder, createCommitOrder } from '../time/runner.ts'
import type { AttemptResult, AttemptSender } from './attempt.ts'
import { DeliveryQueue, type DeliveryQueueDeps, WEBHOOK_ATTEMPT } from './delivery-queue.ts'
import type { Override, WebhookEvents } from './events.ts'
import type { Webhooks } from './webhooks.ts'

// These events are only sent on request (defaults: Webhook).
const ON_REQUEST: ReadonlySet<string> = new Set(['user.created', 'webhook.test'])
const MAX_RECORDED = 1_000
const NO_DELAY = { minMs: 0, maxMs: 0 }

// The delay before retrying to write a result, real ms.
const REWRITE_MS = 1_000

type DeliveriesDeps = WorldContext &
  DeliveryQueueDeps & {
    scenarios: Scenarios
    webhooks: Webhooks
    webhookEvents: WebhookEvents
    sender: AttemptSender
    /** When each attempt is made, in ms after the first attempt. */
    retryPlan: readonly number[]
    later: Later
    onError: (error: unknown) => void
  }

/** Makes the attempts of deliveries; by default one whose result was not written is made again (at least once). */
function createRunningAttempts(
  { store, clock, assumed, webhooks, sender, retryPlan: plan, later, onError }: DeliveriesDeps,
  queue: DeliveryQueue,
) {
  // By id of their delivery.
  const running = new Map<string, Promise<void>>()
  const cancelRewrites = new Set<() => void>()
  // Results of attempts from before a reset belong to rows that no longer exist.
  let epoch = 0
  let isStopped = false

  /** The delivery if an attempt of this epoch still concerns it. */
  function pending(delivery_id: string, mine: number): DeliveryRow | undefined {
    const row = queue.find(delivery_id)
    return isStopped || mine !== epoch || row?.status !== 'pending' ? undefined : row
  }

  /** What an attempt sends; `undefined` if it's no longer needed. */
  function prepare({ timer_id, resource_id }: TimerRow, mine: number) {
    // After a rollback of the change that removed the timer it exists again, and nothing is sent.
    const row = store.tables.timers.get(timer_id) ? undefined : pending(resource_id!, mine)
    const webhook = webhooks.current()
    return row && webhook && { row, webhook }
  }

  async function call(timer: TimerRow, mine: number): Promise<AttemptResult | undefined> {
    // Until that change has ended.
    await undefined
    const prepared = prepare(timer, mine)
    if (!prepared) return undefined
    const { row, webhook } = prepared
    return sender.send(queue.eventOf(row), row.attempts.length + 1, webhook, row.fault)
  }

  /** Stores the result of an attempt and schedules the next one, if there is one. */
  function handle(
    row: DeliveryRow,
    due_at: number,
    { attempt, retryAfterMs, gone }: AttemptResult,
  ) {
    const tried = [...row.attempts, attempt]
    const n = tried.length
    const gap = plan[n] === undefined ? undefined : plan[n] - plan[n - 1]!
    const isLast = gone || row.once || assumed.get(webhookDelivery) !== 'at_least_once'
    if (attempt.ok) queue.finish(row, 'delivered', tried)
    else if (isLast || gap === undefined)
      queue.finish(row, tried.some(({ ok }) => ok) ? 'delivered' : 'failed', tried)
    else
      queue.retry({ ...row, attempts: tried }, Math.max(due_at + gap, clock.now() + retryAfterMs))
  }

  /** Writes a result with the other changes of this turn; if the disk fails, retries until it succeeds. */
  function write(timer: TimerRow, result: AttemptResult, mine: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const row = pending(timer.resource_id!, mine)
      if (!row) return resolve()
      function ended(error?: unknown) {
        if (error === undefined) return resolve()
        if (!(error instanceof SandboxError) || error.code !== 'storage_unavailable')
          return reject(error)
        const cancel = later(REWRITE_MS, () => {
          cancelRewrites.delete(cancel)
          write(timer, result, mine).catch(onError)
        })
        cancelRewrites.add(cancel)
        resolve()
      }
      try {
        store.unit.batch(() => store.change(() => handle(row, timer.due_at, result)))
        store.unit.onDurable(ended)
      } catch (error) {
        ended(error)
      }
    })
  }

  async function attempt(timer: TimerRow, order: CommitOrder | undefined) {
    const mine = epoch
    const earlier = order?.last
    let stored = () => {}
    if (order)
      order.last = new Promise((resolve) => {
        stored = resolve
      })
    let written: Promise<void> | undefined
    try {
      const result = await call(timer, mine)
      // Receivers respond in any order; the order of the results, and so the ids of timers, must not depend on it.
      await earlier
      if (result) written = write(timer, result, mine)
    } finally {
      // After a reset the same id can belong to another attempt.
      if (mine === epoch) running.delete(timer.resource_id!)
      stored()
    }
    await written
  }

  return {
    /** The running attempt of a delivery; resolves when its result is written. */
    of: (delivery_id: string) => running.get(delivery_id),
    /** Starts the attempt of a timer that ran; `false` if its delivery is finished. */
    start(timer: TimerRow, order: CommitOrder | undefined): Promise<void> | false {
      const delivery_id = timer.resource_id!
      if (queue.find(delivery_id)?.status !== 'pending') return false
      const mine = running.get(delivery_id) ?? attempt(timer, order)
      running.set(delivery_id, mine)
      return mine
    },
    /** Forgets the running attempts, after the rows were replaced or removed. */
    forget() {
      epoch++
      running.clear()
    },
    stop() {
      isStopped = true
      for (const cancel of cancelRewrites) cancel()
      cancelRewrites.clear()
    },
  }
}

/** Returns the function that makes the attempts that are due, even on a frozen clock, and waits for their results. */
const createSendDue =
  (
    { clock, scheduler }: DeliveriesDeps,
    queue: DeliveryQueue,
    attempts: ReturnType<typeof createRunningAttempts>,
  ) =>
  async (ids: readonly string[]): Promise<DeliveryRow[]> => {
    const due = ids
      .map((id) => queue.timerOf(queue.get(id)))
      .filter((timer) => timer && timer.due_at <= clock.now())
    const order = createCommitOrder()
    await Promise.all([
      ...due.map((timer) => scheduler.fire(timer!, order)),
      ...ids.flatMap((id) => attempts.of(id) ?? []),
    ])
    return ids.map((id) => queue.get(id))
  }

/** An event that was not sent by itself, such as one from before the webhook existed: it has no body. `at` is the client's time, ms. */
export type RecordedEvent = { delivery_id: string; event: string; resource_id: string; at: number }

/** The newest events that were not sent by themselves, in memory, oldest first. They are sent only on request. */
function createRecordedEvents() {
  let all: RecordedEvent[] = []
  let count = 0
  return {
    all: () => all,
    find: (id: string) => all.find(({ delivery_id }) => delivery_id === id),
    add(event: string, resource_id: string, at: number) {
      all.push({ delivery_id: `rec_${++count}`, event, resource_id, at })
      if (all.length > MAX_RECORDED) all.shift()
    },
    clear() {
      all = []
      count = 0
    },
  }
}

/** The call that runs, as far as its events need it: its `traceparent`, and the deliveries that it has made. */
type Cause = { traceparent?: string | undefined; made: DeliveryRow[] }

/** Deliveries of events to the client's webhook: the scenario decides about each, attempts run on the client's clock. */
export function createDeliveries(deps: DeliveriesDeps) {
  const { store, clock, scheduler, events, assumed, webhooks, scenarios, webhookEvents } = deps
  const queue = new DeliveryQueue(deps)
  const attempts = createRunningAttempts(deps, queue)
  const sendDue = createSendDue(deps, queue, attempts)
  const recorded = createRecordedEvents()
  let cause: Cause | undefined

  /** Creates an event and its deliveries, inside the open change. */
  function publish(type: string, resource_id: string, override?: Override, skipsOrder = false) {
    const { event_id, created_at, body, data } = webhookEvents.create(type, resource_id, override)
    const decision = scenarios.decideWebhook(webhookEvents.callOf(type, resource_id, data))
    const outcome = decision?.outcome ?? {}
    const delays = (!outcome.drop && outcome.copies) || [NO_DELAY]
    const traceparent = cause?.traceparent ?? webhookEvents.traceOf(resource_id)
    const made = { event_id, type, resource_id, created_at, body, copies: delays.length }
    const event = store.put('events', { ...made, ...(traceparent && { traceparent }) }).row
    const rule = decision && `${decision.scenario}: ${decision.rule}`
    const rows = delays.map((delay, i) =>
      queue.add(event, { copy: i + 1, delay }, outcome, rule, skipsOrder),
    )
    cause?.made.push(...rows)
    return rows
  }

  events.on(({ type, resourceId: resource_id, asked }) => {
    if (!asked && ON_REQUEST.has(type)) return
    if (webhooks.current() && assumed.get(webhookDelivery) !== 'never') {
      publish(type, resource_id)
      return
    }
    const at = clock.now()
    store.unit.afterCommit(() => recorded.add(type, resource_id, at))
  })

  scheduler.handle(WEBHOOK_ATTEMPT, attempts.start, { parallel: true })

  // ---- on request

  function requireWebhook() {
    if (!webhooks.current())
      throw new SandboxError(
        'not_found',
        'This client has no webhook yet, so nothing can be sent. Create one with POST /clientWebhook.',
      )
  }

  /** Runs a call. With `sendsNow` the attempts of its events that are due are made, even on a frozen clock. */
  function causedBy<T>(traceparent: string | undefined, sendsNow: boolean, run: () => T): T {
    const mine: Cause = { traceparent, made: [] }
    cause = mine
    try {
      const result = run()
      const send = () => sendDue(mine.made.map(({ delivery_id }) => delivery_id))
      // When the change that this is part of has ended.
      if (sendsNow) Promise.resolve().then(send).catch(deps.onError)
      return result
    } finally {
      cause = undefined
    }
  }

  /** Creates an event about a resource (default: the newest of its kind) and waits for the attempts that are due now. */
  async function trigger(type: string, resource = 'latest', override?: Override) {
    requireWebhook()
    const made = store.change(() =>
      publish(type, resourceIdOf(store, kindOf(type), resource), override, true),
    )
    return sendDue(made.map(({ delivery_id }) => delivery_id))
  }

  /** Sends a delivery again, immediately. The body of a recorded event is made from the present state of the resource. */
  async function redeliver(id: string): Promise<DeliveryRow> {
    requireWebhook()
    const old = recorded.find(id)
    if (old) return (await trigger(old.event, old.resource_id))[0]!
    const row = queue.get(id)
    if (!attempts.of(id)) store.change(() => queue.expedite(row))
    return (await sendDue([id]))[0]!
  }

  return {
    publish,
    causedBy,
    trigger,
    redeliver,
    /** Handles a cancelled timer: its delivery ends as `cancelled`, and the next event can be sent. */
    handleCancelled({ kind, resource_id }: TimerRow) {
      const row = kind === WEBHOOK_ATTEMPT ? queue.find(resource_id!) : undefined
      if (row?.status === 'pending') store.change(() => queue.finish(row, 'cancelled'))
    },
    get: (id: string) => queue.get(id),
    eventOf: (row: DeliveryRow) => queue.eventOf(row),
    all: () => store.tables.deliveries.rows(),
    /** Events that were not sent by themselves, oldest first. */
    recorded: recorded.all,
    recover: () => queue.recover(),
    clear: () => queue.clear(),
    /** Resets the state in memory after the rows were replaced or removed. */
    forget() {
      recorded.clear()
      queue.forget()
      attempts.forget()
    },
    stop: attempts.stop,
  }
}
