import { BadOption } from '../config/options.ts'
import {
  isRejected,
  lastResult,
  nextAttempt,
  type SentDelivery,
  sentStatus,
} from '../model/delivery-result.ts'
import { remoteCommand } from './remote.ts'
import { oneLine, table } from './table.ts'
import { queryOf } from './values.ts'

/** What these commands show of a delivery. */
export type Delivery = SentDelivery & {
  delivery_id: string
  event: string
  resource_id: string
  created_at: string
}
type Listed = { total: number; deliveries: Delivery[] }

/** Deliveries for people. */
const deliveryTable = (deliveries: readonly Delivery[]): string =>
  table(
    ['created', 'delivery', 'event', 'about', 'status', 'attempts', 'last answer'],
    deliveries.map((one) => [
      one.created_at,
      one.delivery_id,
      one.event,
      one.resource_id,
      one.status,
      one.attempts.length,
      lastResult(one),
    ]),
    'no delivery',
  )

/** One delivery that was just sent, in a line. */
export function sentText(one: Delivery): string {
  const next = nextAttempt(one)
  return (
    `${oneLine(`${one.event} about ${one.resource_id}: ${sentStatus(one)}`)}\n` +
    (next === undefined ? '' : `${next}\n`)
  )
}

export const deliveries = remoteCommand({
  name: 'deliveries',
  summary: 'list the webhook deliveries of a running sandbox, or send one again',
  verbs: {
    '': {
      takes: '',
      does: 'the newest first; --redeliver sends one once more, exit 1 if it is refused',
      flags: {
        redeliver: ['ID', 'send this delivery once more, now'],
        status: ['STATUS', 'only pending, delivered, failed, dropped, cancelled or recorded ones'],
        event: ['EVENT', 'only those of this event'],
        resource: ['ID', 'only those about this resource'],
        limit: ['N', 'at most so many, 50 unless told'],
      },
      async run(api, _words, { redeliver, status, event, resource, limit }) {
        const narrowed = { status, event, resource_id: resource, limit }
        if (redeliver !== undefined) {
          if (queryOf(narrowed) !== '')
            throw new BadOption('deliveries --redeliver stands alone; it names the one it means')
          const path = `/webhooks/deliveries/${encodeURIComponent(String(redeliver))}/redeliver`
          const answer: Delivery = await api('POST', path)
          return { answer, text: sentText(answer), failed: isRejected(answer) }
        }
        const answer: Listed = await api('GET', `/webhooks/deliveries${queryOf(narrowed)}`)
        const left = answer.total - answer.deliveries.length
        const more = left > 0 ? `… and ${left} more; --limit shows more\n` : ''
        return { answer, text: deliveryTable(answer.deliveries) + more }
      },
    },
  },
  examples: [
    'deliveries',
    'deliveries --status failed --json',
    'deliveries --redeliver dlv_0a3e5b61acc8458a9a476e39c59787c8',
  ],
})
