import { isRejected } from '../model/delivery-result.ts'
import { sentText } from './deliveries.ts'
import { remoteCommand } from './remote.ts'
import { parseJsonObject } from './values.ts'

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
        const body = {
          event,
          resource_id: resource,
          ...(override !== undefined && {
            override: parseJsonObject('--override', String(override)),
          }),
        }
        const response = await api('triggerWebhook', { body })
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
