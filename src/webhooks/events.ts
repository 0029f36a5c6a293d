import { newWords } from '../assumptions/responses.ts'
import { webhookBody } from '../assumptions/webhooks.ts'
import { SandboxError } from '../model/errors.ts'
import { isObject } from '../model/formats.ts'
import { quoteInput } from '../model/mask.ts'
import { canTransition, type LifecycleKind } from '../model/payment.ts'
import type { Views } from '../payouts/views.ts'
import type { RuleEvent } from '../scenarios/match.ts'
import { EVENTS, type EventName } from '../scenarios/operations-and-events.ts'
import type { SandboxTables } from '../tables/tables.ts'
import { entryIn, kindOf, newIdIn, type WorldContext } from '../tables/world-context.ts'

/** Values that replace those of a resource: the `override` of a trigger. */
export type Override = Readonly<Record<string, unknown>>

/** `data` with the values of `override`; objects are merged recursively. */
function merged(data: Record<string, unknown>, override: Override): Record<string, unknown> {
  const result = { ...data }
  for (const [name, value] of Object.entries(override)) {
    const old = Object.hasOwn(data, name) ? data[name] : undefined
    result[name] = isObject(value) && isObject(old) ? merged(old, value) : value
  }
  return result
}

/** Whether the body of an event is the resource alone, as `webhook_body=resource` has it: an envelope begins with its id. */
export const isBare = ({ event_id, body }: { event_id: string; body: string }): boolean =>
  !body.startsWith(`{"id":"${event_id}"`)

/** Creates the bodies of events: the resource as its GET shows it, in bytes that never change (defaults: Webhook). */
export function createWebhookEvents({ store, clock, random, assumed }: WorldContext, views: Views) {
  const { payments, kyc, bank_accounts, users, webhook, events } = store.tables

  function dataOf(type: string, id: string): object {
    switch (kindOf(type)) {
      case 'transaction':
        return views.payment(entryIn(payments, 'transaction', id))
      case 'kyc':
        return views.kyc(entryIn(kyc, 'KYC record', id))
      case 'bank':
        return views.bankAccount(entryIn(bank_accounts, 'bank account', id))
      case 'user':
        return views.user(entryIn(users, 'user', id))
      case 'webhook': {
        const { webhook_id, url } = entryIn(webhook, 'webhook', id).row
        return { webhook_id, client_id: views.clientId(), url }
      }
      default:
        throw new SandboxError('not_found', `There is no event ${quoteInput(type)}.`)
    }
  }

  return {
    /** Creates an event about the present state of a resource; throws `not_found` if it does not exist. */
    create(type: string, resource_id: string, override?: Override) {
      const resource = dataOf(type, resource_id)
      const data = override ? merged({ ...resource }, override) : resource
      const event_id = newIdIn(events, () => `evt_${random.uuid().replaceAll('-', '')}`)
      const created_at = clock.iso()
      const shown = assumed.get(newWords)(data)
      const envelope = { id: event_id, type, timestamp: created_at, client_id: views.clientId() }
      return {
        event_id,
        type,
        resource_id,
        created_at,
        data: JSON.stringify(data),
        body: JSON.stringify(
          assumed.get(webhookBody) === 'resource' ? shown : { ...envelope, data: shown },
        ),
      }
    },
    traceOf: (resource_id: string) => events.newest('resource', resource_id)?.row.traceparent,
    /** The event as webhook rules read it; data, user and account are looked up only when a rule needs them. */
    callOf(type: string, id: string, data: string): RuleEvent {
      const kind = kindOf(type)
      return {
        event: type as EventName,
        get data() {
          return JSON.parse(data)
        },
        get user() {
          if (kind === 'user') return users.get(id)
          const owner =
            payments.get(id)?.from_user_id ?? kyc.get(id)?.user_id ?? bank_accounts.get(id)?.user_id
          return owner === undefined ? undefined : users.get(owner)
        },
        get account() {
          return bank_accounts.get(kind === 'bank' ? id : (payments.get(id)?.benif_bank_id ?? ''))
        },
      }
    },
  }
}

export type WebhookEvents = ReturnType<typeof createWebhookEvents>

/** Whether an event can still happen to a resource, automatically or on request. */
export function isReachable(
  event: string,
  resource_id: string,
  tables: SandboxTables['tables'],
): boolean {
  if (event === 'next')
    return EVENTS.some((one) => one !== 'webhook.test' && isReachable(one, resource_id, tables))
  const { payments, kyc, bank_accounts, timers } = tables
  const kind = kindOf(event)
  const to = event.slice(event.indexOf('.') + 1)
  const scheduled = () =>
    timers
      .rows()
      .some((timer) => timer.resource_id === resource_id && timer.kind === `${kind}.step`)
  /** What has ended changes only by a scheduled step. */
  const leads = (of: LifecycleKind, from: string | undefined, word: string) =>
    from !== undefined &&
    canTransition(of, from, word, true) &&
    (/^(?:pending|processing)$/i.test(from) || scheduled())
  switch (kind) {
    case 'transaction':
      return leads(kind, payments.get(resource_id)?.status, to.toUpperCase())
    case 'kyc':
      return leads(kind, kyc.get(resource_id)?.kyc_status, to)
    case 'bank':
      return leads(kind, bank_accounts.get(resource_id)?.bank_status, to)
    default:
      return false
  }
}
