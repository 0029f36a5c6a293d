import { assumption } from './assumption.ts'

/** Whether an event that fails holds back the later events of its resource. */
export const webhookOrder = assumption<boolean>({
  name: 'webhook_order',
  section: '6',
  concerns: ['webhooks'],
  question: 'Does an event whose attempt failed hold back the later events of its resource?',
  basis: 'custom',
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
