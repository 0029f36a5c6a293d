import type { Payouts } from '../payouts/payouts.ts'
import type { WorldContext } from '../tables/world-context.ts'
import { createAttemptSender, RETRY_PLANS } from '../webhooks/attempt.ts'
import { createDeliveries } from '../webhooks/deliveries.ts'
import { createWebhookEvents } from '../webhooks/events.ts'
import { createInbox } from '../webhooks/inbox.ts'
import { createWebhooks } from '../webhooks/webhooks.ts'
import type { Feed } from './feed.ts'
import type { WorldDeps } from './world-deps.ts'
import type { WorldScenarios } from './world-scenarios.ts'

/** The webhook of a client: what is sent, by itself or on request, and what its inbox receives. */
export function createWorldWebhooks(
  context: WorldContext,
  { shared: { runtime, webhookSettings, webhookWarning }, log }: WorldDeps,
  { scenarios, payouts, feed }: { scenarios: WorldScenarios; payouts: Payouts; feed: Feed },
) {
  const { name } = context.store
  const webhooks = createWebhooks(context, (url) => {
    const warning = webhookWarning(url)
    if (warning !== undefined) log.warn(`The webhook of client "${name}": ${warning}.`)
  })
  const sender = createAttemptSender({
    clock: context.clock,
    assumed: context.assumed,
    runtime,
    settings: webhookSettings,
    sendToInbox: (request) => inbox.send(request),
  })
  const { trigger, redeliver, ...deliveries } = createDeliveries({
    ...context,
    webhooks,
    scenarios,
    webhookEvents: createWebhookEvents({ ...context, views: payouts.views }),
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
