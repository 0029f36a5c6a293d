import type { ResponseBody } from '../admin/contract.ts'
import { BadOption } from '../config/options.ts'
import { isRejected, lastResult, nextAttempt, sentStatus } from '../model/feed-kinds.ts'
import { countOf } from '../model/words.ts'
import { type Report, reportOfOne } from '../tools/report/report.ts'
import { numberFlag, parseJsonObject } from './command.ts'
import { oneLine, openReport, REPORT_FLAG, table } from './output.ts'
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

type Exploration = ResponseBody<'exploreWebhooks'>
type Replay = Exploration['in_order']

const MAX_ORDERS = 10_000

const line = (name: string, value: unknown) => `  ${name.padEnd(12)} ${oneLine(value)}\n`
const replayText = ({ sequence, state }: Replay) =>
  line('events', sequence.join(', ')) + line('state', JSON.stringify(state))

/** The result in one line. */
function resultText({ orders_tried: tried, found }: Exploration): string {
  const result = found
    ? 'this order ends in another state than the right order'
    : 'all end in the same state as the right order'
  return `${countOf(tried, 'order')} tried; ${result}`
}

function explorationText(exploration: Exploration): string {
  const { in_order, found, ignored } = exploration
  const result = `${resultText(exploration)}\n`
  const ignoredLine = ignored.length > 0 ? line('not compared', ignored.join(', ')) : ''
  if (!found) return result + ignoredLine
  return [
    result,
    replayText(found),
    line('rejected', found.rejected),
    line('differs at', found.differs_at.join(', ')),
    'the right order\n',
    replayText(in_order),
    ignoredLine,
  ].join('')
}

/** The exploration as one test. */
function exploreReport(transaction: string, ms: number, exploration: Exploration): Report {
  const { found } = exploration
  return reportOfOne(
    { title: 'payout-sandbox explore', subject: transaction, result: resultText(exploration) },
    {
      name: `each order of the events of ${transaction} ends in the same state`,
      group: 'explore',
      ms,
    },
    found
      ? {
          type: 'wrong_state',
          message: found.sequence.join(', '),
          details: explorationText(exploration),
        }
      : undefined,
  )
}

export const explore = remoteCommand({
  name: 'explore',
  summary: 'find an order of webhook events that your receiver handles wrongly',
  subcommands: {
    '': {
      syntax: 'TRANSACTION_ID',
      description:
        "send a payment's events in every possible order; exit 1 if one gives a wrong state",
      flags: {
        probe: [
          'URL',
          'URL at which your program returns its view of the payment; contains {transaction_id} (required)',
        ],
        'max-orders': ['N', 'maximum number of orders to try (default: 100)'],
        ...REPORT_FLAG,
      },
      async run(api, [transaction_id], flags) {
        const { probe } = flags
        if (probe === undefined)
          throw new BadOption(
            'explore needs --probe URL, such as --probe http://localhost:3000/payments/{transaction_id}',
          )
        const max_orders = numberFlag(flags, 'max-orders', 1, MAX_ORDERS)
        const body = { transaction_id, probe, max_orders }
        const report = openReport(flags)
        const startedAt = performance.now()
        const response = await api('exploreWebhooks', { body })
        report(exploreReport(transaction_id!, performance.now() - startedAt, response))
        return { response, text: explorationText(response), failed: response.found !== null }
      },
    },
  },
  examples: [
    'explore a0000000-0000-4000-8000-000000000001 --probe http://localhost:3000/payments/{transaction_id}',
    'explore a0000000-0000-4000-8000-000000000001 --max-orders 500 --probe http://localhost:3000/p/{transaction_id} --json',
  ],
})
