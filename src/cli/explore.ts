import { BadOption } from '../config/options.ts'
import { remoteCommand } from './remote.ts'
import { oneLine } from './table.ts'
import { wholeNumber } from './values.ts'

type Replay = { sequence: string[]; refused: number; state: unknown }
type Explored = {
  transaction_id: string
  orders_tried: number
  in_order: Replay
  found: (Replay & { differs_at: string[] }) | null
  ignored: string[]
}

const MAX_ORDERS = 10_000

const line = (name: string, value: unknown) => `  ${name.padEnd(12)} ${oneLine(value)}\n`
const replayText = ({ sequence, state }: Replay) =>
  line('events', sequence.join(', ')) + line('state', JSON.stringify(state))

function exploredText({ orders_tried, in_order, found, ignored }: Explored): string {
  const tried = `${orders_tried} ${orders_tried === 1 ? 'order' : 'orders'} tried`
  const left = ignored.length > 0 ? line('not compared', ignored.join(', ')) : ''
  if (!found) return `${tried}; each ends as the right order does\n${left}`
  return [
    `${tried}; this one ends otherwise than the right order\n`,
    replayText(found),
    line('refused', found.refused),
    line('differs at', found.differs_at.join(', ')),
    'the right order\n',
    replayText(in_order),
    left,
  ].join('')
}

export const explore = remoteCommand({
  name: 'explore',
  summary: 'find an order of webhook events that your receiver gets wrong',
  verbs: {
    '': {
      takes: 'TRANSACTION_ID',
      does: 'send the events of a payment in every order that may happen; exit 1 if one breaks',
      flags: {
        probe: [
          'URL',
          'where your program tells what it believes, with {transaction_id} in it; needed',
        ],
        'max-orders': ['N', 'at most so many orders, 100 unless told'],
      },
      async run(api, [transaction_id], { probe, 'max-orders': most }) {
        if (probe === undefined)
          throw new BadOption(
            'explore needs --probe URL, such as --probe http://localhost:3000/payments/{transaction_id}',
          )
        const maxOrders = most && wholeNumber('--max-orders', String(most), 1, MAX_ORDERS)
        const answer: Explored = await api('POST', '/webhooks/explore', {
          transaction_id,
          probe,
          ...(maxOrders && { max_orders: maxOrders }),
        })
        return { answer, text: exploredText(answer), failed: answer.found !== null }
      },
    },
  },
  examples: [
    'explore a0000000-0000-4000-8000-000000000001 --probe http://localhost:3000/payments/{transaction_id}',
    'explore a0000000-0000-4000-8000-000000000001 --max-orders 500 --probe http://localhost:3000/p/{transaction_id} --json',
  ],
})
