import type { ResponseBody } from '../admin/contract.ts'
import { BadOption } from '../config/options.ts'
import { isRejected, lastResult, nextAttempt, sentStatus } from '../model/feed-kinds.ts'
import { parseJsonObject } from './command.ts'
import { oneLine, table } from './output.ts'
import { remoteCommand, shown } from './remote.ts'

type Delivery = ResponseBody<'listDeliveries'>['deliveries'][number]

const deliveryTable = (deliveries: readonly Delivery[]): string =>
  table(
    ['created', 'delivery', 'event', 'resource', 'status', 'attempts', 'last response'],
    deliveries.map((one) => [
      one.created_at,
      one.delivery_id,
      one.event,
      one.resource_id,
      one.status,
      one.attempts.length,
      lastResult(one),
    ]),
    'no deliveries',
  )

/** Describes a delivery that was just sent, and its next attempt if there is one. */
function sentText(delivery: Delivery): string {
  const next = nextAttempt(delivery)
  return (
    `${oneLine(`${delivery.event} for ${delivery.resource_id}: ${sentStatus(delivery)}`)}\n` +
    (next === undefined ? '' : `${next}\n`)
  )
}

export const deliveries = remoteCommand({
  name: 'deliveries',
  summary: 'list the webhook deliveries of a running sandbox, or resend one',
  subcommands: {
    '': {
      syntax: '',
      description: 'list deliveries, newest first; --redeliver resends one',
      flags: {
        redeliver: ['ID', 'resend this delivery now'],
        status: [
          'STATUS',
          'filter by status: pending, delivered, failed, dropped, cancelled or recorded',
        ],
        event: ['EVENT', 'filter by event'],
        resource: ['ID', 'filter by resource'],
        limit: ['N', 'maximum number of results (default: 50)'],
      },
      async run(api, _args, { redeliver, status, event, resource, limit }) {
        const filter = { status, event, resource_id: resource, limit }
        if (redeliver !== undefined) {
          if (Object.values(filter).some((value) => value !== undefined))
            throw new BadOption(
              'deliveries --redeliver excludes --status, --event, --resource and --limit: its ID selects the delivery',
            )
          const params = { id: String(redeliver) }
          return shown(api('redeliver', { params }), sentText, isRejected)
        }
        return shown(api('listDeliveries', { query: filter }), ({ total, deliveries }) => {
          const hidden = total - deliveries.length
          const more = hidden > 0 ? `… and ${hidden} more; --limit shows more\n` : ''
          return deliveryTable(deliveries) + more
        })
      },
    },
  },
  examples: [
    'deliveries',
    'deliveries --status failed --json',
    'deliveries --redeliver dlv_0a3e5b61acc8458a9a476e39c59787c8',
  ],
})

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
        return shown(
          api('triggerWebhook', { body }),
          ({ deliveries }) => deliveries.map(sentText).join(''),
          ({ deliveries }) => deliveries.some(isRejected),
        )
      },
    },
  },
  examples: [
    'trigger webhook.test',
    'trigger transaction.success --resource a0000000-0000-4000-8000-000000000001',
    'trigger transaction.failed --override \'{"utr": null}\'',
  ],
})
