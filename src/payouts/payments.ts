import { listOrder } from '../assumptions/lists.ts'
import {
  processingStatus,
  referenceId,
  type UtrSystem,
  unverifiedAccount,
  userHistory,
  utrForm,
  utrOfSuccess,
} from '../assumptions/payments.ts'
import { statusWords, unknownId } from '../assumptions/responses.ts'
import type { BankAccountRow } from '../model/bank-account.ts'
import { type ErrorCode, SandboxError } from '../model/errors.ts'
import { quoteInput } from '../model/mask.ts'
import type { ListQuery } from '../model/paging.ts'
import {
  failureOf,
  nextStatuses,
  type PaymentRow,
  type PaymentStatus,
  paiseOf,
  type SetBy,
  stepsOf,
  UTR_TIMER,
  withStep,
} from '../model/payment.ts'
import type { CreateTransaction } from '../model/transaction.ts'
import { oneOf } from '../model/words.ts'
import type { TransactionStep } from '../scenarios/compiled.ts'
import { isVisible, joinedIndexes, listPage, visibleRows } from '../tables/list-page.ts'
import {
  drawUntil,
  entryIn,
  fieldError,
  newIdIn,
  notFound,
  type WorldContext,
} from '../tables/world-context.ts'
import { createLifecycle, type Transition } from './lifecycle.ts'
import type { Users } from './users.ts'
import { apiStatus } from './views.ts'

export type Parties = { payer_id: string; account: BankAccountRow }

const reject = (code: ErrorCode, field: string, message: string, advice: string) => {
  throw new SandboxError(code, `${message} ${advice}`, fieldError(field, code, message))
}

/** The error of a second payment. A caller that lost the first response must not pay twice because of it. */
function duplicateReference(
  { transaction_id, status }: PaymentRow,
  { assumed }: Pick<WorldContext, 'assumed'>,
): SandboxError {
  const shown = apiStatus(status, assumed.get(processingStatus))
  const used = `was used for transaction ${transaction_id}, which is ${shown}`
  return new SandboxError(
    'duplicate_reference',
    `This reference_id ${used}. If you are retrying, do not pay again: read it with GET /transaction/${transaction_id}. Only a different payment may have a different reference_id.`,
    { errors: [{ field: 'reference_id', code: 'duplicate', message: used }] },
  )
}

export type PaymentCheckDeps = Pick<WorldContext, 'store' | 'assumed'> & {
  users: Users
  checkKyc: () => boolean
}

export const hasSuccessfulKyc = ({ kyc }: WorldContext['store']['tables'], userId: string) =>
  kyc
    .page('user', userId, 0, Number.POSITIVE_INFINITY)
    .some(({ row }) => row.kyc_status === 'success')

/** Returns the function that rejects a payment with the errors of POST /transaction, or returns its parties. */
export function createPaymentCheck({ store, assumed, users, checkKyc }: PaymentCheckDeps) {
  const { payments, bank_accounts } = store.tables

  return (input: CreateTransaction): Parties => {
    const { from_user_id, to_user_id, benif_bank_id, reference_id } = input
    const { id: payer_id } = users.get(from_user_id, 'from_user_id')
    users.get(to_user_id, 'to_user_id')
    const { row: account } = entryIn(bank_accounts, 'bank account', benif_bank_id, 'benif_bank_id')
    if (from_user_id === to_user_id)
      reject(
        'same_user',
        'to_user_id',
        'from_user_id and to_user_id are the same user.',
        'Pay to another user.',
      )
    if (account.user_id !== to_user_id)
      reject(
        'bank_user_mismatch',
        'benif_bank_id',
        `The bank account ${benif_bank_id} does not belong to user ${to_user_id}.`,
        'Use an account of the receiver.',
      )
    if (account.bank_status !== 'success' && assumed.get(unverifiedAccount) === 'refused')
      reject(
        'bank_not_verified',
        'benif_bank_id',
        `The bank account ${benif_bank_id} is ${assumed.get(statusWords).bank[account.bank_status]}.`,
        'Use one with bank_status success.',
      )
    if (checkKyc() && !hasSuccessfulKyc(store.tables, from_user_id))
      throw new SandboxError(
        'kyc_required',
        `User ${from_user_id} has no successful KYC record. Submit one with POST /kyc first.`,
      )
    const earlier =
      reference_id === undefined || !assumed.get(referenceId).isUnique
        ? undefined
        : payments.first('reference', reference_id)
    if (earlier) throw duplicateReference(earlier.row, { assumed })
    return { payer_id, account }
  }
}

export const DAY_MS = 86_400_000
// India's time is UTC+5:30, without daylight saving.
export const INDIA_MS = 19_800_000
// A UTR ends with eight digits.
const SERIALS = 100_000_000

/** India's day at an instant (ms), counted since 1970. */
export const indiasDay = (ms: number): number => Math.floor((ms + INDIA_MS) / DAY_MS)

/** The part of a UTR before its eight digits, on a day counted since 1970. */
export function headsOf(day: number): Readonly<Record<UtrSystem, string>> {
  const date = new Date(day * DAY_MS).toISOString().slice(0, 10)
  const year = date.slice(0, 4)
  const dayOfYear = String(day - Date.UTC(Number(year), 0, 1) / DAY_MS + 1).padStart(3, '0')
  return {
    imps: year.slice(3) + dayOfYear,
    neft: `N${dayOfYear}${year.slice(2)}00`,
    rtgs: `HDFCR5${date.replaceAll('-', '')}`,
  }
}

/** Returns the function that makes the UTR of an amount: its form and India's date, and a unique number of eight digits. */
function createUtrSeries({ store, clock, random, assumed }: WorldContext) {
  let day = Number.NaN
  let heads = headsOf(0)
  return (paise: number): string => {
    const today = indiasDay(clock.now())
    if (today !== day) {
      heads = headsOf(today)
      day = today
    }
    const head = heads[assumed.get(utrForm)(paise)]
    const isFree = (utr: string) => store.tables.payments.count('utr', utr) === 0
    // A factor coprime to 10 maps the running number to eight digits that look random and are unique. Of a large
    // number only the last eight digits count, and their product is exact.
    const serial = () => ((random.next() % SERIALS) * 48_271) % SERIALS
    return drawUntil(isFree, () => head + String(serial()).padStart(8, '0'))
  }
}

/** The UTRs of successful payments: with the status or by a later timer, as the reading says. */
export function createUtrs(context: WorldContext) {
  const { store, clock, scheduler, assumed } = context
  const newUtr = createUtrSeries(context)

  scheduler.handle(UTR_TIMER, ({ resource_id }) => {
    const row = store.tables.payments.get(resource_id!)
    // The payment was reversed, or has a UTR.
    if (row?.status !== 'SUCCESS' || row.utr !== null) return false
    const next = { ...row }
    next.utr = newUtr(row.paise)
    next.earlier = withStep(row.earlier, 'SUCCESS', row.updated_at)
    next.updated_at = clock.iso()
    store.put('payments', next)
    return undefined
  })

  return {
    /** The UTR that a payment has from its SUCCESS on. */
    atSuccess: ({ paise }: PaymentRow) => (assumed.get(utrOfSuccess) === 0 ? newUtr(paise) : null),
    /** Schedules the UTR of a payment that has just succeeded without one. */
    schedule({ transaction_id, status, utr }: PaymentRow) {
      if (status !== 'SUCCESS' || utr !== null) return
      scheduler.schedule({
        due_at: clock.now() + assumed.get(utrOfSuccess),
        kind: UTR_TIMER,
        resource_id: transaction_id,
        payload: {},
      })
    },
  }
}

/** The steps of a payment that no scenario rule matches (defaults: Transactions and history). */
const DEFAULT_STEPS: readonly TransactionStep[] = [
  { status: 'PENDING', after_ms: 0 },
  { status: 'PROCESSING', after_ms: 1_000 },
  { status: 'SUCCESS', after_ms: 2_000 },
]
const DEFAULT_REASON = 'beneficiary_bank_failure'

type Step = TransactionStep & { set_by?: SetBy }
type PaymentTransition = Transition<Step>

const payloadOf = ({ after_ms: _, ...payload }: Step): PaymentTransition => payload

const failureBy = ({ status: _, reason = DEFAULT_REASON, ...more }: PaymentTransition) =>
  failureOf(reason, more)

/** The possible next statuses of a payment, as the end of an error message. */
function hintFor(from: PaymentStatus, hasLateSuccess: boolean): string {
  const open = nextStatuses('transaction', from, hasLateSuccess)
  return open.length === 0 ? '. This status is final.' : `. It may become ${oneOf(open)}.`
}

/** Payments: stored once, shown as transactions and as history (defaults: Transactions and history). */
export function createPayments(context: WorldContext & PaymentCheckDeps) {
  const { store, clock, random, assumed, users } = context
  const { payments } = store.tables
  const checkInput = createPaymentCheck(context)
  const utrs = createUtrs(context)
  const { begin, ...lifecycle } = createLifecycle<'transaction', Step>(context, {
    kind: 'transaction',
    noun: 'transaction',
    statusOf: ({ status }) => status,
    apply: applyTransition,
    onEntered: utrs.schedule,
    payloadOf,
    hintFor,
  })

  /** A drawn id that no payment has in an index. */
  const newIn = (index: string, draw: () => string) =>
    drawUntil((id) => payments.count(index, id) === 0, draw)

  /** The id of a payment without a reference; no payment has it as its reference. */
  const newTransactionId = () => newIn('reference', () => `TXN${random.digits(15)}`)

  /** The row after a transition: SUCCESS sets the UTR, FAILED the failure; a reversed payment retains its UTR. */
  function applyTransition(row: PaymentRow, transition: PaymentTransition): PaymentRow {
    const next = { ...row }
    next.status = transition.status
    if (transition.status === 'SUCCESS') next.utr = row.utr ?? utrs.atSuccess(row)
    next.failure = transition.status === 'FAILED' ? failureBy(transition) : null
    if (transition.set_by) next.set_by = transition.set_by
    next.updated_at = clock.iso()
    const was = stepsOf(row).at(-1)!
    if (was.status !== 'PENDING') next.earlier = withStep(row.earlier, was.status, was.at)
    return next
  }

  function make(
    input: CreateTransaction,
    type: PaymentRow['transaction_type'],
    { payer_id, account }: Parties,
    steps: readonly TransactionStep[],
    { lag, setBy }: { lag?: number | undefined; setBy?: SetBy } = {},
  ) {
    const now = clock.iso()
    const transaction_id = newIdIn(payments, random.uuid)
    const row: PaymentRow = {
      transaction_id,
      id: newIn('history', random.uuid),
      reference_id: input.reference_id ?? null,
      client_transaction_id: input.reference_id ?? newTransactionId(),
      partner_transaction_id: newIn('partner', () => `PTX${random.digits(15)}`),
      from_user_id: payer_id,
      to_user_id: account.user_id,
      benif_bank_id: account.bank_id,
      account_number: account.account_number,
      ifsc_code: account.ifsc_code,
      account_name: account.account_name,
      bank_status: account.bank_status,
      currency_code: input.currency_code,
      transaction_type: type,
      paise: paiseOf(input.amount)!,
      status: 'PENDING',
      utr: null,
      remark: input.remark ?? '',
      failure: null,
      created_at: now,
      updated_at: now,
      earlier: undefined,
      set_by: setBy,
    }
    return begin(row, steps, lag)
  }

  const visible = () => visibleRows(payments, clock)

  return {
    ...lifecycle,
    /** The payment with this id as a list, as reads find it; throws `not_found` if the reading of `unknown_id` says so. */
    ofId(id: string) {
      const entry = payments.entry(id)
      if (entry && isVisible(entry.row, clock)) return [entry]
      if (assumed.get(unknownId) === 'empty') return []
      throw notFound('transaction', quoteInput(id))
    },
    check: checkInput,
    create: (
      input: CreateTransaction,
      steps = DEFAULT_STEPS,
      parties = checkInput(input),
      lag?: number,
    ) => store.change(() => make(input, 'debit', parties, steps, { lag })),
    /** Creates a payment for a timeline: a `credit` or a payout. */
    createByTimeline: (
      type: PaymentRow['transaction_type'],
      input: CreateTransaction,
      steps = DEFAULT_STEPS,
    ) => store.change(() => make(input, type, checkInput(input), steps, { setBy: 'timeline' })),
    /** One page of all payments that reads find, or only of the debits. */
    history: (query: ListQuery, type?: 'debit') =>
      listPage(visible(), type ? 'type' : 'all', type ?? 'all', query, assumed.get(listOrder)),
    historyOfUser(userId: string, query: ListQuery) {
      users.read(userId)
      const hasBoth = assumed.get(userHistory) === 'both_sides'
      const rows = hasBoth ? joinedIndexes(visible(), 'user', 'other_user') : visible()
      return listPage(rows, 'user', userId, query, assumed.get(listOrder))
    },
  }
}
