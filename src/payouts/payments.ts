import { userHistory } from '../assumptions/history.ts'
import { listOrder } from '../assumptions/lists.ts'
import type { ListQuery } from '../model/paging.ts'
import {
  failureOf,
  nextStatuses,
  type PaymentRow,
  type PaymentStatus,
  paiseOf,
  type SetBy,
} from '../model/payment.ts'
import type { CreateTransaction } from '../model/transaction.ts'
import type { TransactionStep } from '../scenarios/compiled.ts'
import { joinedIndexes, listPage } from '../tables/list-page.ts'
import { drawUntil, newIdIn } from '../tables/resource-ids.ts'
import type { WorldContext } from '../tables/world-context.ts'
import { createPaymentCheck, type Parties, type PaymentCheckDeps } from './check-payment.ts'
import { createLifecycle, type Transition } from './lifecycle.ts'
import { createUtrs } from './utr.ts'

/** The steps of a payment that no scenario rule matches (defaults: Transactions and history). */
const DEFAULT_STEPS: readonly TransactionStep[] = [
  { status: 'PENDING', after_ms: 0 },
  { status: 'PROCESSING', after_ms: 1_000 },
  { status: 'SUCCESS', after_ms: 2_000 },
]
const DEFAULT_REASON = 'beneficiary_bank_failure'

type Step = TransactionStep & { set_by?: SetBy }
type PaymentTransition = Transition<Step>

/** The payload of a step's timer. */
const payloadOf = ({ after_ms: _, ...payload }: Step): PaymentTransition => payload

const failureBy = ({ status: _, reason = DEFAULT_REASON, ...more }: PaymentTransition) =>
  failureOf(reason, more)

/** The possible next statuses of a payment, as the end of an error message. */
function hintFor(from: PaymentStatus): string {
  const open = nextStatuses('transaction', from)
  if (open.length === 0) return '. This status is final.'
  const last = open.at(-1)!
  return open.length === 1
    ? `. It may become ${last}.`
    : `. It may become ${open.slice(0, -1).join(', ')} or ${last}.`
}

/** Payments: stored once, shown as transactions and as history (defaults: Transactions and history). */
export function createPayments(context: WorldContext & PaymentCheckDeps) {
  const { store, clock, random, assumed, users } = context
  const { payments } = store.tables
  const checkInput = createPaymentCheck(context)
  const utrs = createUtrs(context)
  const bothSides = joinedIndexes(payments, 'user', 'other_user')
  const lifecycle = createLifecycle<'transaction', Step>(context, {
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
    if (transition.status === 'SUCCESS') next.utr = utrs.atSuccess(row)
    next.failure = transition.status === 'FAILED' ? failureBy(transition) : null
    if (transition.set_by) next.set_by = transition.set_by
    next.updated_at = clock.iso()
    if (row.status === 'PROCESSING') next.earlier = { ...row.earlier, PROCESSING: row.updated_at }
    if (row.status === 'SUCCESS') next.earlier = { SUCCESS: row.updated_at, ...row.earlier }
    return next
  }

  function make(
    input: CreateTransaction,
    type: PaymentRow['transaction_type'],
    { payer_id, account }: Parties,
    steps: readonly TransactionStep[],
    setBy?: SetBy,
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
    return lifecycle.begin(row, steps)
  }

  const page = (index: string, key: string, query: ListQuery, first = assumed.get(listOrder)) =>
    listPage(payments, index, key, query, first)

  return {
    get: lifecycle.get,
    /** Throws the errors of POST /transaction without changing anything. */
    check: checkInput,
    /** Creates a payment and schedules its steps. */
    create: (
      input: CreateTransaction,
      steps: readonly TransactionStep[] = DEFAULT_STEPS,
      parties = checkInput(input),
    ) => store.change(() => make(input, 'debit', parties, steps)),
    /** Creates a payment for a timeline: a `credit` or a payout. */
    createByTimeline: (
      type: PaymentRow['transaction_type'],
      input: CreateTransaction,
      steps: readonly TransactionStep[] = DEFAULT_STEPS,
    ) => store.change(() => make(input, type, checkInput(input), steps, 'timeline')),
    /** Changes the status of a payment on request and cancels its scheduled steps. */
    simulate: lifecycle.simulate,
    /** One page of all payments. */
    list: (query: ListQuery, first?: 'newest') => page('all', 'all', query, first),
    /** History of the whole client, or only its debits. */
    history: (query: ListQuery, type?: 'debit') =>
      type ? page('type', type, query) : page('all', 'all', query),
    historyOfUser(userId: string, query: ListQuery) {
      users.get(userId)
      const listed = assumed.get(userHistory).hasOtherSide ? bothSides : payments
      return listPage(listed, 'user', userId, query, assumed.get(listOrder))
    },
  }
}
