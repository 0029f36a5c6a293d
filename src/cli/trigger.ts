import { isRejected } from '../model/delivery-result.ts'
import { type Delivery, sentText } from './deliveries.ts'
import { remoteCommand } from './remote.ts'
import { jsonObject } from './values.ts'

type Triggered = { event_id: string; deliveries: Delivery[] }

export const trigger = remoteCommand({
  name: 'trigger',
  summary: 'send a webhook event now, signed and logged like any other',
  verbs: {
    '': {
      takes: 'EVENT',
      does: 'fire an event such as transaction.success; exit 1 if the receiver refuses it',
      flags: {
        resource: ['ID', 'the resource that it is about; the newest of its kind unless told'],
        override: ['JSON', 'fields of the event’s data to send in place of the real ones'],
      },
      async run(api, [event], { resource, override }) {
        const answer: Triggered = await api('POST', '/webhooks/trigger', {
          event,
          ...(resource !== undefined && { resource_id: resource }),
          ...(override !== undefined && { override: jsonObject('--override', String(override)) }),
        })
        const text = answer.deliveries.map(sentText).join('')
        return { answer, text, failed: answer.deliveries.some(isRejected) }
      },
    },
  },
  examples: [
    'trigger webhook.test',
    'trigger transaction.success --resource a0000000-0000-4000-8000-000000000001',
    'trigger transaction.failed --override \'{"utr": null}\'',
  ],
})
