import type { Payment } from '../api.ts'
import { rupeesText } from '../format.ts'
import { useUrlFields } from '../route.ts'
import { AT_WIDTH, type Column, type Filter, PagedList } from '../rows.tsx'
import { At } from '../settings.tsx'
import { Chip, stateOf } from '../ui.tsx'
import { MakePayment } from './make-payment.tsx'
import { OUTCOMES, wordsOf } from './payment-words.ts'

const COLUMNS: readonly Column<Payment>[] = [
  {
    title: 'Amount',
    // Wide enough for the largest amount.
    width: '10rem',
    end: true,
    show: ({ amount, currency_code }) => rupeesText(amount, currency_code),
  },
  { title: 'Status', width: '7.5rem', show: (payment) => <Chip state={stateOf(payment)} /> },
  { title: 'From', width: 'minmax(0, 3fr)', minor: true, show: ({ payer }) => payer ?? '–' },
  { title: 'To', width: 'minmax(0, 3fr)', show: ({ history }) => history.account_holder_name },
  {
    title: 'Reference',
    width: 'minmax(0, 2fr)',
    minor: true,
    show: ({ reference_id }) => reference_id ?? '–',
  },
  { title: 'Created', width: AT_WIDTH, show: ({ created_at }) => <At at={created_at} /> },
]
const FILTERS: Readonly<Record<string, Filter>> = {
  outcome: {
    label: 'Outcome',
    values: Object.entries({ ...OUTCOMES, done: { title: 'Done' } }).map(([name, { title }]) => [
      name,
      title,
    ]),
  },
  sort: {
    label: 'Order',
    all: 'Newest first',
    values: Object.entries({ oldest: 'Oldest first', largest: 'Largest first' }),
  },
}

const WHY: Column<Payment> = {
  title: 'Why',
  width: 'minmax(0, 3fr)',
  show: ({ failure }) => (failure ? wordsOf(failure.reason) : '–'),
}
/** Of payments that failed or came back, why; of others, who paid. */
const columnsOf = (outcome: string) =>
  ['failed', 'came_back'].includes(outcome)
    ? COLUMNS.map((one) => (one.title === 'From' ? WHY : one))
    : COLUMNS

export const Payments = () => (
  <>
    <h2>Payments</h2>
    <MakePayment />
    <PagedList
      id="readTransactions"
      label="Payments"
      noun="payment"
      placeholder="reference or amount"
      filters={FILTERS}
      columns={columnsOf(useUrlFields().get('outcome') ?? '')}
      href={({ transaction_id }) => `#/payments/${transaction_id}`}
      none="No payments yet. Make one above, or with POST /v1/transaction."
    />
  </>
)
