import type { ResponseBody } from '../admin/caller.ts'
import { homePath, readText, UnreadableText } from '../config/files.ts'
import { BadOption } from '../config/options.ts'
import { STATEMENT_COLUMNS as COLUMNS } from '../model/statement.ts'
import { countOf } from '../model/words.ts'
import { table } from '../tools/report/table.ts'
import { type Command, OUT_FLAG } from './command.ts'
import { remoteCommand, shown } from './remote.ts'

type Statement = ResponseBody<'getStatement'>
type Reconciliation = ResponseBody<'reconcile'>

const DAY_FLAGS = {
  date: ['DAY', 'a day in India, such as 2026-01-31 (default: all days)'],
  from: ['DAY', 'the first of several days'],
  to: ['DAY', 'the last of them'],
} as const satisfies Command['flags']

const cellOf = (value: string | null) =>
  value !== null && /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : (value ?? '')

/** The rows as RFC 4180 has them. */
const csvOf = (rows: Statement['rows']) =>
  [COLUMNS, ...rows.map((row) => COLUMNS.map((column) => cellOf(row[column])))]
    .map((cells) => `${cells.join(',')}\r\n`)
    .join('')

const sumsText = ({ debits, credits, net }: Pick<Statement, 'debits' | 'credits' | 'net'>) =>
  `${countOf(debits.count, 'debit')} of ${debits.amount}, ${countOf(credits.count, 'return')} of ${credits.amount}, net ${net}`

const statementText = (statement: Pick<Statement, 'rows' | 'debits' | 'credits' | 'net'>) =>
  `${table(
    COLUMNS,
    statement.rows.map((row) => COLUMNS.map((column) => row[column])),
    'no money moved',
  )}\n${sumsText(statement)}\n`

export const statement = remoteCommand({
  name: 'statement',
  summary: 'print what the bank of a client reports, for your books',
  description: 'print the payouts that were debited, and those that came back',
  flags: {
    ...DAY_FLAGS,
    truth: ['', 'leave out what the scenario changes'],
    csv: ['', 'print CSV'],
    ...OUT_FLAG,
  },
  async run(api, _args, { date, from, to, truth, csv }) {
    const query = { date, from, to, ...(truth && { truth: 'true' }) } as object
    return shown(api('getStatement', { query }), (found) => {
      const one = found.truth ?? found
      return csv ? csvOf(one.rows) : statementText(one)
    })
  },
  examples: ['statement --date 2026-01-31', 'statement --csv --out statement.csv'],
})

function reconciledText({ matched, differences, books, statement: told }: Reconciliation): string {
  const rows = differences.map(({ kind, message }) => [kind, message])
  return (
    table(['difference', 'what'], rows, 'no differences') +
    `\n${countOf(matched, 'row')} matched, ${countOf(differences.length, 'difference')}\n` +
    `your books: ${sumsText(books)}\nthe bank:   ${sumsText(told)}\n`
  )
}

function read(file: string) {
  try {
    return { file, text: readText(homePath(file)) }
  } catch (error) {
    if (error instanceof UnreadableText) throw new BadOption(`${file} ${error.message}.`)
    throw error
  }
}

export const reconcile: Command = {
  ...remoteCommand({
    name: 'reconcile',
    summary: 'compare your books with what a running sandbox paid, or with a statement',
    syntax: 'BOOKS.CSV',
    description:
      'compare a CSV file of your payouts with what really happened; exit 1 if they differ',
    flags: {
      columns: ['NAME=COLUMN,...', 'names of your columns, such as reference=ref,amount=amt'],
      statement: ['FILE', 'compare with this statement, which statement --csv has written'],
      ...DAY_FLAGS,
    },
    async run(api, [file], { columns, statement: told, date, from, to }) {
      const { parseColumns, readBooks, readStatement } = await import('../tools/read-books.ts')
      const named = columns === undefined ? {} : parseColumns(String(columns))
      const body = {
        rows: readBooks(read(file!), named),
        ...(told !== undefined && {
          statement: readStatement(read(String(told)), COLUMNS) as Statement['rows'],
        }),
        ...({ date, from, to } as object),
      }
      return shown(
        api('reconcile', { body }),
        reconciledText,
        ({ differences }) => differences.length > 0,
      )
    },
    examples: [
      'reconcile books.csv',
      'reconcile books.csv --date 2026-01-31 --columns reference=ref,amount=amt',
    ],
  }),
  isTool: true,
}
