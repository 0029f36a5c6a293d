import { assumption } from './assumption.ts'

/** Whether events are sent without a request, and whether a failed attempt is repeated. */
export type WebhookDelivery = { sendsByItself: boolean; retries: boolean }

/** How often an event is sent to the webhook. */
export const webhookDelivery = assumption<WebhookDelivery>({
  name: 'webhook_delivery',
  section: '6',
  concerns: ['webhooks'],
  question: 'How often is an event sent to the webhook?',
  basis: 'custom',
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
