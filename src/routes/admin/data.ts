import * as z from 'zod'
import { adminCall } from '../../http/admin-call.ts'
import { BankAccount } from '../../model/bank-account.ts'
import { Delivery } from '../../model/delivery.ts'
import { Uuid } from '../../model/formats.ts'
import { HistoryRecord } from '../../model/history.ts'
import { KycRecord } from '../../model/kyc.ts'
import { listQuery, pageFields, pageOf } from '../../model/list.ts'
import { PaymentStep, stepsOf } from '../../model/payment.ts'
import { Transaction } from '../../model/transaction.ts'
import { User } from '../../model/user.ts'
import type { World } from '../../world/world.ts'
import { ClockResponse, clockResponse, Timer, timerResponse } from './clock.ts'
import { listDeliveries } from './webhooks.ts'

const ListQuery = listQuery(50)
// A payment never has more events than this.
const MAX_EVENTS = 100

const Payment = Transaction.extend({ history: HistoryRecord }).meta({ id: 'Payment' })
const UserWithAll = User.extend({
  kyc: z.array(KycRecord),
  bank_accounts: z.array(BankAccount),
}).meta({ id: 'UserWithAll' })

type PaymentEntry = ReturnType<World['payments']['get']>
type UserEntry = ReturnType<World['users']['get']>

/** Returns a payment in both views, as its events contain it. */
const paymentResponse = ({ views }: World, entry: PaymentEntry): z.input<typeof Payment> =>
  JSON.parse(views.payment(entry))

const userResponse = (
  { views, kyc, bankAccounts }: World,
  entry: UserEntry,
): z.input<typeof UserWithAll> => ({
  ...JSON.parse(views.user(entry)),
  kyc: kyc.ofUser(entry.id).map((one) => JSON.parse(views.kyc(one))),
  bank_accounts: bankAccounts.ofUser(entry.id).map((one) => JSON.parse(views.bankAccount(one))),
})

/** The calls that read a client's data without calling the service: no rule is counted, no fault happens, no request is logged. */
export const dataCalls = [
  adminCall({
    id: 'readClient',
    summary: 'Return the client of this call: its clock, its scenario and how many records it has',
    response: z
      .strictObject({
        name: z.string(),
        client_id: Uuid,
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
          rules: z.int(),
        }),
      })
      .meta({ id: 'ClientInShort' }),
    handle(world) {
      const { name, clientId, profile, webhooks, scenarios, requests, deliveries } = world
      const { users, kyc, bank_accounts, payments } = world.tables.tables
      return {
        name,
        client_id: clientId,
        status: profile().status,
        check_kyc: profile().check_kyc,
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
          rules: scenarios.pushed().length,
        },
      }
    },
  }),
  adminCall({
    id: 'readUsers',
    summary: 'List users with their KYC records and bank accounts, newest first',
    query: ListQuery,
    response: z
      .strictObject({
        ...pageFields,
        users: z.array(UserWithAll),
      })
      .meta({ id: 'UsersWithAll' }),
    handle(world, { query }) {
      const { total, entries } = world.users.list(query, 'newest')
      return {
        ...pageOf(query, total),
        users: entries.map((entry) => userResponse(world, entry)),
      }
    },
  }),
  adminCall({
    id: 'readUser',
    summary: 'Return a user with their KYC records and bank accounts',
    params: z.object({ id: Uuid }),
    response: UserWithAll,
    errors: ['not_found'],
    handle: (world, { params }) => userResponse(world, world.users.get(params.id)),
  }),
  adminCall({
    id: 'readTransactions',
    summary: 'List payments in both views, newest first',
    query: ListQuery,
    response: z
      .strictObject({
        ...pageFields,
        transactions: z.array(Payment),
      })
      .meta({ id: 'Payments' }),
    handle(world, { query }) {
      const { total, entries } = world.payments.list(query, 'newest')
      return {
        ...pageOf(query, total),
        transactions: entries.map((entry) => paymentResponse(world, entry)),
      }
    },
  }),
  adminCall({
    id: 'readTransaction',
    summary:
      'Return a payment with its status history, its events with all attempts, and its pending timers',
    params: z.object({ id: Uuid }),
    response: z
      .strictObject({
        transaction: Payment,
        // The statuses that it has had and when each began, oldest first.
        steps: z.array(PaymentStep),
        deliveries: z.array(Delivery),
        timers: z.array(Timer),
      })
      .meta({ id: 'PaymentWithAll' }),
    errors: ['not_found'],
    handle(world, { params: { id } }) {
      const entry = world.payments.get(id)
      const query = { page: 1, limit: MAX_EVENTS, resource_id: entry.id }
      return {
        transaction: paymentResponse(world, entry),
        steps: stepsOf(entry.row),
        deliveries: listDeliveries(world, query).deliveries,
        timers: world.scheduler.ofResource(entry.id).map(timerResponse),
      }
    },
  }),
]
