import type { Scenarios } from '../active-scenario/world-scenarios.ts'
import { webhookDelivery } from '../assumptions/webhook-delivery.ts'
import type { DeliveryRow } from '../model/delivery.ts'
import type { SandboxStore } from '../tables/tables.ts'
import type { WorldContext } from '../tables/world-context.ts'
import type { TimerRow } from '../time/scheduler.ts'
import { DeliveryAttempts, type DeliveryAttemptsDeps } from './delivery-attempt.ts'
import { DeliveryQueue, type DeliveryQueueDeps, WEBHOOK_ATTEMPT } from './delivery-queue.ts'
import { createManualDelivery } from './manual-delivery.ts'
import { createRecordedEvents } from './recorded-events.ts'
import type { Override, WebhookEvents } from './webhook-events.ts'

// These events are only sent on request (defaults: Webhook).
const ON_REQUEST: ReadonlySet<string> = new Set(['user.created', 'webhook.test'])

export type DeliveriesDeps = WorldContext &
  DeliveryQueueDeps &
  Omit<DeliveryAttemptsDeps, 'queue'> & {
    scenarios: Scenarios
    webhookEvents: WebhookEvents
    storeHooks: Pick<SandboxStore, 'afterCommit' | 'batch' | 'onDurable'>
  }

/** Deliveries of events to the client's webhook: the scenario decides about each, attempts run on the client's clock. */
export function createDeliveries(deps: DeliveriesDeps) {
  const { store, clock, scheduler, events, assumed, webhooks, scenarios, webhookEvents } = deps
  const { afterCommit } = deps.storeHooks
  const recorded = createRecordedEvents()
  const queue = new DeliveryQueue(deps)
  const attempts = new DeliveryAttempts({ ...deps, queue })

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
    const copies = outcome.drop ? 1 : (outcome.copies ?? 1)
    const made = { event_id, type, resource_id, created_at, body, copies }
    const event = store.insert('events', made).row
    const rule = decision && `${decision.scenario}: ${decision.rule}`
    return Array.from({ length: copies }, (_, i) =>
      queue.add(event, i + 1, outcome, rule, skipsOrder),
    )
  }

  events.on(({ type, resourceId, asked }) => {
    if (!asked && ON_REQUEST.has(type)) return
    if (webhooks.current() && assumed.get(webhookDelivery).sendsByItself) {
      publish(type, resourceId)
      return
    }
    // Most clients have no webhook: this path must cost a payment almost nothing.
    const at = clock.now()
    afterCommit(() => recorded.add({ event: type, resource_id: resourceId, at }))
  })

  scheduler.handle(WEBHOOK_ATTEMPT, (timer, order) => attempts.start(timer, order), {
    parallel: true,
  })

  return {
    publish,
    ...createManualDelivery({ ...deps, queue, attempts, recorded, publish }),
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
    recorded: recorded.all,
    recover: () => queue.recover(),
    clear: () => queue.clear(),
    /** Resets the state in memory after the rows were replaced or removed. */
    forget() {
      recorded.clear()
      queue.forget()
      attempts.forget()
    },
    stop: () => attempts.stop(),
  }
}
