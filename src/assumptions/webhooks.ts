import { assumption } from './assumption.ts'

export const secondWebhook = assumption<boolean>({
  name: 'second_webhook',
  section: '4.7',
  concerns: ['createWebhook'],
  question: 'What does POST /clientWebhook do if the client has a webhook?',
  basis: 'guess',
  why: 'The contract has a PUT to change it, so a second POST is probably a bug. An error shows it on the first try.',
  default: 'conflict',
  readings: {
    conflict: { does: 'the response is 409 `webhook_exists`', value: false },
    replaced: {
      does: 'the webhook gets the new `url` and secret and keeps its `webhook_id`',
      value: true,
    },
  },
})

export const missingWebhook = assumption<{ isNull: boolean }>({
  name: 'missing_webhook',
  section: '4.7',
  concerns: ['getWebhook'],
  question: 'What does GET /clientWebhook return if the client has no webhook?',
  basis: 'guess',
  why: 'A 404 is loud. Code that reads `data.url` without a look at `data` breaks under `null`.',
  default: 'not_found',
  readings: {
    not_found: { does: '404 `not_found`', value: { isNull: false } },
    null: { does: '200 with `data` null', value: { isNull: true } },
  },
})

/** Whether events are sent without a request, and whether a failed attempt is repeated. */
export type WebhookDelivery = { sendsByItself: boolean; retries: boolean }

export const webhookDelivery = assumption<WebhookDelivery>({
  name: 'webhook_delivery',
  section: '6',
  concerns: ['webhooks'],
  question: 'How often is an event sent to the webhook?',
  basis: 'convention',
  why: 'Razorpay, Cashfree, Stripe and most other payment services retry. A handler then meets repeated events here first.',
  default: 'at_least_once',
  readings: {
    at_least_once: {
      does: 'until the receiver accepts it, or no attempt of `--webhook-retries` is left',
      value: { sendsByItself: true, retries: true },
    },
    at_most_once: {
      does: 'one attempt; if it fails, the event is lost. A restart does not repeat an attempt whose result it does not know',
      value: { sendsByItself: true, retries: false },
    },
    never: {
      does: 'the event is only recorded: polling must find the new status. An attempt that is already scheduled is still sent, and `trigger` and `redeliver` send once',
      value: { sendsByItself: false, retries: false },
    },
  },
})

export const webhookOrder = assumption<boolean>({
  name: 'webhook_order',
  section: '6',
  concerns: ['webhooks'],
  question: 'Does an event whose attempt failed hold back the later events of its resource?',
  basis: 'convention',
  why: 'Stripe and Svix promise no order either. A handler that lets the last event win loses a status, and nothing shows it.',
  default: 'independent',
  readings: {
    independent: {
      does: 'no. First attempts are in order, each after the result of the one before; the retry of a failed event arrives after later events',
      value: false,
    },
    per_resource: {
      does: 'yes, until it is delivered or has no attempt left; other resources do not wait',
      value: true,
    },
  },
})

/** What a webhook is signed over, if it is signed. */
export type SignatureScheme = 'message' | 'body' | 'none'

export const webhookSignature = assumption<SignatureScheme>({
  name: 'webhook_signature',
  section: '6',
  concerns: ['webhooks'],
  question: 'How is a webhook signed with the `webhook_secret`?',
  basis: 'guess',
  why: 'Public libraries verify Standard Webhooks. Another scheme fails at the first live event, which is loud.',
  default: 'standard',
  readings: {
    standard: {
      does: 'the headers of Standard Webhooks (`webhook-id`, `webhook-timestamp`, `webhook-signature`), and `x-webhook-signature` with the hex HMAC-SHA256 of the body',
      value: 'message',
    },
    hex_body: {
      does: 'only `x-webhook-signature` with the hex HMAC-SHA256 of the body, as Razorpay and other Indian providers do: no header has an id or a time, the id is in the body',
      value: 'body',
    },
    none: { does: 'no header has an id, a time or a signature', value: 'none' },
  },
})

export const webhookBody = assumption<{ isResource: boolean }>({
  name: 'webhook_body',
  section: '6',
  concerns: ['webhooks'],
  question: 'What is in the body of a webhook?',
  basis: 'guess',
  why: 'The contract shows no webhook. Another body fails at the first live event, which is loud.',
  default: 'envelope',
  readings: {
    envelope: {
      does: 'an object with `id`, `type`, `timestamp`, `client_id`, and the resource in `data`',
      value: { isResource: false },
    },
    resource: {
      does: 'the resource alone; the type of the event is in the header `x-webhook-event`',
      value: { isResource: true },
    },
  },
})
