import type { DeliveryRow } from '../model/delivery.ts'
import { SandboxError } from '../model/errors.ts'
import { kindOf, resourceIdOf } from '../tables/resource-ids.ts'
import type { WorldContext } from '../tables/world-context.ts'
import { createCommitOrder } from '../time/scheduler.ts'
import type { DeliveryAttempts } from './delivery-attempt.ts'
import type { DeliveryQueue } from './delivery-queue.ts'
import type { RecordedEvents } from './recorded-events.ts'
import type { Override } from './webhook-events.ts'
import type { Webhooks } from './webhooks.ts'

/** Sends events on request: new ones, and earlier ones again. */
export function createManualDelivery({
  store,
  clock,
  scheduler,
  webhooks,
  queue,
  attempts,
  recorded,
  publish,
}: Pick<WorldContext, 'store' | 'clock' | 'scheduler'> & {
  webhooks: Webhooks
  queue: DeliveryQueue
  attempts: DeliveryAttempts
  recorded: RecordedEvents
  publish: (
    type: string,
    resource_id: string,
    override: Override | undefined,
    skipsOrder: boolean,
  ) => DeliveryRow[]
}) {
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
      ...ids.flatMap((id) => attempts.running(id) ?? []),
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
    const old = recorded.find(id)
    if (old) return (await trigger(old.event, old.resource_id))[0]!
    const row = queue.get(id)
    if (!attempts.running(id)) store.change(() => queue.expedite(row))
    return (await sendDue([id]))[0]!
  }

  return { trigger, redeliver }
}
