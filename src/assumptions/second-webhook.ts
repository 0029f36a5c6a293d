import { assumption } from './assumption.ts'

/** Whether POST /clientWebhook replaces the webhook that the client has. */
export const secondWebhook = assumption<boolean>({
  name: 'second_webhook',
  section: '4.7',
  concerns: ['createWebhook'],
  question: 'What does POST /clientWebhook do if the client has a webhook?',
  basis: 'guessed',
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
