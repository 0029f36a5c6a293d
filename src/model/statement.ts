import * as z from 'zod'
import { IsoDate, named, Timestamp } from './formats.ts'
import { paiseOf, rupeesOf } from './payment.ts'

/** `debit`: money that a payment moved. `credit`: the same money, when the payment came back. */
export const Direction = z.enum(['debit', 'credit'])
export type Direction = z.infer<typeof Direction>

/** The columns of a statement, in the order of its CSV. */
const columns = {
  booked_at: Timestamp,
  partner_transaction_id: z.string(),
  client_transaction_id: z.string(),
  transaction_id: z.string(),
  utr: z.string().nullable(),
  direction: Direction,
  amount: z
    .string()
    .refine((amount) => paiseInBooks(amount) !== undefined, { error: () => WRONG_AMOUNT }),
}
export const STATEMENT_COLUMNS = Object.keys(columns) as readonly (keyof typeof columns)[]

export const StatementRow = named('StatementRow', columns)
export type StatementRow = z.infer<typeof StatementRow>

const Sum = named('StatementSum', { count: z.int(), amount: z.string() })
/** What all rows add up to; `net` is debits less credits. */
const sums = { debits: Sum, credits: Sum, net: z.string() }
const Sums = named('StatementSums', sums)
export type Sums = z.infer<typeof Sums>

const rule = z.string().optional().describe('The rule that changes this row in `rows`.')
const TrueRow = named('TrueStatementRow', { ...columns, rule })
export const Statement = named('StatementResponse', {
  rows: z.array(StatementRow),
  ...sums,
  truth: z
    .optional(z.strictObject({ rows: z.array(TrueRow), ...sums }))
    .describe('The same days as they were, for `truth`.'),
})
export type Statement = z.infer<typeof Statement>

/** Days of India: one of them, or from one to another, both included; without them, all. */
export const DAYS = { date: IsoDate.optional(), from: IsoDate.optional(), to: IsoDate.optional() }
export type Days = { [Field in keyof typeof DAYS]?: string | undefined }

const AMOUNT_TEXT = /^(?:\u20b9|Rs\.?|INR)?\s*(\d{1,3}(?:,\d{2,3})*,\d{3}|\d+)(\.\d{1,2})?$/i

/** Paise of an amount as people write it in books: `1500.5`, `1,500.50`, `\u20b91,500.50`. `undefined`: it is no amount. */
export function paiseInBooks(amount: number | string): number | undefined {
  if (typeof amount === 'number') return paiseOf(amount)
  const [, rupees, fraction = ''] = AMOUNT_TEXT.exec(amount.trim()) ?? []
  return rupees === undefined ? undefined : paiseOf(rupees.replaceAll(',', '') + fraction)
}

/** What the words of books mean about a payment. */
const STATUS_WORDS = {
  paid: ['success', 'successful', 'succeeded', 'settled', 'paid', 'completed', 'processed'],
  failed: ['failed', 'failure', 'rejected', 'declined', 'cancelled', 'canceled'],
  returned: ['returned', 'reversed', 'refunded', 'came_back'],
  pending: ['pending', 'processing', 'in_flight', 'initiated', 'created', 'sent'],
} as const
export type BookedStatus = keyof typeof STATUS_WORDS

export function bookedStatus(status: string): BookedStatus | undefined {
  const word = status.trim().toLowerCase().replaceAll(/[ -]/g, '_')
  const known = Object.entries<readonly string[]>(STATUS_WORDS)
  return known.find(([, words]) => words.includes(word))?.[0] as BookedStatus | undefined
}

/** Signed paise of a sum in books: `-1500.50`. `undefined`: it is no sum. */
export function netInBooks(net: number | string): number | undefined {
  const [, sign, amount] = /^\s*([-+\u2212]?)\s*(.*)$/s.exec(String(net))!
  const paise = paiseInBooks(amount!)
  return paise === undefined || sign === '' || sign === '+' ? paise : 0 - paise
}

export const netText = (paise: number): string =>
  `${paise < 0 ? '-' : ''}${rupeesOf(Math.abs(paise))}`

export const WRONG_AMOUNT = "isn't an amount; write rupees such as 1500.50"
export const WRONG_STATUS = `isn't a known status; write ${Object.keys(STATUS_WORDS).join(', ')} or a usual word for one of them`

/** A row of the caller's books: a payment, or with a `direction` one movement of its money. */
export const BookRow = z
  .strictObject({
    reference: z.string().max(100).optional(),
    transaction_id: z.string().max(100).optional(),
    amount: z
      .union([z.string().max(40), z.number()])
      .refine((amount) => paiseInBooks(amount) !== undefined, { error: WRONG_AMOUNT }),
    status: z
      .string()
      .max(40)
      .refine((status) => bookedStatus(status) !== undefined, { error: WRONG_STATUS })
      .optional(),
    utr: z.string().max(100).optional(),
    booked: z
      .union([z.string().max(40), z.number()])
      .refine((net) => netInBooks(net) !== undefined, { error: WRONG_AMOUNT })
      .optional()
      .describe('What all entries of the payment add up to, less what came back.'),
    direction: Direction.optional(),
    booked_at: z
      .optional(
        z.union([z.iso.datetime({ offset: true }), IsoDate], {
          error: 'must be a date or an instant such as 2026-01-31T10:00:00Z',
        }),
      )
      .describe('When the caller booked it (default: when the money moved).'),
  })
  .refine(({ reference, transaction_id: id }) => (reference ?? id) !== undefined, {
    error: 'must have a reference or a transaction_id',
    params: { code: 'required' },
  })
  .meta({ id: 'BookRow' })
export type BookRow = z.infer<typeof BookRow>

const MAX_ROWS = 30_000
export const Books = z.strictObject({
  rows: z.array(BookRow).max(MAX_ROWS),
  statement: z.array(StatementRow).max(MAX_ROWS).optional(),
  ...DAYS,
})

const Difference = named('Difference', {
  kind: z.enum([
    'missing_in_books',
    'missing_in_statement',
    'amount',
    'status',
    'twice',
    'utr',
    'booked',
  ]),
  books: BookRow.nullable(),
  statement: StatementRow.nullable(),
  message: z.string(),
})
export type Difference = z.infer<typeof Difference>

export const Reconciliation = named('ReconciliationResponse', {
  matched: z.int().describe('The rows of the books without a difference.'),
  differences: z.array(Difference),
  books: Sums,
  statement: Sums,
})
export type Reconciliation = z.infer<typeof Reconciliation>

export function sumsOf(rows: readonly { direction: Direction; paise: number }[]): Sums {
  const of = (direction: Direction) => rows.filter((row) => row.direction === direction)
  const total = (some: typeof rows) => some.reduce((sum, { paise }) => sum + paise, 0)
  const [debits, credits] = [of('debit'), of('credit')]
  const shown = (some: typeof rows) => ({ count: some.length, amount: rupeesOf(total(some)) })
  const net = total(debits) - total(credits)
  return { debits: shown(debits), credits: shown(credits), net: netText(net) }
}
