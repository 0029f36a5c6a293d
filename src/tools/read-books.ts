import { type CsvError, type Info, parse } from 'csv-parse/sync'
import { BadOption } from '../config/options.ts'
import {
  type BookRow,
  bookedStatus,
  netInBooks,
  paiseInBooks,
  WRONG_AMOUNT,
  WRONG_STATUS,
} from '../model/statement.ts'
import { closestWord, quoteValue } from '../model/words.ts'

/** A file that can't be read as books or as a statement; the message has line and column. */
export class BadBooks extends BadOption {}

/** The names under which a column is found, if the caller doesn't name it. */
const ALIASES = {
  reference: ['reference', 'reference_id', 'client_transaction_id'],
  transaction_id: ['transaction_id', 'partner_transaction_id'],
  amount: ['amount'],
  status: ['status', 'transaction_status'],
  utr: ['utr'],
  booked: ['booked'],
  direction: ['direction'],
  booked_at: ['booked_at'],
} as const satisfies Record<keyof BookRow, readonly string[]>
type Column = keyof typeof ALIASES
const COLUMNS = Object.keys(ALIASES) as Column[]

type Source = {
  file: string
  text: string
  /** What to do if a column is missing. */
  advice?: string
}

const NAME_COLUMNS = 'Name yours with --columns, such as --columns reference=ref,amount=amt'

type RawRecord = { record: string[]; info: Info }

/** Spreadsheets of some countries separate columns by semicolons or tabs; Excel can say so in a line of its own. */
function delimiterOf(text: string) {
  const [head = ''] = text.split(/[\r\n]/, 1)
  const [, said] = /^sep=(.)$/i.exec(head) ?? []
  const delimiter = said ?? [';', '\t'].find((one) => head.includes(one)) ?? ','
  return { delimiter, from_line: said ? 2 : 1 }
}

const NOT_CSV = "isn't CSV; save it as CSV in UTF-8"
/** What is wrong with a file, by the code of the parser. */
const FAULTS: Readonly<Record<string, string>> = {
  CSV_RECORD_INCONSISTENT_FIELDS_LENGTH: 'has more or fewer values than the first line has names',
  CSV_QUOTE_NOT_CLOSED: 'a quote opens here and never closes; close it, or double it if it is text',
  CSV_INVALID_CLOSING_QUOTE: 'a quote closes inside a value; double it if it is text',
  INVALID_OPENING_QUOTE: 'a quote opens inside a value; put the whole value in quotes',
}

/** Reads a CSV file; the first record is its head. */
function readRecords({ file, text }: Source): RawRecord[] {
  const options = { ...delimiterOf(text), trim: true, skip_empty_lines: true }
  try {
    return parse(text, { ...options, info: true }) as unknown as RawRecord[]
  } catch (error) {
    const { code, lines = 1, column } = error as CsvError & { lines?: number; column?: number }
    const at = typeof column === 'number' ? `:${column + 1}` : ''
    throw new BadBooks(`${file}:${lines}${at}: ${FAULTS[code] ?? NOT_CSV}.`)
  }
}

/** Parses `reference=ref,amount=amt`. */
export function parseColumns(text: string): Partial<Record<Column, string>> {
  const pairs = text.split(',').map((pair) => pair.split('='))
  for (const [name = '', column = ''] of pairs)
    if (!Object.hasOwn(ALIASES, name.trim()) || column.trim() === '')
      throw new BadBooks(
        `--columns takes pairs such as reference=ref,amount=amt, with ${COLUMNS.join(', ')} on the left, not ${quoteValue(text)}.`,
      )
  return Object.fromEntries(pairs.map(([name, column]) => [name!.trim(), column!.trim()]))
}

/** The place of each column in the head. */
function placesIn(
  head: readonly string[],
  { file, advice = NAME_COLUMNS }: Source,
  given: Partial<Record<Column, string>>,
) {
  const names = head.map((name) => name.toLowerCase())
  const places = new Map<Column, number>()
  for (const column of COLUMNS) {
    const wanted = given[column]?.toLowerCase()
    const all: readonly string[] = wanted === undefined ? ALIASES[column] : [wanted]
    const at = names.findIndex((name) => all.includes(name))
    if (at >= 0 && names.indexOf(names[at]!, at + 1) > 0)
      throw new BadBooks(`${file}:1: has two columns ${head[at]}; rename one of them.`)
    if (at >= 0) places.set(column, at)
    else if (wanted !== undefined) {
      const near = closestWord(wanted, head)
      throw new BadBooks(
        `${file}:1: has no column ${quoteValue(given[column])}${near ? `; did you mean ${near}?` : `, only ${head.join(', ')}.`}`,
      )
    }
  }
  const missing = !places.has('amount')
    ? 'amount'
    : places.has('reference') || places.has('transaction_id')
      ? undefined
      : 'reference or transaction_id'
  if (missing !== undefined)
    throw new BadBooks(`${file}:1: has no column ${missing}, only ${head.join(', ')}. ${advice}.`)
  return places
}

const CHECKS: Partial<Record<Column, readonly [(value: string) => boolean, string]>> = {
  amount: [(value) => paiseInBooks(value) !== undefined, WRONG_AMOUNT],
  status: [(value) => bookedStatus(value) !== undefined, WRONG_STATUS],
  booked: [(value) => netInBooks(value) !== undefined, WRONG_AMOUNT],
  direction: [(value) => /^(?:debit|credit)$/.test(value), 'must be debit or credit'],
  booked_at: [
    (value) => /^\d{4}-\d\d-\d\d(?:T.+)?$/.test(value) && !Number.isNaN(Date.parse(value)),
    'must be a date or an instant such as 2026-01-31T10:00:00Z',
  ],
}

/** Throws if a cell can't have its value. */
function checkCell(column: Column, value: string, place: string) {
  const [isValid, message] = CHECKS[column] ?? []
  if (isValid && !isValid(value)) throw new BadBooks(`${place} ${quoteValue(value)} ${message}.`)
}

/** Reads the caller's books; throws `BadBooks`. An empty cell is a value that the books don't have, but an empty UTR is one that never came. */
export function readBooks(source: Source, given: Partial<Record<Column, string>> = {}): BookRow[] {
  const [head, ...records] = readRecords(source)
  if (!head)
    throw new BadBooks(
      `${source.file}: is empty. The first line has the names of the columns, such as reference,amount,status.`,
    )
  const places = placesIn(head.record, source, given)
  return records.map(({ record, info: { lines } }) => {
    const row: Partial<Record<Column, string>> = {}
    for (const [column, at] of places) {
      const value = column === 'direction' ? record[at]!.toLowerCase() : record[at]!
      const isEmpty = value === '' && column !== 'amount'
      if (!isEmpty)
        checkCell(column, value, `${source.file}:${lines}:${at + 1}: ${head.record[at]}`)
      if (!isEmpty || column === 'utr') row[column] = value
    }
    if (row.reference === undefined && row.transaction_id === undefined)
      throw new BadBooks(`${source.file}:${lines}: has neither a reference nor a transaction_id.`)
    return row as BookRow
  })
}

/** Reads a statement that `statement --csv` has written; throws `BadBooks`. */
export function readStatement<C extends string>(source: Source, columns: readonly C[]) {
  const [head, ...records] = readRecords(source)
  const missing = columns.find((name) => !head?.record.includes(name))
  if (!head || missing !== undefined)
    throw new BadBooks(
      `${source.file}:1: is no statement: it has no column ${missing ?? columns[0]}. Write one with payout-sandbox statement --csv --out FILE.`,
    )
  return records.map(({ record, info: { lines } }) => {
    const cells = columns.map((name) => {
      const at = head.record.indexOf(name)
      const value = record[at]!
      checkCell(name as Column, value, `${source.file}:${lines}:${at + 1}: ${name}`)
      return [name, name === 'utr' && value === '' ? null : value]
    })
    return Object.fromEntries(cells) as Record<C, string | null>
  })
}
