import { assumption } from './assumption.ts'

export const secondWebhook = assumption<boolean>({
  name: 'second_webhook',
  section: '4.7',
  concerns: ['createWebhook'],
  question: 'What does a second POST /clientWebhook do?',
  basis: 'guess',
  why: 'The call fails.',
  default: 'conflict',
  readings: {
    conflict: { does: '409 `webhook_exists`', value: false },
    replaced: {
      does: 'it replaces URL and secret, and keeps the `webhook_id`',
      value: true,
    },
  },
})

export const missingWebhook = assumption<{ isNull: boolean }>({
  name: 'missing_webhook',
  section: '4.7',
  concerns: ['getWebhook'],
  question: 'What does GET /clientWebhook return without a webhook?',
  basis: 'guess',
  why: 'Reading `data.url` breaks under `null`.',
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
  question: 'How often is an event sent?',
  basis: 'convention',
  why: "Code that doesn't poll misses statuses.",
  default: 'at_least_once',
  readings: {
    at_least_once: {
      does: 'until it is accepted or `--webhook-retries` ends',
      value: { sendsByItself: true, retries: true },
    },
    at_most_once: {
      does: 'once, even if the attempt fails',
      value: { sendsByItself: true, retries: false },
    },
    never: {
      does: 'never; poll instead. `trigger`, `redeliver` and scheduled attempts still send',
      value: { sendsByItself: false, retries: false },
    },
  },
})

export const webhookOrder = assumption<boolean>({
  name: 'webhook_order',
  section: '6',
  concerns: ['webhooks'],
  question: 'Does a failed event hold back later ones of its resource?',
  basis: 'convention',
  why: 'A handler that lets the last event win silently loses a status.',
  default: 'independent',
  readings: {
    independent: {
      does: 'no, its retry arrives after them',
      value: false,
    },
    per_resource: {
      does: 'yes, until it is delivered or has no attempt left',
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
  question: 'How is a webhook signed?',
  basis: 'guess',
  why: 'The first live event fails verification.',
  default: 'standard',
  readings: {
    standard: {
      does: 'Standard Webhooks headers and `x-webhook-signature`',
      value: 'message',
    },
    hex_body: {
      does: 'only `x-webhook-signature`; no header has an id or time',
      value: 'body',
    },
    none: { does: 'not at all; no id or time either', value: 'none' },
  },
})

export const webhookBody = assumption<{ isResource: boolean }>({
  name: 'webhook_body',
  section: '6',
  concerns: ['webhooks'],
  question: "What's in the body of a webhook?",
  basis: 'guess',
  why: "The first live event can't be parsed.",
  default: 'envelope',
  readings: {
    envelope: {
      does: '`id`, `type`, `timestamp`, `client_id`, and the resource in `data`',
      value: { isResource: false },
    },
    resource: {
      does: 'the resource; its type is in the header `x-webhook-event`',
      value: { isResource: true },
    },
  },
})
