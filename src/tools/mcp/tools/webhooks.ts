// The tools for webhooks: to send one, and to see what was sent and received.
import * as z from 'zod'
import { nextAttempt, sentStatus } from '../../../model/feed-kinds.ts'
import { countOf } from '../../../model/words.ts'
import { EVENTS } from '../../../scenarios/operations-and-events.ts'
import {
  AnyFields,
  defineTool,
  linesOf,
  listText,
  Name,
  OptionalText,
  shortJson,
  ToolError,
} from '../tool.ts'

const sendWebhook = defineTool('send_webhook', {
  title: 'Send a webhook',
  description: 'Sends an event now, or sends an earlier delivery again, to the registered webhook.',
  input: z.strictObject({
    event: z.enum(EVENTS).optional(),
    resource_id: OptionalText('Default: the newest one of its kind.'),
    override: AnyFields.optional().describe('Fields that replace fields of the event.'),
    delivery_id: Name.optional().meta({ description: 'Send this delivery again.' }),
  }),
  async run({ event, resource_id, override, delivery_id: id }, { admin }) {
    if ((event === undefined) === (id === undefined))
      throw new ToolError(
        `send_webhook takes exactly one of event and delivery_id; found ${event === undefined ? 'none' : 'both'}.`,
        'call it again, for example with {"event": "webhook.test"}.',
      )
    const sent =
      id === undefined
        ? (await admin('triggerWebhook', { body: { event, resource_id, override } })).deliveries
        : [await admin('redeliver', { params: { id } })]
    return {
      text: listText('Sent', sent, (one) => {
        const next = nextAttempt(one)
        return `${one.delivery_id} ${one.event} for ${one.resource_id}: ${sentStatus(one)}${next ? `; ${next}` : ''}`
      }),
      next: 'if the receiver rejected it, correct your handler and call send_webhook with this delivery_id.',
    }
  },
})

const readWebhooks = defineTool('read_webhooks', {
  title: 'Read webhooks',
  description:
    'Lists the deliveries with the response of your receiver, and what the built-in inbox received.',
  readOnly: true,
  input: z.strictObject({
    resource_id: OptionalText('Only events of this resource.'),
    limit: z.int().min(1).max(50).default(10),
  }),
  async run({ resource_id, limit }, { admin, url }) {
    const [deliveries, inbox, { webhook_url }] = await Promise.all([
      admin('listDeliveries', { query: { limit, resource_id } }),
      admin('listInbox', { query: { limit } }),
      admin('readClient'),
    ])
    return {
      text: linesOf(
        `Webhook: ${webhook_url ?? 'none'}`,
        listText(
          'Deliveries',
          deliveries.deliveries,
          (one) =>
            `${one.delivery_id} ${one.event} ${one.resource_id}: ${sentStatus(one)}, ${countOf(one.attempts.length, 'attempt')}`,
          deliveries,
        ),
        listText(
          'Inbox',
          inbox.messages,
          ({ type, verified, reason, body }) =>
            `${type ?? 'unknown'}: ${verified ? 'signature verified' : `not verified (${reason})`} ${shortJson(body, 200)}`,
          inbox,
        ),
      ),
      next:
        webhook_url === null
          ? `register one: call_service POST /v1/clientWebhook with url (your handler, or ${url}/__admin/webhooks/inbox for the built-in inbox) and webhook_secret.`
          : 'send_webhook with a delivery_id sends one again.',
    }
  },
})

export const webhookTools = [sendWebhook, readWebhooks]
