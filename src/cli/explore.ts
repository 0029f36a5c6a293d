import type { ResponseBody } from '../admin/contract.ts'
import { BadOption } from '../config/options.ts'
import { countOf } from '../model/words.ts'
import { type Report, reportOfOne } from '../tools/report/report.ts'
import { parseWholeNumber } from './command.ts'
import { oneLine, openReport, REPORT_FLAG } from './output.ts'
import { remoteCommand } from './remote.ts'

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
        'send the events of a payment in every order that can happen; exit 1 if one order gives a wrong state',
      flags: {
        probe: [
          'URL',
          'URL at which your program returns its view of the payment; contains {transaction_id} (required)',
        ],
        'max-orders': ['N', 'maximum number of orders to try (default: 100)'],
        ...REPORT_FLAG,
      },
      async run(api, [transaction_id], flags) {
        const { probe, 'max-orders': max } = flags
        if (probe === undefined)
          throw new BadOption(
            'explore needs --probe URL, such as --probe http://localhost:3000/payments/{transaction_id}',
          )
        const maxOrders = max && parseWholeNumber('--max-orders', String(max), 1, MAX_ORDERS)
        const body = { transaction_id, probe, ...(maxOrders && { max_orders: maxOrders }) }
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
