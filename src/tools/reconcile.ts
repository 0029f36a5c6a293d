import { maskNumber } from '../model/mask.ts'
import { type PaymentRow, type PaymentStatus, rupeesOf } from '../model/payment.ts'
import {
  type BookedStatus,
  type BookRow,
  bookedStatus,
  type Days,
  type Difference,
  type Direction,
  netInBooks,
  netText,
  paiseInBooks,
  type Reconciliation,
  type StatementRow,
  sumsOf,
} from '../model/statement.ts'
import { dayTest, indiasDate, movementsOf, rowOf } from '../payouts/statement.ts'
import type { World } from '../world/world.ts'

/** What a row of the books says about money: that it moved in a direction, at an instant if it's known. */
type Claim = { row: BookRow; direction: Direction; paise: number; at: string | undefined }

/** A payment as the sandbox has it; nobody has to book what was there before. */
export type KnownPayment = { payment: PaymentRow; isOptional: boolean }

/** A payment with what the books, the statement and the sandbox say about it. */
type Subject = {
  payment: PaymentRow | undefined
  isOptional: boolean
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

export const meaningOf = ({ status }: BookRow): BookedStatus | undefined =>
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
  const claim = (direction: Direction, at?: string) => ({ row, direction, paise, at })
  const atOf = (wanted: Direction) =>
    subject.moves.find(({ direction }) => direction === wanted)?.booked_at
  const claims =
    row.direction !== undefined
      ? CLAIMED[said].slice(0, 1).map(() => claim(row.direction!, atOf(row.direction!)))
      : agrees(row, subject)
        ? subject.moves.map(({ direction, booked_at }) => claim(direction, booked_at))
        : CLAIMED[said].map((direction) => claim(direction, atOf(direction)))
  // A row about several movements has been booked once, and they happened when they did.
  const { booked_at } = row
  return claims.length === 1 && booked_at ? [{ ...claims[0]!, at: booked_at }] : claims
}

/** The rows that count: of several with different statuses and no direction, those with the last status. */
function latestRows({ books }: Subject): BookRow[] {
  const bySteps = books.filter(({ direction }) => direction === undefined)
  const isDated = bySteps.every(({ booked_at }) => booked_at !== undefined)
  const dateOf = ({ booked_at }: BookRow) => Date.parse(booked_at!)
  const last = isDated ? bySteps.sort((a, b) => dateOf(a) - dateOf(b)).at(-1) : bySteps.at(-1)
  const status = last && meaningOf(last)
  return books.filter((row) => row.direction !== undefined || meaningOf(row) === status)
}

const amounts = ({ amount }: BookRow, theirs: string) =>
  `the books say ${rupeesOf(paiseInBooks(amount)!)}, and the bank ${theirs}`

const isSameUtr = (booked: string, told: string) => booked === told || booked === maskNumber(told)

/** What the books have booked for a payment, if they say it: all rows together, in paise. */
export function netOf(books: readonly BookRow[]): number | undefined {
  const sums = books.flatMap(({ booked }) => (booked === undefined ? [] : netInBooks(booked)!))
  return sums.length === 0 ? undefined : sums.reduce((sum, one) => sum + one)
}

const nameOf = ({ payment, told, books }: Subject) => {
  const reference =
    books[0]?.reference ?? told[0]?.client_transaction_id ?? payment?.client_transaction_id
  return reference === undefined
    ? `Transaction ${books[0]!.transaction_id}`
    : `Payment ${reference}`
}

const dayOf = (at: string) => indiasDate(Date.parse(at))

/** Compares one payment: what the books claim, in the days that count, with the statement's rows. */
function compare(subject: Subject, isIn: (claim: Claim) => boolean, hasStatement: boolean) {
  const { payment, books, moves } = subject
  const differences: Difference[] = []
  function note(
    kind: Difference['kind'],
    text: string,
    row: BookRow | null,
    statement: StatementRow | null,
  ) {
    // A status that is wrong is wrong once, however much money it concerns.
    if (kind === 'status' && differences.some((one) => one.kind === kind)) return
    const message = `${nameOf(subject)}: ${text}.`
    differences.push({ kind, books: row, statement, message })
  }
  const rows = latestRows(subject)
  const all = rows.flatMap((row) => claimsOf(row, subject))
  for (const row of books)
    if (payment && !rows.includes(row) && paiseInBooks(row.amount) !== payment.paise)
      note('amount', amounts(row, rupeesOf(payment.paise)), row, null)
  for (const direction of ['debit', 'credit'] as const) {
    const isOf = (one: { direction: Direction }) => one.direction === direction
    const noun = direction === 'debit' ? 'debit' : 'return'
    const [claims, told, real] = [
      all.filter((one) => isOf(one) && isIn(one)),
      subject.told.filter(isOf),
      moves.filter(isOf).length,
    ]
    for (const [i, { row, paise }] of claims.entries()) {
      const statement = told[i]
      if (statement) {
        if (paiseInBooks(statement.amount) !== paise)
          note('amount', amounts(row, statement.amount), row, statement)
        if (row.utr === undefined || isSameUtr(row.utr, statement.utr ?? '')) continue
        const [mine, theirs] = [row.utr || 'no UTR', statement.utr ?? 'no UTR']
        note('utr', `the books have ${mine}, and the bank has ${theirs}`, row, statement)
      } else if (told.length > 0 && claims.length > real)
        note('twice', `the books have its ${noun} ${claims.length} times`, row, null)
      else if (real > 0 || !payment)
        note('missing_in_statement', `the books have a ${noun} that isn't there`, row, null)
      else if (row.status === undefined)
        note('missing_in_statement', `it's booked as paid, but is ${payment.status}`, row, null)
      else note('status', `the books say ${row.status}, but it is ${payment.status}`, row, null)
    }
    for (const statement of told.slice(claims.length)) {
      const row = claims[0]?.row ?? books[0] ?? null
      const elsewhere = all.find(isOf)
      const really = direction === 'debit' ? 'it was paid' : 'it came back'
      const day = dayOf(statement.booked_at)
      if (claims.length > 0)
        note('twice', `its ${noun} is there ${told.length} times`, row, statement)
      else if (elsewhere?.at) {
        const days = `on ${day}, and the books have it on ${dayOf(elsewhere.at)}`
        note('missing_in_books', `its ${noun} is there ${days}`, row, statement)
      } else if (row)
        note('status', `the books say ${row.status ?? 'paid'}, but ${really}`, row, statement)
      else {
        const what = `its ${noun} of ${statement.amount} on ${day}`
        note('missing_in_books', `the books don't have ${what}`, null, statement)
      }
    }
  }
  const wrong = rows.find((row) => row.status && !row.direction && !agrees(row, subject))
  if (differences.length === 0 && wrong && payment && !hasStatement)
    note('status', `the books say ${wrong.status}, but it is ${payment.status}`, wrong, null)
  const net = netOf(books)
  const moved = payment ? payment.paise * (moves.length % 2) : 0
  if (net !== undefined && (payment || !hasStatement) && net !== moved)
    note(
      'booked',
      `the books have ${netText(net)} booked, and ${rupeesOf(moved)} is gone`,
      books[0]!,
      null,
    )
  const claims = all.filter(isIn)
  const counts = differences.length === 0 && (!hasStatement || claims.length > 0)
  return { differences, claims, matched: counts ? books.length : 0 }
}

/** Puts the rows of both sides together by payment. */
class Subjects {
  readonly all = new Set<Subject>()
  readonly #byId = new Map<string, Subject[]>()
  readonly #byReference = new Map<string, Subject[]>()

  #add(subject: Subject, ids: readonly (string | undefined)[], reference: string | undefined) {
    this.all.add(subject)
    const places = [
      ...ids.map((id) => [this.#byId, id] as const),
      [this.#byReference, reference] as const,
    ]
    for (const [map, name] of places) {
      if (name === undefined) continue
      const same = map.get(name)
      if (same) same.push(subject)
      else map.set(name, [subject])
    }
  }

  addPayment({ payment, isOptional }: KnownPayment) {
    const { transaction_id, partner_transaction_id, client_transaction_id } = payment
    const moves = movementsOf(payment).map(rowOf)
    const subject = { payment, isOptional, moves, told: [], books: [] }
    this.#add(subject, [transaction_id, partner_transaction_id], client_transaction_id)
  }

  addTold(row: StatementRow) {
    const [known] =
      this.#byId.get(row.transaction_id) ?? this.#byId.get(row.partner_transaction_id) ?? []
    if (known) known.told.push(row)
    else
      this.#add(
        { payment: undefined, isOptional: false, moves: [], told: [row], books: [] },
        [row.transaction_id, row.partner_transaction_id],
        row.client_transaction_id,
      )
  }

  /** Several payments can have one reference: each gets a row of the books, first those of the same amount. */
  addBooked(row: BookRow) {
    const { reference, transaction_id: id, amount } = row
    const same =
      (id !== undefined && this.#byId.get(id)) ||
      (reference !== undefined && this.#byReference.get(reference)) ||
      []
    const free = same.filter(
      ({ books }) => !books.some(({ direction }) => direction === row.direction),
    )
    const paise = paiseInBooks(amount)
    const known = free.find(({ payment }) => payment?.paise === paise) || free[0] || same[0]
    if (known) known.books.push(row)
    else {
      const subject = { payment: undefined, isOptional: false, moves: [], told: [], books: [row] }
      this.#add(subject, [id], reference)
    }
  }
}

/** Compares books with a statement, or without one with what really happened: what each payment shows, or row without one. */
export function compareBooks(
  payments: readonly KnownPayment[],
  books: readonly BookRow[],
  statement?: readonly StatementRow[],
  days: Days = {},
) {
  const isIn = dayTest(days)
  const subjects = new Subjects()
  for (const one of payments) subjects.addPayment(one)
  for (const row of statement ?? []) if (isIn(row)) subjects.addTold(row)
  if (!statement) for (const subject of subjects.all) subject.told = subject.moves
  for (const row of books) subjects.addBooked(row)
  const isClaimed = ({ at }: Claim) => at === undefined || isIn({ booked_at: at })
  return [...subjects.all]
    .filter((one) => one.books.length > 0 || !one.isOptional)
    .map((one) => ({ ...one, ...compare(one, isClaimed, statement !== undefined) }))
}

/**
 * Compares the books of a client. What neither moved money nor says so is no difference, and nobody has to book what the
 * fixtures brought.
 */
export function reconcile(
  { tables }: World,
  books: readonly BookRow[],
  statement: readonly StatementRow[] | undefined,
  days: Days = {},
): Reconciliation {
  const newestFirst = tables.tables.payments.page('type', 'debit', 0, Number.POSITIVE_INFINITY)
  const payments = newestFirst.reverse().map(({ row }) => {
    return { payment: row, isOptional: tables.isOfBase('payments', row.transaction_id) }
  })
  const found = compareBooks(payments, books, statement, days)
  const told = found.flatMap((one) => one.told)
  return {
    matched: found.reduce((sum, one) => sum + one.matched, 0),
    differences: found.flatMap((one) => one.differences),
    books: sumsOf(found.flatMap((one) => one.claims)),
    statement: sumsOf(told.map((row) => ({ ...row, paise: paiseInBooks(row.amount)! }))),
  }
}
