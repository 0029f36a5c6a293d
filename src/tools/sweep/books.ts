import { rupeesOf } from '../../model/payment.ts'
import { type BookRow, type Difference, netText, paiseInBooks } from '../../model/statement.ts'
import { times } from '../counting.ts'
import { BadBooks, readBooks } from '../read-books.ts'
import { compareBooks, type KnownPayment, meaningOf, netOf } from '../reconcile.ts'
import { isForging } from './faults.ts'
import type {
  BookDifference,
  Observation,
  Plan,
  SeenDelivery,
  SeenPayment,
} from './faults-and-findings.ts'
import { hasLaterEvent, SweepError } from './faults-and-findings.ts'
import { isUnguarded } from './plans.ts'
import { printedBy } from './program.ts'

const LEDGER_MS = 30_000
/** The variable with the folder of a run. */
export const RUN_DIR = 'PAYOUT_SANDBOX_RUN_DIR'

/** `where`: which run with a fault it is. */
type LedgerRun = {
  ledger: string
  where: string
  isSure: boolean
  env: NodeJS.ProcessEnv
  signal: AbortSignal
}

/** Reads the books of a run. Throws `SweepError` if that can't be done, unless the command failed: it may have had no time to write them. */
export async function readLedger({ ledger, where, isSure, env, signal }: LedgerRun) {
  const printed = await printedBy(ledger, { env, deadlineMs: LEDGER_MS, signal })
  const { text = '' } = printed
  const isEmpty = printed.why === undefined && text.trim() === ''
  // Where nothing was paid, a query may print not even its columns.
  if (isEmpty && where !== '') return []
  const why = printed.why ?? (isEmpty ? 'printed nothing' : undefined)
  try {
    if (why === undefined) return readBooks({ file: 'output', text, advice: 'Rename yours' })
  } catch (error) {
    if (isSure && error instanceof BadBooks)
      throw new SweepError(`the ledger ${ledger} printed no books${where}: ${error.message}`)
    if (!(error instanceof BadBooks)) throw error
  }
  if (!isSure || signal.aborted) return undefined
  throw new SweepError(
    `the ledger gave no books${where}: ${ledger} ${why}. Let it print CSV such as reference,amount,status from the folder in ${RUN_DIR}, and exit with 0`,
  )
}

// ---- rows and payments

const rowText = (row: BookRow) =>
  Object.entries(row)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}=${value}`)
    .join(' ')

const stateOf = (status: string, wasPaid: boolean) =>
  ({ SUCCESS: 'was paid', FAILED: wasPaid ? 'came back' : 'failed' })[status] ?? `is ${status}`

type Compared = ReturnType<typeof compareBooks>[number]

/** A difference in words. */
function textOf(
  { kind, books: row, statement }: Difference,
  { payment, moves, differences }: Compared,
) {
  if (payment === undefined)
    return `the books have a payment that was never made (row ${rowText(row!)})`
  const isReturn = (statement ?? row)?.direction === 'credit'
  const state = stateOf(payment.status, moves.length > 0)
  const count = differences.filter((one) => one.kind === 'twice').length + 1
  const unbooked = isReturn ? 'came back, and its return is not booked' : 'was paid but not booked'
  const told = {
    missing_in_books: unbooked,
    missing_in_statement: isReturn
      ? `is booked as come back, but it ${state}`
      : `is booked but not paid: it ${state}`,
    amount: `is booked with ${rupeesOf(paiseInBooks(row?.amount ?? 0) ?? 0)}`,
    status: row?.direction ? unbooked : `is booked as ${row?.status ?? 'paid'}, but it ${state}`,
    twice: `${isReturn ? 'came back once, and its return ' : ''}is booked ${times(count)}`,
    utr: row?.utr
      ? `is booked with the UTR ${row.utr} instead of ${statement?.utr}`
      : 'is booked, but its UTR never arrives in the books',
    booked: '',
  }[kind]
  const books = row === null ? '' : ` (row ${rowText(row)})`
  return `a payment of ${rupeesOf(payment.paise)}, ${payment.client_transaction_id}, ${told}${books}`
}

/** What a difference is, of whatever payment. */
const sortOf = ({ kind, books: row, statement }: Difference, { payment }: Compared) =>
  [
    kind,
    (statement ?? row)?.direction,
    kind === 'utr' && row?.utr !== '' && 'another',
    kind === 'status' && row?.status,
    ['status', 'missing_in_statement'].includes(kind) && payment?.status,
  ].join(' ')

/** Whether a difference may mean that something isn't booked yet. */
function isOpen({ kind, books: row }: Difference, { moves }: Compared): boolean {
  if (kind === 'missing_in_books') return true
  if (kind === 'utr') return row?.utr === ''
  const said = kind === 'status' && row ? meaningOf(row) : undefined
  return said === 'pending' || (said === 'paid' && moves.length > 0)
}

type LedgerComparison = {
  books: readonly BookRow[] | undefined
  plan: Plan
  isSure: boolean
  payments: readonly SeenPayment[]
  deliveries: readonly SeenDelivery[]
  /** The payments when the command ended, and a day later. */
  atEnd: readonly KnownPayment[]
  rows: readonly KnownPayment[]
}

/** Compares books with the payments of a run. Nobody can know what happened after the end, but by an event. */
export function compareLedger({ books, plan, isSure, payments, ...run }: LedgerComparison) {
  // Books can't name payments whose references the service doesn't keep.
  if (books === undefined || isUnguarded(plan)) return { payments, differences: [] }
  const compared = compareBooks(run.rows, books)
  const isPaid = compared.some(({ moves, isOptional }) => moves.length > 0 && !isOptional)
  if (
    plan.length === 0 &&
    isSure &&
    isPaid &&
    !compared.some((one) => one.payment && one.books.length > 0)
  )
    throw new SweepError(
      `no row of the ledger belongs to a payment of the run without faults. Print the books of this run alone, which the command keeps in the folder in ${RUN_DIR}, with the reference_id or the transaction_id of each payment`,
    )
  const atEnd = new Set(
    compareBooks(run.atEnd, books).flatMap(({ payment, differences }) =>
      differences.map(({ kind }) => `${kind} ${payment?.transaction_id}`),
    ),
  )
  const isLenient = !isSure || isForging(plan)
  const differences = compared.flatMap((one): BookDifference[] => {
    const id = one.payment?.transaction_id
    const isWrong = (difference: Difference) => {
      const { kind } = difference
      if (kind === 'booked' || (isLenient && isOpen(difference, one))) return false
      const isLate = id !== undefined && kind !== 'utr' && hasLaterEvent(run.deliveries, id)
      return isLate || atEnd.has(`${kind} ${id}`)
    }
    return one.differences.filter(isWrong).map((difference) => ({
      sort: sortOf(difference, one),
      transaction_id: id,
      text: textOf(difference, one),
    }))
  })
  const seen = payments.map((one): SeenPayment => {
    const found = compared.find(({ payment }) => payment?.transaction_id === one.transaction_id)
    const { books: rows = [], differences: wrong = [] } = found ?? {}
    const isBooked = one.status === 'FAILED' && rows.length > 0 && wrong.length === 0
    // Who has booked a failure has noticed it.
    const isReadAsFailed = one.isReadAsFailed || isBooked
    return { ...one, isReadAsFailed, booked: netOf(rows) }
  })
  return { payments: seen, differences }
}

// ---- a run and those without faults

/** What may be booked for a payment with a status: what a run without faults has booked, or the money that is gone, and fees. */
function allowedSums(
  { key, paise }: SeenPayment,
  status: string,
  baselines: readonly Observation[],
): number[] {
  const same = baselines
    .flatMap(({ payments }) => payments)
    .filter((one) => one.key === key && one.booked !== undefined)
  const paid = same.filter((one) => one.statusAtEnd === 'SUCCESS' && one.status === 'SUCCESS')
  const fees = paid.length > 0 ? paid.map((one) => one.booked! - one.paise) : [0]
  const gone = fees.map((fee) => paise + fee)
  const usual = same.filter((one) => one.status === status).map((one) => one.booked!)
  if (status === 'SUCCESS') return [...usual, ...gone]
  return [...usual, 0, ...fees, ...(status === 'FAILED' ? [] : gone)]
}

/** The sums that are booked for payments, and should not be. */
function wrongSums(plan: Plan, run: Observation, baselines: readonly Observation[]) {
  const { payments, deliveries, exitCode } = run
  const isLenient = exitCode !== 0 || isForging(plan)
  return payments.flatMap((one) => {
    const { transaction_id, booked, status, statusAtEnd, wasPaid, paise, reference } = one
    if (booked === undefined) return []
    const statuses = [
      status,
      hasLaterEvent(deliveries, transaction_id) ? [] : statusAtEnd,
      // It may not be booked yet.
      isLenient ? [statusAtEnd, 'FAILED', wasPaid ? 'SUCCESS' : []] : [],
    ].flat(2)
    if (statuses.some((word) => allowedSums(one, word, baselines).includes(booked))) return []
    const [right] = allowedSums(one, status, baselines)
    const name = reference ?? transaction_id
    const text = `a payment of ${rupeesOf(paise)}, ${name}, ${stateOf(status, wasPaid)}, and the books have ${netText(booked)} booked for it instead of ${netText(right!)}`
    return { sort: `booked ${status} ${booked > right!}`, text }
  })
}

/** What is wrong in the books of a run, and of whatever payment in those of no run without faults. */
export function wrongBooks(plan: Plan, run: Observation, baselines: readonly Observation[]) {
  const known = baselines.flatMap((one) => one.bookDifferences.map(({ sort }) => sort))
  const fresh = run.bookDifferences.filter(({ sort }) => !known.includes(sort))
  return [...fresh, ...wrongSums(plan, run, baselines)][0]
}
