import type { ResponseBody } from '../../../admin/caller.ts'
import { callOf } from '../api.ts'
import { useNow } from '../client.ts'
import { countText, netText, rupeesText } from '../format.ts'
import { setUrlFields, useUrlFields } from '../route.ts'
import { At } from '../settings.tsx'
import { Card, Problem, Table } from '../ui.tsx'
import { useLoaded } from '../use-data.ts'
import { Books } from './books.tsx'
import { ruleText } from './payment-words.ts'

type Truth = NonNullable<ResponseBody<'getStatement'>['truth']>

const INDIA_MS = 19_800_000

function Rows({ title, statement }: { title: string; statement: Truth }) {
  const { rows, debits, credits, net } = statement
  const heads = ['Booked', 'Payment', 'Direction', 'Amount', 'UTR']
  const isChanged = rows.some(({ rule }) => rule !== undefined)
  return (
    <Card title={title} wide>
      <p>
        {countText(debits.count, 'debit')} of {rupeesText(debits.amount)},{' '}
        {countText(credits.count, 'return')} of {rupeesText(credits.amount)}: net{' '}
        <b>{netText(net)}</b>
      </p>
      {rows.length > 0 && (
        <Table
          label={`${title}, row by row`}
          titles={[...heads, ...(isChanged ? ['Changed by'] : [])]}
          rows={rows.map((row) => [
            <At at={row.booked_at} />,
            <a href={`#/payments/${row.transaction_id}`}>{row.client_transaction_id}</a>,
            row.direction,
            rupeesText(row.amount),
            row.utr ?? 'none',
            ...(isChanged ? [row.rule && ruleText(row.rule)] : []),
          ])}
        />
      )}
    </Card>
  )
}

/** What the bank reports for a day in India; if the scenario changes it, what really happened too. */
export function Statement() {
  const today = new Date(useNow(60_000) + INDIA_MS).toISOString().slice(0, 10)
  const date = useUrlFields().get('date') ?? today
  const call = callOf('getStatement', { query: { date, truth: 'true' } })
  const { data, problem } = useLoaded(call)
  return (
    <>
      <h2>Statement</h2>
      <div class="row">
        <label>
          Day in India{' '}
          <input
            type="date"
            value={date}
            onInput={({ currentTarget }) => setUrlFields({ date: currentTarget.value })}
          />
        </label>
      </div>
      <Books date={date} />
      <Problem text={problem} />
      {data?.truth && <Rows title="What the bank says" statement={data} />}
      {data?.truth?.rows.some(({ rule }) => rule !== undefined) && (
        <Rows title="What really happened" statement={data.truth} />
      )}
    </>
  )
}
