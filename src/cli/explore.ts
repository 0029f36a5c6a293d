import type { ResponseBody } from '../admin/contract.ts'
import { BadOption } from '../config/options.ts'
import { remoteCommand } from './remote.ts'
import { oneLine } from './text-table.ts'
import { parseWholeNumber } from './values.ts'

type Exploration = ResponseBody<'exploreWebhooks'>
type Replay = Exploration['in_order']

const MAX_ORDERS = 10_000

const line = (name: string, value: unknown) => `  ${name.padEnd(12)} ${oneLine(value)}\n`
const replayText = ({ sequence, state }: Replay) =>
  line('events', sequence.join(', ')) + line('state', JSON.stringify(state))

function explorationText({ orders_tried, in_order, found, ignored }: Exploration): string {
  const tried = `${orders_tried} ${orders_tried === 1 ? 'order' : 'orders'} tried`
  const ignoredLine = ignored.length > 0 ? line('not compared', ignored.join(', ')) : ''
  if (!found) return `${tried}; all end in the same state as the right order\n${ignoredLine}`
  return [
    `${tried}; this order ends in another state than the right order\n`,
    replayText(found),
    line('rejected', found.rejected),
    line('differs at', found.differs_at.join(', ')),
    'the right order\n',
    replayText(in_order),
    ignoredLine,
  ].join('')
}

export const explore = remoteCommand({
  name: 'explore',
  summary: 'find an order of webhook events that your receiver handles wrongly',
  subcommands: {
    '': {
      syntax: 'TRANSACTION_ID',
      description:
        'send the events of a payment in every order that can happen; exit 1 if one order gives a wrong state',
      flags: {
        probe: [
          'URL',
          'URL at which your program returns its view of the payment; contains {transaction_id} (required)',
        ],
        'max-orders': ['N', 'maximum number of orders to try (default: 100)'],
      },
      async run(api, [transaction_id], { probe, 'max-orders': max }) {
        if (probe === undefined)
          throw new BadOption(
            'explore needs --probe URL, such as --probe http://localhost:3000/payments/{transaction_id}',
          )
        const maxOrders = max && parseWholeNumber('--max-orders', String(max), 1, MAX_ORDERS)
        const body = { transaction_id, probe, ...(maxOrders && { max_orders: maxOrders }) }
        const response = await api('exploreWebhooks', { body })
        return { response, text: explorationText(response), failed: response.found !== null }
      },
    },
  },
  examples: [
    'explore a0000000-0000-4000-8000-000000000001 --probe http://localhost:3000/payments/{transaction_id}',
    'explore a0000000-0000-4000-8000-000000000001 --max-orders 500 --probe http://localhost:3000/p/{transaction_id} --json',
  ],
})
