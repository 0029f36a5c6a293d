import { isRejected } from '../model/delivery-result.ts'
import { type Delivery, sentText } from './deliveries.ts'
import { remoteCommand } from './remote.ts'
import { parseJsonObject } from './values.ts'

type TriggeredEvent = { event_id: string; deliveries: Delivery[] }

export const trigger = remoteCommand({
  name: 'trigger',
  summary: 'send a webhook event now, signed and logged like any other',
  subcommands: {
    '': {
      syntax: 'EVENT',
      description: 'send an event such as transaction.success; exit 1 if the receiver rejects it',
      flags: {
        resource: ['ID', 'resource of the event (default: the newest one of its kind)'],
        override: ['JSON', 'object of fields that replace fields of the event’s data'],
      },
      async run(api, [event], { resource, override }) {
        const response: TriggeredEvent = await api('POST', '/webhooks/trigger', {
          event,
          ...(resource !== undefined && { resource_id: resource }),
          ...(override !== undefined && {
            override: parseJsonObject('--override', String(override)),
          }),
        })
        const text = response.deliveries.map(sentText).join('')
        return { response, text, failed: response.deliveries.some(isRejected) }
      },
    },
  },
  examples: [
    'trigger webhook.test',
    'trigger transaction.success --resource a0000000-0000-4000-8000-000000000001',
    'trigger transaction.failed --override \'{"utr": null}\'',
  ],
})
