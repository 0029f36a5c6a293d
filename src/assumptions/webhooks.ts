import { assumption, choice } from './assumption.ts'

export const secondWebhook = choice({
  name: 'second_webhook',
  section: '4.7',
  concerns: ['createWebhook'],
  question: 'What does a second POST /clientWebhook do?',
  basis: 'guess',
  why: 'The call fails.',
  readings: {
    conflict: '409 `webhook_exists`',
    replaced: 'it replaces URL and secret, and keeps the `webhook_id`',
  },
})

export const missingWebhook = choice({
  name: 'missing_webhook',
  section: '4.7',
  concerns: ['getWebhook'],
  question: 'What does GET /clientWebhook return without a webhook?',
  basis: 'guess',
  why: 'Reading `data.url` breaks under `null`.',
  readings: { not_found: '404 `not_found`', null: '200 with `data` null' },
})

export const webhookDelivery = choice({
  name: 'webhook_delivery',
  section: '6',
  concerns: ['webhooks'],
  question: 'How often is an event sent?',
  basis: 'convention',
  why: "Code that doesn't poll misses statuses.",
  readings: {
    at_least_once: 'until it is accepted or `--webhook-retries` ends',
    at_most_once: 'once, even if the attempt fails',
    never: 'never; poll instead. `trigger`, `redeliver` and scheduled attempts still send',
  },
})

export const webhookOrder = choice({
  name: 'webhook_order',
  section: '6',
  concerns: ['webhooks'],
  question: 'Does a failed event hold back later ones?',
  basis: 'convention',
  why: 'A handler that lets the last event win loses a status.',
  readings: {
    independent: 'no, its retry arrives after them',
    per_resource: 'yes, until it is delivered or has no attempt left',
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
  readings: {
    standard: { does: 'Standard Webhooks headers and `x-webhook-signature`', value: 'message' },
    hex_body: { does: 'only `x-webhook-signature`, without id and time', value: 'body' },
    none: { does: 'not at all, without id and time', value: 'none' },
  },
})

export const webhookBody = choice({
  name: 'webhook_body',
  section: '6',
  concerns: ['webhooks'],
  question: "What's in the body of a webhook?",
  basis: 'guess',
  why: "The first live event can't be parsed.",
  readings: {
    envelope: '`id`, `type`, `timestamp`, `client_id`, and the resource in `data`',
    resource: 'the resource; its type is in the header `x-webhook-event`',
  },
})
