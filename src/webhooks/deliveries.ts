import type { Scenarios } from '../active-scenario/scenarios.ts'
import { webhookDelivery } from '../assumptions/webhooks.ts'
import type { DeliveryRow, TimerRow } from '../model/delivery.ts'
import { SandboxError } from '../model/errors.ts'
import { kindOf, resourceIdOf } from '../tables/resources.ts'
import type { WorldContext } from '../tables/world-context.ts'
import { createCommitOrder } from '../time/runner.ts'
import { DeliveryQueue, type DeliveryQueueDeps, WEBHOOK_ATTEMPT } from './delivery-queue.ts'
import type { Override, WebhookEvents } from './events.ts'
import { createRunningAttempts, type RunningAttemptsDeps } from './running-attempts.ts'

// These events are only sent on request (defaults: Webhook).
const ON_REQUEST: ReadonlySet<string> = new Set(['user.created', 'webhook.test'])
const MAX_RECORDED = 1_000
const NO_DELAY = { minMs: 0, maxMs: 0 }

export type DeliveriesDeps = WorldContext &
  DeliveryQueueDeps &
  Omit<RunningAttemptsDeps, 'queue'> & {
    scenarios: Scenarios
    webhookEvents: WebhookEvents
  }

/** An event that was not sent by itself, such as one from before the webhook existed: it has no body. `at` is the client's time, ms. */
export type RecordedEvent = { delivery_id: string; event: string; resource_id: string; at: number }

/** Deliveries of events to the client's webhook: the scenario decides about each, attempts run on the client's clock. */
export function createDeliveries(deps: DeliveriesDeps) {
  const { store, clock, scheduler, events, assumed, webhooks, scenarios, webhookEvents } = deps
  const queue = new DeliveryQueue(deps)
  const attempts = createRunningAttempts({ ...deps, queue })
  // The newest events that were not sent by themselves, in memory, oldest first. They are sent only on request.
  let recorded: RecordedEvent[] = []
  let recordedCount = 0

  /** Creates an event and its deliveries, inside the open change. */
  function publish(
    type: string,
    resource_id: string,
    override?: Override,
    skipsOrder = false,
  ): DeliveryRow[] {
    const { event_id, created_at, body, data } = webhookEvents.create(type, resource_id, override)
    const decision = scenarios.decideWebhook(webhookEvents.callOf(type, resource_id, data))
    const outcome = decision?.outcome ?? {}
    const delays = (!outcome.drop && outcome.copies) || [NO_DELAY]
    const made = { event_id, type, resource_id, created_at, body, copies: delays.length }
    const event = store.put('events', made).row
    const rule = decision && `${decision.scenario}: ${decision.rule}`
    return delays.map((delay, i) =>
      queue.add(event, { copy: i + 1, delay }, outcome, rule, skipsOrder),
    )
  }

  events.on(({ type, resourceId: resource_id, asked }) => {
    if (!asked && ON_REQUEST.has(type)) return
    if (webhooks.current() && assumed.get(webhookDelivery) !== 'never') {
      publish(type, resource_id)
      return
    }
    const at = clock.now()
    store.unit.afterCommit(() => {
      recorded.push({ delivery_id: `rec_${++recordedCount}`, event: type, resource_id, at })
      if (recorded.length > MAX_RECORDED) recorded.shift()
    })
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

  /** Makes the attempts that are due, even on a frozen clock, and waits for their results. */
  async function sendDue(ids: readonly string[]): Promise<DeliveryRow[]> {
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
    const old = recorded.find(({ delivery_id }) => delivery_id === id)
    if (old) return (await trigger(old.event, old.resource_id))[0]!
    const row = queue.get(id)
    if (!attempts.of(id)) store.change(() => queue.expedite(row))
    return (await sendDue([id]))[0]!
  }

  return {
    publish,
    trigger,
    redeliver,
    /** Handles a cancelled timer: its delivery ends as `cancelled`, and the next event can be sent. */
    handleCancelled({ kind, resource_id }: TimerRow) {
      const row = kind === WEBHOOK_ATTEMPT ? queue.find(resource_id!) : undefined
      if (row?.status === 'pending') store.change(() => queue.finish(row, 'cancelled'))
    },
    get: (id: string) => queue.get(id),
    /** The stored event of a delivery. */
    eventOf: (row: DeliveryRow) => queue.eventOf(row),
    /** All deliveries in order of creation. */
    all: () => store.tables.deliveries.rows(),
    /** Events that were not sent by themselves, oldest first. */
    recorded: () => recorded,
    recover: () => queue.recover(),
    clear: () => queue.clear(),
    /** Resets the state in memory after the rows were replaced or removed. */
    forget() {
      recorded = []
      recordedCount = 0
      queue.forget()
      attempts.forget()
    },
    stop: attempts.stop,
  }
}
