import { maskNumber } from '../model/mask.ts'
import { type PaymentRow, type PaymentStatus, paiseOf } from '../model/payment.ts'
import {
  type BookedStatus,
  type BookRow,
  bookedStatus,
  type Days,
  type Difference,
  type Direction,
  paiseInBooks,
  type Reconciliation,
  type StatementRow,
  sumsOf,
} from '../model/statement.ts'
import { dayTest, movementsOf, rowOf } from '../payouts/statement.ts'
import type { World } from '../world/world.ts'

/** What a row of the books says about money: that it moved in a direction, at an instant if it's known. */
type Claim = { row: BookRow; direction: Direction; paise: number; at: string | undefined }

/** A payment with what the books, the statement and the sandbox say about it. */
type Subject = {
  payment: PaymentRow | undefined
  /** How its money really moved. */
  moves: StatementRow[]
  told: StatementRow[]
  books: BookRow[]
}

/** The final meaning of a payment's status. */
const MEANING: Readonly<Record<PaymentStatus, BookedStatus>> = {
  PENDING: 'pending',
  PROCESSING: 'pending',
  SUCCESS: 'paid',
  FAILED: 'failed',
}

const meaningOf = ({ status }: BookRow): BookedStatus | undefined =>
  status === undefined ? undefined : bookedStatus(status)

/** Whether a row without a direction agrees with what became of the payment. A payment that came back has failed. */
function agrees(row: BookRow, { payment, moves }: Subject): boolean {
  if (!payment) return false
  const said = meaningOf(row) ?? 'paid'
  if (said === 'returned') return payment.status === 'FAILED' && moves.length > 0
  return said === MEANING[payment.status]
}

const CLAIMED: Readonly<Record<BookedStatus, readonly Direction[]>> = {
  paid: ['debit'],
  returned: ['debit', 'credit'],
  failed: [],
  pending: [],
}

/** What one row claims: the movement that it names, or all of a payment about which it is right. */
function claimsOf(row: BookRow, subject: Subject): Claim[] {
  const said = meaningOf(row) ?? 'paid'
  const paise = paiseInBooks(row.amount)!
  const claim = (direction: Direction, at?: string) => ({
    row,
    direction,
    paise,
    at: row.booked_at ?? at,
  })
  const atOf = (wanted: Direction) =>
    subject.moves.find(({ direction }) => direction === wanted)?.booked_at
  if (row.direction !== undefined)
    return CLAIMED[said].length === 0 ? [] : [claim(row.direction, atOf(row.direction))]
  if (agrees(row, subject))
    return subject.moves.map(({ direction, booked_at }) => claim(direction, booked_at))
  return CLAIMED[said].map((direction) => claim(direction, atOf(direction)))
}

/** The rows that count: of several with different statuses and no direction, those with the last status. */
function latestRows({ books }: Subject): BookRow[] {
  const last = books.findLast(({ direction }) => direction === undefined)
  const status = last && meaningOf(last)
  return books.filter((row) => row.direction !== undefined || meaningOf(row) === status)
}

const isSameUtr = (booked: string, told: string) => booked === told || booked === maskNumber(told)

const nameOf = ({ payment, told, books }: Subject) => {
  const reference =
    books[0]?.reference ?? told[0]?.client_transaction_id ?? payment?.client_transaction_id
  return reference === undefined
    ? `Transaction ${books[0]!.transaction_id}`
    : `Payment ${reference}`
}

/** Compares the claims and the statement's rows of one payment in one direction. */
function compareDirection(
  direction: Direction,
  subject: Subject,
  claims: readonly Claim[],
  told: readonly StatementRow[],
): Difference[] {
  const { payment, books: rows } = subject
  const noun = direction === 'debit' ? 'debit' : 'return'
  const real = subject.moves.filter((one) => one.direction === direction).length
  const differences: Difference[] = []
  const note = (
    kind: Difference['kind'],
    text: string,
    books: BookRow | null,
    statement: StatementRow | null,
  ) => differences.push({ kind, books, statement, message: `${nameOf(subject)}: ${text}.` })
  for (const [i, { row, paise }] of claims.entries()) {
    const statement = told[i]
    if (statement) {
      if (paiseOf(statement.amount) !== paise)
        note('amount', `the books say ${row.amount}, and not ${statement.amount}`, row, statement)
      if (row.utr === undefined || isSameUtr(row.utr, statement.utr ?? '')) continue
      const utrs = `the UTR ${row.utr || 'none'}, and not ${statement.utr ?? 'none'}`
      note('utr', `the books have ${utrs}`, row, statement)
    } else if (told.length > 0 && claims.length > real)
      note('twice', `the books have its ${noun} ${claims.length} times`, row, null)
    else if (real > 0 || !payment)
      note('missing_in_statement', `the books have a ${noun} that isn't there`, row, null)
    else if (row.status === undefined)
      note('missing_in_statement', `it's booked as a ${noun}, but is ${payment.status}`, row, null)
    else note('status', `the books say ${row.status}, but it is ${payment.status}`, row, null)
  }
  for (const statement of told.slice(claims.length)) {
    const books = claims[0]?.row ?? rows[0] ?? null
    const really = direction === 'debit' ? 'it was paid' : 'it came back'
    if (claims.length > 0)
      note('twice', `its ${noun} is there ${told.length} times`, books, statement)
    else if (books)
      note('status', `the books say ${books.status ?? 'paid'}, but ${really}`, books, statement)
    else {
      const text = `the books don't have its ${noun} of ${statement.amount}`
      note('missing_in_books', text, null, statement)
    }
  }
  return differences
}

/** Puts the rows of both sides together by payment. */
class Subjects {
  readonly all = new Set<Subject>()
  readonly #byId = new Map<string, Subject>()
  readonly #byReference = new Map<string, Subject[]>()

  #add(subject: Subject, ids: readonly (string | undefined)[], reference: string | undefined) {
    this.all.add(subject)
    for (const id of ids) if (id !== undefined) this.#byId.set(id, subject)
    if (reference === undefined) return
    const same = this.#byReference.get(reference)
    if (same) same.push(subject)
    else this.#byReference.set(reference, [subject])
  }

  addPayment(payment: PaymentRow, moves: StatementRow[]) {
    const { transaction_id, partner_transaction_id, client_transaction_id } = payment
    const subject = { payment, moves, told: [], books: [] }
    this.#add(subject, [transaction_id, partner_transaction_id], client_transaction_id)
  }

  addTold(row: StatementRow) {
    const known = this.#byId.get(row.transaction_id) ?? this.#byId.get(row.partner_transaction_id)
    if (known) known.told.push(row)
    else
      this.#add(
        { payment: undefined, moves: [], told: [row], books: [] },
        [row.transaction_id, row.partner_transaction_id],
        row.client_transaction_id,
      )
  }

  /** Several payments can have one reference: each gets a row of the books, first those of the same amount. */
  addBooked(row: BookRow) {
    const { reference, transaction_id: id, amount } = row
    const same = (reference !== undefined && this.#byReference.get(reference)) || []
    const free = same.filter(
      ({ books }) => !books.some(({ direction }) => direction === row.direction),
    )
    const paise = paiseInBooks(amount)
    const known =
      (id !== undefined && this.#byId.get(id)) ||
      free.find(({ payment }) => payment?.paise === paise) ||
      free[0] ||
      same[0]
    if (known) known.books.push(row)
    else this.#add({ payment: undefined, moves: [], told: [], books: [row] }, [id], reference)
  }
}

/**
 * Compares books with a statement, or without one with what really happened. What neither moved money nor says so is no
 * difference.
 */
export function reconcile(
  { tables }: World,
  books: readonly BookRow[],
  statement: readonly StatementRow[] | undefined,
  days: Days = {},
): Reconciliation {
  const isIn = dayTest(days)
  const subjects = new Subjects()
  const newestFirst = tables.tables.payments.page('type', 'debit', 0, Number.POSITIVE_INFINITY)
  for (const { row } of newestFirst.reverse()) subjects.addPayment(row, movementsOf(row).map(rowOf))
  for (const row of statement ?? []) if (isIn(row)) subjects.addTold(row)
  if (!statement) for (const subject of subjects.all) subject.told = subject.moves
  for (const row of books) subjects.addBooked(row)
  // Without a statement, nobody has to book what the fixtures brought, or what came back and so left nothing behind.
  const isLeftOut = ({ payment, books }: Subject) =>
    !statement &&
    books.length === 0 &&
    (payment!.status === 'FAILED' || tables.isOfBase('payments', payment!.transaction_id))

  const differences: Difference[] = []
  const claimed: Claim[] = []
  let matched = 0
  for (const subject of subjects.all) {
    const rows = latestRows(subject)
    const claims = rows
      .flatMap((row) => claimsOf(row, subject))
      .filter(({ at }) => at === undefined || isIn({ booked_at: at }))
    claimed.push(...claims)
    const before = differences.length
    if (!isLeftOut(subject))
      for (const direction of ['debit', 'credit'] as const)
        differences.push(
          ...compareDirection(
            direction,
            subject,
            claims.filter((one) => one.direction === direction),
            subject.told.filter((one) => one.direction === direction),
          ),
        )
    const wrong = statement
      ? undefined
      : rows.find((row) => row.status !== undefined && !agrees(row, subject) && !row.direction)
    if (differences.length === before && wrong && subject.payment) {
      const message = `${nameOf(subject)}: the books say ${wrong.status}, but it is ${subject.payment.status}.`
      differences.push({ kind: 'status', books: wrong, statement: null, message })
    }
    if (differences.length === before && (!statement || claims.length > 0)) matched += rows.length
  }
  const told = [...subjects.all].flatMap((one) => (isLeftOut(one) ? [] : one.told))
  return {
    matched,
    differences,
    books: sumsOf(claimed),
    statement: sumsOf(
      told.map(({ direction, amount }) => ({ direction, paise: paiseOf(amount)! })),
    ),
  }
}
