import type { Payment } from '../api.ts'
import { Choice, SearchField, useSearch } from '../fields.tsx'
import { rupeesText } from '../format.ts'
import { useUrlField } from '../route.ts'
import { AT_WIDTH, type Column, PagedRows, useBetween } from '../rows.tsx'
import { At } from '../settings.tsx'
import { Chip, stateOf } from '../ui.tsx'
import { MakePayment } from './make-payment.tsx'

const COLUMNS: readonly Column<Payment>[] = [
  {
    title: 'Amount',
    // Wide enough for the largest amount.
    width: 'clamp(6.5rem, 13cqw, 9.5rem)',
    end: true,
    show: ({ amount, currency_code }) => rupeesText(amount, currency_code),
  },
  {
    title: 'Status',
    width: '7.5rem',
    show: (payment) => <Chip state={stateOf(payment)} />,
  },
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
/** Of the payments that the client itself made, as Overview counts them. */
export const OUTCOMES = {
  settled: 'Settled',
  in_flight: 'In flight',
  failed: 'Failed',
  came_back: 'Came back',
} as const
const SORTS = { oldest: 'Oldest first', largest: 'Largest first' } as const
const hrefOf = ({ transaction_id }: Payment) => `#/payments/${transaction_id}`

export function Payments() {
  const search = useSearch()
  const [outcome, setOutcome] = useUrlField('outcome', Object.keys(OUTCOMES))
  const [sort, setSort] = useUrlField('sort', Object.keys(SORTS))
  const between = useBetween()
  return (
    <>
      <h2>Payments</h2>
      <MakePayment />
      <div class="row">
        <SearchField search={search} placeholder="reference or amount" />
        <Choice
          label="Outcome"
          value={outcome}
          values={[['', 'any'], ...Object.entries(OUTCOMES)]}
          onInput={setOutcome}
        />
        <Choice
          label="Order"
          value={sort}
          values={[['', 'Newest first'], ...Object.entries(SORTS)]}
          onInput={setSort}
        />
        {between.button}
      </div>
      <PagedRows
        id="readTransactions"
        filter={{ outcome, sort, ...between.filter }}
        search={search}
        noun="payment"
        label="Payments"
        columns={COLUMNS}
        href={hrefOf}
        none="No payments yet. Make one above, or with POST /v1/transaction."
      />
    </>
  )
}
