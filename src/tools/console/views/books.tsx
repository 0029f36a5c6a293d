// Your books beside what the bank says: a CSV that the page reads, and the sandbox compares.
import { useState } from 'preact/hooks'
import type { ResponseBody } from '../../../admin/caller.ts'
import { callOf, send } from '../api.ts'
import { Dropped } from '../fields.tsx'
import { countText, netText, numberText, rupeesText } from '../format.ts'
import { Card, Facts, Problem, Table } from '../ui.tsx'

type Result = ResponseBody<'reconcile'>
type Difference = Result['differences'][number]

/** Other names of columns, as the command `reconcile` knows them. */
const NAMES: Readonly<Record<string, string>> = {
  reference_id: 'reference',
  client_transaction_id: 'reference',
  partner_transaction_id: 'transaction_id',
  transaction_status: 'status',
}
const COLUMNS = 'reference transaction_id amount status utr booked direction booked_at'.split(' ')

/** The records of a CSV. In quotes, a quote is doubled, and a line may end. */
function recordsOf(text: string, separator: string): string[][] {
  const records: string[][] = [[]]
  const plain = `[^${separator}\\r\\n]*`
  const cells = new RegExp(`(?:"((?:[^"]|"")*)"|(${plain}))(${separator}|\\r?\\n|$)`, 'g')
  for (const [, inQuotes, other = '', end] of text.matchAll(cells)) {
    records.at(-1)!.push(inQuotes?.replaceAll('""', '"') ?? other.trim())
    if (end !== separator) records.push([])
  }
  return records.filter((record) => record.some(Boolean))
}

/** The rows of books in CSV. The sandbox checks the values, and says which is wrong. */
export function rowsOfCsv(text: string): Record<string, string>[] {
  const separator = [';', '\t'].find((one) => text.split('\n', 1)[0]!.includes(one)) ?? ','
  const [head = [], ...records] = recordsOf(text.replace(/^\uFEFF/, ''), separator)
  const names = head.map((name) => NAMES[name.toLowerCase()] ?? name.toLowerCase())
  if (!names.includes('amount') || !names.some((name) => /^(reference|transaction_id)$/.test(name)))
    throw new Error(
      `The first line has no columns reference (or transaction_id) and amount, only ${names.join(', ') || 'nothing'}.`,
    )
  return records.map((record) => {
    const cells = record.map((cell, i) => [names[i]!, cell] as const)
    return Object.fromEntries(cells.filter(([name, cell]) => COLUMNS.includes(name) && cell !== ''))
  })
}

const rowText = (row: Difference['books'] | Difference['statement']) =>
  row === null
    ? '–'
    : `${rupeesText(String(row.amount))} ${'status' in row ? (row.status ?? '') : ''}`

function Differences({ result }: { result: Result }) {
  const { matched, differences, books, statement } = result
  const text =
    differences.length === 0
      ? `Your books agree: ${countText(matched, 'row')}.`
      : `${countText(differences.length, 'difference')}, ${numberText(matched)} of your rows agree.`
  return (
    <>
      <p role="status">
        <b>{text}</b>
      </p>
      <Facts
        facts={{
          'Net in your books': netText(books.net),
          'Net at the bank': netText(statement.net),
        }}
      />
      {differences.length > 0 && (
        <Table
          label="Differences"
          titles={['Kind', 'Your books', 'The bank', 'What it is']}
          rows={differences.map(({ kind, books, statement, message }) => [
            kind.replaceAll('_', ' '),
            <span class="whole">{rowText(books)}</span>,
            // A link only where there is a payment.
            <a
              class="whole"
              href={statement ? `#/payments/${statement.transaction_id}` : undefined}
            >
              {rowText(statement)}
            </a>,
            message,
          ])}
        />
      )}
    </>
  )
}

/** Takes the books of a day as a file, and shows both sides. */
export function Books({ date }: { date: string }) {
  const [result, setResult] = useState<{ of: string; result: Result }>()
  const [problem, setProblem] = useState<string>()
  async function compare(file: File) {
    setProblem(undefined)
    setResult(undefined)
    try {
      const call = callOf('reconcile', { body: { rows: rowsOfCsv(await file.text()), date } })
      setResult({ of: date, result: await send(call, 'Compare', undefined, true) })
    } catch (error) {
      setProblem(`${file.name}: ${(error as Error).message}`)
    }
  }
  return (
    <Card title="Your books of this day" wide>
      <Dropped
        label="A CSV with reference, amount and status"
        accept=".csv,text/csv"
        onFile={compare}
      />
      <Problem text={problem} />
      {result?.of === date && <Differences result={result.result} />}
    </Card>
  )
}
