import { assumption } from './assumption.ts'

/** What a webhook is signed over, if it is signed. */
export type SignatureScheme = 'message' | 'body' | 'none'

/** How a webhook is signed with the `webhook_secret`. */
export const webhookSignature = assumption<SignatureScheme>({
  name: 'webhook_signature',
  section: '6',
  concerns: ['webhooks'],
  question: 'How is a webhook signed with the `webhook_secret`?',
  basis: 'guessed',
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
