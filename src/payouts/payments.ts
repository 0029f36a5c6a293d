import type { BankAccountRow } from '../model/bank-account.ts'
import { type ErrorCode, SandboxError } from '../model/errors.ts'
import type { ListQuery } from '../model/list.ts'
import { paiseOf } from '../model/money.ts'
import {
  canTransition,
  failureOf,
  type PaymentRow,
  type PaymentStatus,
  transitionsText,
} from '../model/payment.ts'
import { API_STATUS, type CreateTransaction } from '../model/transaction.ts'
import type { TransactionStep } from '../scenarios/compiled.ts'
import { fieldError, notFound, type WorldContext } from '../tables/world-context.ts'
import type { Users } from './users.ts'

/** The steps of a payment that no scenario rule matches (defaults: Transactions and history). */
const DEFAULT_STEPS: readonly TransactionStep[] = [
  { status: 'PENDING', after_ms: 0 },
  { status: 'PROCESSING', after_ms: 1_000 },
  { status: 'SUCCESS', after_ms: 2_000 },
]
const DEFAULT_REASON = 'beneficiary_bank_failure'
const DAY_MS = 86_400_000

/** A step without its delay: the payload of its timer. */
type Transition = Omit<TransactionStep, 'after_ms'>

const transitions = new WeakMap<TransactionStep, Transition>()

/** Returns one shared object for all payments that use the step. */
function transitionOf(step: TransactionStep): Transition {
  let transition = transitions.get(step)
  if (!transition) {
    const { after_ms: _, ...rest } = step
    transition = rest
    transitions.set(step, transition)
  }
  return transition
}

const failureBy = ({ status: _, reason = DEFAULT_REASON, ...more }: Transition) =>
  failureOf(reason, more)

/** The payer and the account of the receiver. */
type Parties = { payer_id: string; account: BankAccountRow }

/** The event of a status: `transaction.success` for SUCCESS. */
export const eventOf = (status: PaymentStatus) => `transaction.${status.toLowerCase()}`

/** The error of a second payment. A caller that lost the first response must not pay twice because of it. */
function duplicateReference({ transaction_id, status }: PaymentRow): SandboxError {
  const used = `was used for transaction ${transaction_id}, which is ${API_STATUS[status]}`
  return new SandboxError(
    'duplicate_reference',
    `This reference_id ${used}. If you are retrying, do not pay again: read it with GET /transaction/${transaction_id}. Only a different payment may have a different reference_id.`,
    { errors: [{ field: 'reference_id', code: 'duplicate', message: used }] },
  )
}

/** Payments: stored once, shown as transactions and as history (defaults: Transactions and history). */
export function createPayments(context: WorldContext & { users: Users; checkKyc: () => boolean }) {
  const { store, clock, random, scheduler, events, users, checkKyc } = context
  const { payments, bank_accounts, kyc } = store.tables

  // The first four digits of a UTR, and their day, counted since 1970.
  let utrDay = Number.NaN
  let utrHead = ''

  /** 12 digits: the year's last digit, the day of the year, and a series that does not repeat. */
  function newUtr(): string {
    const today = Math.floor(clock.now() / DAY_MS)
    if (today !== utrDay) {
      const year = new Date(today * DAY_MS).getUTCFullYear()
      const dayOfYear = today - Date.UTC(year, 0, 1) / DAY_MS + 1
      utrHead = `${year % 10}${String(dayOfYear).padStart(3, '0')}`
      utrDay = today
    }
    // A factor coprime to 10 maps the running number to eight digits that look random and are unique.
    const serial = (random.next() * 48_271) % 100_000_000
    return `${utrHead}${String(serial).padStart(8, '0')}`
  }

  /** The id of a payment without a reference; no payment has it as its reference. */
  function newTransactionId(): string {
    const id = `TXN${random.digits(15)}`
    return payments.findUnique('reference', id) ? newTransactionId() : id
  }

  function checkInput(input: CreateTransaction): Parties {
    const { from_user_id, to_user_id, benif_bank_id, reference_id } = input
    const { id: payer_id } = users.get(from_user_id, 'from_user_id')
    users.get(to_user_id, 'to_user_id')
    const account = bank_accounts.get(benif_bank_id)
    if (!account) throw notFound('bank account', benif_bank_id, 'benif_bank_id')
    const reject = (code: ErrorCode, field: string, message: string, advice: string) => {
      throw new SandboxError(code, `${message} ${advice}`, fieldError(field, code, message))
    }
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
    if (account.bank_status !== 'success')
      reject(
        'bank_not_verified',
        'benif_bank_id',
        `The bank account ${benif_bank_id} is ${account.bank_status}.`,
        'Use one with bank_status success.',
      )
    const kycDone = () =>
      kyc
        .page('user', from_user_id, 0, Number.POSITIVE_INFINITY)
        .some(({ row }) => row.kyc_status === 'success')
    if (checkKyc() && !kycDone()) {
      throw new SandboxError(
        'kyc_required',
        `User ${from_user_id} has no successful KYC record. Submit one with POST /kyc first.`,
      )
    }
    const earlier =
      reference_id === undefined ? undefined : payments.findUnique('reference', reference_id)
    if (earlier) throw duplicateReference(earlier.row)
    return { payer_id, account }
  }

  function settle(row: PaymentRow) {
    const entry = store.put('payments', row)
    events.emit(eventOf(row.status), row.transaction_id)
    return entry
  }

  /** The row after a transition: SUCCESS sets the UTR, FAILED the failure; a reversed payment retains its UTR. */
  function applyTransition(row: PaymentRow, transition: Transition): PaymentRow {
    // A copy first, then its fields: several times as fast as both in one literal.
    const next = { ...row }
    next.status = transition.status
    if (transition.status === 'SUCCESS') next.utr = newUtr()
    next.failure = transition.status === 'FAILED' ? failureBy(transition) : null
    next.updated_at = clock.iso()
    if (row.status === 'PROCESSING') next.earlier = { ...row.earlier, PROCESSING: row.updated_at }
    if (row.status === 'SUCCESS') next.earlier = { ...row.earlier, SUCCESS: row.updated_at }
    return next
  }

  function make(
    input: CreateTransaction,
    type: PaymentRow['transaction_type'],
    { payer_id, account }: Parties,
    steps: readonly TransactionStep[],
  ) {
    const first = steps[0]!
    const now = clock.iso()
    const transaction_id = random.uuid()
    const row: PaymentRow = {
      transaction_id,
      id: random.uuid(),
      reference_id: input.reference_id ?? null,
      client_transaction_id: input.reference_id ?? newTransactionId(),
      partner_transaction_id: `PTX${random.digits(15)}`,
      // References to the strings of the user and the account: copies for every payment would need much memory.
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
      // Present from the start: a field that is added later would give each such row a hidden class of its own, which
      // needs more memory than the row.
      earlier: undefined,
    }
    const entry = settle(first.status === 'PENDING' ? row : applyTransition(row, first))
    let due_at = clock.now()
    for (let i = 1; i < steps.length; i++) {
      const step = steps[i]!
      due_at += step.after_ms
      scheduler.schedule({
        due_at,
        kind: 'transaction.step',
        resource_id: transaction_id,
        payload: transitionOf(step),
      })
    }
    return entry
  }

  scheduler.handle('transaction.step', (timer) => {
    const id = timer.resource_id!
    const row = payments.get(id)
    const step = timer.payload as Transition
    // A step that is no valid transition is ignored.
    if (!row || !canTransition(row.status, step.status)) return false
    settle(applyTransition(row, step))
    // Skipped steps do not run later, but a reversal may still follow.
    if (scheduler.isEarly(timer))
      scheduler.cancelAll(
        'transaction.step',
        id,
        ({ status }) => !canTransition(step.status, status as PaymentStatus),
      )
    return undefined
  })

  function get(id: string) {
    const entry = payments.entry(id)
    if (!entry) throw notFound('transaction', id)
    return entry
  }

  const page = (index: string, key: string, { page: number, limit }: ListQuery) => ({
    total: payments.count(index, key),
    entries: payments.page(index, key, (number - 1) * limit, limit),
  })

  return {
    get,
    /** Throws the errors of POST /transaction without changing anything. */
    check: checkInput,
    /** Creates a payment and schedules its steps. */
    create: (
      input: CreateTransaction,
      steps: readonly TransactionStep[] = DEFAULT_STEPS,
      parties = checkInput(input),
    ) => store.change(() => make(input, 'debit', parties, steps)),
    /** Creates an incoming payment, for the `credit` action of a scenario. */
    credit: (input: CreateTransaction, steps: readonly TransactionStep[] = DEFAULT_STEPS) =>
      store.change(() => make(input, 'credit', checkInput(input), steps)),
    /** Sets the status of a payment on request and cancels its scheduled steps. */
    simulate: (id: string, step: Transition) =>
      store.change(() => {
        const { row } = get(id)
        if (!canTransition(row.status, step.status)) {
          throw new SandboxError(
            'invalid_transition',
            `A ${row.status} transaction cannot become ${step.status}. ${transitionsText(row.status)}`,
          )
        }
        scheduler.cancelAll('transaction.step', id)
        return settle(applyTransition(row, step))
      }),
    list: (query: ListQuery) => page('all', 'all', query),
    /** History of the whole client, or only its debits. */
    history: (query: ListQuery, type?: 'debit') =>
      type ? page('type', type, query) : page('all', 'all', query),
    historyOfUser(userId: string, query: ListQuery) {
      users.get(userId)
      return page('user', userId, query)
    },
  }
}

export type Payments = ReturnType<typeof createPayments>
