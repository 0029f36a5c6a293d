import * as z from 'zod'
import { adminCall } from '../../http/admin-call.ts'
import { BankAccount, BankStatus } from '../../model/bank-account.ts'
import { Delivery } from '../../model/delivery.ts'
import { named, Uuid } from '../../model/formats.ts'
import { KycRecord, KycStatus } from '../../model/kyc.ts'
import { RequestInShort } from '../../model/logged-request.ts'
import { maskLogText } from '../../model/mask.ts'
import { Between, type ListQuery, pageFields, pageOf, searchQuery } from '../../model/paging.ts'
import {
  outcomeOf,
  PaymentFailure,
  PaymentOutcome,
  PaymentStatus,
  PaymentStep,
  rupeesOf,
  stepsOf,
} from '../../model/payment.ts'
import { betweenTest, searchTest } from '../../model/search.ts'
import { Summary } from '../../model/summary.ts'
import { HistoryRecord, Transaction } from '../../model/transaction.ts'
import { User } from '../../model/user.ts'
import type { Payouts } from '../../payouts/payouts.ts'
import { type RequestLogEntry, requestId, requestSummary } from '../../requests/request-log.ts'
import type { Entry, Table } from '../../store/table.ts'
import { listPage, WHOLE_LIST } from '../../tables/list-page.ts'
import type { World } from '../../world/world.ts'
import { ClockResponse, clockResponse, Timer, timerResponse } from './clock.ts'
import { listDeliveries } from './webhooks.ts'

const UserQuery = searchQuery(50).extend({
  kyc: z.enum([...KycStatus.options, 'none']).optional(),
  bank: z.enum([...BankStatus.options, 'any', 'none']).optional(),
})
const PaymentQuery = searchQuery(50).extend({
  status: PaymentStatus.optional(),
  sort: z.enum(['newest', 'oldest', 'largest']).default('newest'),
  outcome: z
    .enum([...PaymentOutcome.options, 'done', 'any'])
    .optional()
    .describe('Of the debits that GET /summary counts; done: not in flight; any: all of these.'),
  ...Between.shape,
  took: z
    .string()
    .regex(/^\d{0,15}-\d{0,15}$/)
    .optional()
    .describe('`1000-10000`: by the ms from creation to status or, in flight, until it settles.'),
})
// A payment never has more events than this.
const MAX_EVENTS = 100

/** A payment in both views, and why it failed, which the reading of `history_metadata` may hide there. */
const Payment = Transaction.extend({
  history: HistoryRecord,
  payer: z.string().nullable().describe('Their e-mail.'),
  failure: PaymentFailure.nullable(),
  outcome: PaymentOutcome,
}).meta({ id: 'Payment' })
const UserWithAll = User.extend({
  kyc: z.array(KycRecord),
  bank_accounts: z.array(BankAccount),
}).meta({ id: 'UserWithAll' })

type PaymentEntry = ReturnType<Payouts['payments']['get']>
type UserEntry = ReturnType<Payouts['users']['get']>

const paymentResponse = (
  { payouts: { views }, tables: { tables } }: World,
  entry: PaymentEntry,
): z.input<typeof Payment> => ({
  ...views.payment(entry),
  payer: tables.users.get(entry.row.from_user_id)?.email ?? null,
  failure: entry.row.failure,
  outcome: outcomeOf(entry.row),
})

const userResponse = (
  { payouts: { views, kyc, bankAccounts }, tables: { tables } }: World,
  entry: UserEntry,
): z.input<typeof UserWithAll> => ({
  ...views.user(entry),
  kyc: kyc.ofUser(entry.id, tables.kyc).map(views.kyc),
  bank_accounts: bankAccounts.ofUser(entry.id, tables.bank_accounts).map(views.bankAccount),
})

/** Whether one of the statuses is the wanted one; `any`: whatever it is; `none`: there is none. */
const hasStatus = (found: readonly string[], wanted: string | undefined): boolean =>
  wanted === undefined ||
  (wanted === 'none' ? found.length === 0 : found.some((one) => wanted === 'any' || one === wanted))

/** One page of the rows that a query finds, newest first or in another order; without them it reads only the rows of the page. */
function pageOfFound<R>(
  table: Table<R>,
  query: ListQuery,
  isFound: ((row: R) => boolean) | undefined,
  compare?: (a: Entry<R>, b: Entry<R>) => number,
): { total: number; entries: Entry<R>[] } {
  const list = (page: ListQuery) => listPage(table, 'all', 'all', page, 'newest')
  if (!isFound && !compare) return list(query)
  const found = list(WHOLE_LIST).entries.filter(({ row }) => isFound?.(row) ?? true)
  if (compare) found.sort(compare)
  const from = (query.page - 1) * query.limit
  return { total: found.length, entries: found.slice(from, from + query.limit) }
}

const hasOutcome = (found: string, wanted: string): boolean =>
  wanted === found || wanted === 'any' || (wanted === 'done' && found !== 'in_flight')

// One template: a search reads every payment.
const textOfPayment = (row: PaymentEntry['row']): string =>
  `${row.reference_id ?? row.client_transaction_id} ${rupeesOf(row.paise)} ${row.status} ${row.transaction_type} ${row.account_name} ${row.remark} ${row.utr ?? ''} ${row.failure?.reason ?? ''} ${row.transaction_id} ${row.from_user_id} ${row.to_user_id}`

const ORDERS = {
  newest: undefined,
  oldest: (a: PaymentEntry, b: PaymentEntry) => a.row.created_at.localeCompare(b.row.created_at),
  largest: (a: PaymentEntry, b: PaymentEntry) => b.row.paise - a.row.paise,
}

const DecidedBy = named('DecidedBy', {
  by: z
    .enum(['rule', 'magic_value', 'default', 'call', 'timeline', 'unknown'])
    .describe(
      'unknown: the log does not have the call that created the payment, or the payment is not from a call.',
    ),
  rule: z
    .string()
    .nullable()
    .describe(
      'The rule that chose its steps; one that only delays or breaks the response does not.',
    ),
  request_id: z.string().nullable().describe('The call that created it, if the log has that call.'),
})

/** The calls of a log that created a payment, named its reference again or read it alone; and the one that created it. */
function requestsOfPayment(
  newestFirst: Iterable<RequestLogEntry>,
  { transaction_id: id, reference_id: reference }: PaymentEntry['row'],
) {
  const referenceText = reference === null ? undefined : JSON.stringify(reference)
  const all: RequestLogEntry[] = []
  let created: RequestLogEntry | undefined
  let lost: RequestLogEntry | undefined
  for (const call of newestFirst) {
    const isCreation = call.operation === 'createTransaction'
    const hasId = call.url.includes(id) || (isCreation && (call.made ?? call.response).includes(id))
    // The response may have been lost; a retry sends the same reference.
    const hasReference =
      isCreation && referenceText !== undefined && call.body.includes(referenceText)
    if (!hasId && !hasReference) continue
    all.push(call)
    // A call that was not valid created nothing.
    if (!isCreation || !call.isDecided || call.replayed) continue
    if (hasId) created = call
    else if (call.status === undefined || call.status >= 300) lost ??= call
  }
  // Of the calls without a response of their own, earlier ones did not arrive: after the one that created it, the reference is in use.
  return { created: created ?? lost, all }
}

function decidedBy(
  { scenarios }: World,
  { set_by: setBy }: PaymentEntry['row'],
  created: RequestLogEntry | undefined,
): z.infer<typeof DecidedBy> {
  const name = created?.stepsRule
  const which = {
    rule: name === undefined ? null : maskLogText(name),
    request_id: created ? requestId(created) : null,
  }
  if (setBy) return { by: setBy, ...which }
  if (!created) return { by: 'unknown', ...which }
  if (name === undefined) return { by: 'default', ...which }
  const isMagic = scenarios.magicValues().some((one) => name === `default: ${one.rule}`)
  return { by: isMagic ? 'magic_value' : 'rule', ...which }
}

/** Whether the client itself made a payment: no credit, and not a row with which it started. */
export const isOwnDebit = ({ tables }: World, row: PaymentEntry['row']): boolean =>
  row.transaction_type === 'debit' && !tables.isOfBase('payments', row.transaction_id)

/** The calls that read a client's data without calling the service: no rule is counted, no fault happens, no request is logged. */
export const dataCalls = [
  adminCall({
    id: 'readClient',
    summary: "Return this client's token, clock, scenario and number of records",
    response: named('ClientInShortResponse', {
      name: z.string(),
      client_id: Uuid,
      access_token: z.string(),
      status: z.string(),
      check_kyc: z.boolean(),
      webhook_url: z.string().nullable(),
      scenario: z.string(),
      clock: ClockResponse,
      counts: z.strictObject({
        users: z.int(),
        kyc: z.int(),
        bank_accounts: z.int(),
        transactions: z.int(),
        deliveries: z.int(),
        requests: z.int(),
        waiting: z
          .int()
          .describe('Calls whose response a rule delays; they are not in `requests` yet.'),
        rules: z.int(),
      }),
    }),
    handle(world) {
      const { name, payouts, webhooks, scenarios, requests } = world
      const { users, kyc, bank_accounts, payments } = world.tables.tables
      const { client_id, access_token, status, check_kyc } = payouts.profile()
      const { deliveries } = webhooks
      return {
        name,
        client_id,
        access_token,
        status,
        check_kyc,
        webhook_url: webhooks.current()?.url ?? null,
        scenario: scenarios.name,
        clock: clockResponse(world),
        counts: {
          users: users.count('all', 'all'),
          kyc: kyc.count('all', 'all'),
          bank_accounts: bank_accounts.count('all', 'all'),
          transactions: payments.count('all', 'all'),
          deliveries: [...deliveries.all()].length + deliveries.recorded().length,
          requests: requests.count,
          waiting: requests.delayed.count,
          rules: scenarios.pushed().length,
        },
      }
    },
  }),
  adminCall({
    id: 'readSummary',
    summary:
      'Sum up payments made since the fixtures, deliveries and calls, optionally between since and until',
    query: Between,
    response: Summary,
    handle: (world, { query }, { summaryOf }) => summaryOf!(world, query),
  }),
  adminCall({
    id: 'readUsers',
    summary:
      'List users with KYC and accounts, newest first; search, or filter by kyc or bank: a status, none, or (bank) any',
    query: UserQuery,
    response: named('UsersWithAllResponse', { ...pageFields, users: z.array(UserWithAll) }),
    handle(world, { query }) {
      const { search, kyc, bank } = query
      const test = searchTest(search)
      const { tables } = world.tables
      const records = (id: string) => world.payouts.kyc.ofUser(id, tables.kyc)
      const accounts = (id: string) => world.payouts.bankAccounts.ofUser(id, tables.bank_accounts)
      const isFound = ({ user_id, email, mobile }: UserEntry['row']) =>
        hasStatus(kyc ? records(user_id).map(({ row }) => row.kyc_status) : [], kyc) &&
        hasStatus(bank ? accounts(user_id).map(({ row }) => row.bank_status) : [], bank) &&
        (test?.(
          [user_id, email, mobile, ...records(user_id).map(({ row }) => row.full_name)].join(' '),
        ) ??
          true)
      const isFiltered = kyc || bank || test
      const { total, entries } = pageOfFound(tables.users, query, isFiltered ? isFound : undefined)
      return { ...pageOf(query, total), users: entries.map((entry) => userResponse(world, entry)) }
    },
  }),
  adminCall({
    id: 'readUser',
    summary: 'Return a user with KYC and accounts',
    params: z.object({ id: Uuid }),
    response: UserWithAll,
    errors: ['not_found'],
    handle: (world, { params }) => userResponse(world, world.payouts.users.get(params.id)),
  }),
  adminCall({
    id: 'readTransactions',
    summary: 'List payments in both views; search, sort, and filter by status, outcome or time',
    query: PaymentQuery,
    response: named('PaymentsResponse', { ...pageFields, transactions: z.array(Payment) }),
    handle(world, { query }) {
      const { status, outcome, search } = query
      const test = searchTest(search)
      const isThen = betweenTest(query)
      const [least, most] = (query.took ?? '').split('-').map(Number)
      const settling = (query.took ? world.clock.timers.pending() : [])
        .filter(({ payload }) => payload['status'] === 'SUCCESS')
        .map(({ resource_id, due_at }) => [resource_id, due_at - world.clock.now()] as const)
      const left = new Map(settling)
      const isAsLong = (row: PaymentEntry['row']) => {
        const took = Date.parse(stepsOf(row).at(-1)!.at) - Date.parse(row.created_at)
        const ms = left.get(row.transaction_id) ?? took
        return ms >= least! && ms < (most || Number.POSITIVE_INFINITY)
      }
      const isFound = (row: PaymentEntry['row']) =>
        (status === undefined || row.status === status) &&
        (outcome === undefined ||
          (isOwnDebit(world, row) && hasOutcome(outcomeOf(row), outcome))) &&
        (isThen?.(stepsOf(row).at(-1)!.at) ?? true) &&
        (query.took === undefined || isAsLong(row)) &&
        (test?.(textOfPayment(row)) ?? true)
      const { total, entries } = pageOfFound(
        world.tables.tables.payments,
        query,
        status || outcome || isThen || test || query.took ? isFound : undefined,
        ORDERS[query.sort],
      )
      const transactions = entries.map((entry) => paymentResponse(world, entry))
      return { ...pageOf(query, total), transactions }
    },
  }),
  adminCall({
    id: 'readTransaction',
    summary: "Return a payment's history, who decided it, its calls, events, attempts and timers",
    params: z.object({ id: Uuid }),
    response: named('PaymentWithAllResponse', {
      transaction: Payment,
      // The statuses that it has had and when each began, oldest first.
      steps: z.array(PaymentStep),
      decided_by: DecidedBy,
      // The calls in the log that concern it, newest first.
      requests: z.array(RequestInShort),
      deliveries: z.array(Delivery),
      timers: z.array(Timer),
    }),
    errors: ['not_found'],
    handle(world, { params: { id } }) {
      const entry = world.payouts.payments.get(id)
      const query = { page: 1, limit: MAX_EVENTS, resource_id: entry.id, search: '' }
      const requests = requestsOfPayment(world.requests.newestFirst(), entry.row)
      return {
        transaction: paymentResponse(world, entry),
        steps: stepsOf(entry.row),
        decided_by: decidedBy(world, entry.row, requests.created),
        requests: requests.all.slice(0, MAX_EVENTS).map(requestSummary),
        deliveries: listDeliveries(world, query).deliveries,
        timers: world.clock.timers.ofResource(entry.id).map(timerResponse),
      }
    },
  }),
]
