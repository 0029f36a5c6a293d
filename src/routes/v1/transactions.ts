import * as z from 'zod'
import { operation } from '../../http/endpoint.ts'
import { Uuid } from '../../model/formats.ts'
import { type ListQuery, pagesOf, success } from '../../model/paging.ts'
import type { PaymentRow } from '../../model/payment.ts'
import {
  CreateTransaction,
  HistoryQuery,
  HistoryResponse,
  ListTransactionsResponse,
  TransactionQuery,
  TransactionsResponse,
  UserHistoryQuery,
} from '../../model/transaction.ts'
import type { Entry } from '../../store/table.ts'
import { checkPage } from '../../tables/list-page.ts'
import type { World } from '../../world/world.ts'
import { UserPath } from './users.ts'

type Found = { total: number; entries: Entry<PaymentRow>[] }

function pageOfPayments<T>(
  world: World,
  query: ListQuery,
  { total, entries }: Found,
  view: (entry: Entry<PaymentRow>) => T,
) {
  checkPage(world.scenarios.assumptions, query, total)
  const { page, limit } = query
  return { page, limit, total_pages: pagesOf(total, limit), transactions: entries.map(view) }
}

function historyPage(world: World, query: ListQuery, found: Found, userId?: string) {
  const view = (entry: Entry<PaymentRow>) => world.payouts.views.history(entry, userId)
  return success(200, 'Transaction history fetched successfully', {
    total_transactions: found.total,
    ...pageOfPayments(world, query, found, view),
  })
}

export const transactionOperations = [
  operation({
    id: 'createTransaction',
    tag: 'Transactions',
    summary: 'Initiate a payment from one user to another user’s bank account',
    body: CreateTransaction,
    response: TransactionsResponse,
    errors: [
      'duplicate_reference',
      'same_user',
      'bank_user_mismatch',
      'bank_not_verified',
      'kyc_required',
    ],
    check: ({ payouts: { payments } }, { body }) => payments.check(body),
    handle({ payouts: { payments, views } }, { body }, { transaction, visible_after_ms }, parties) {
      const payment = payments.create(body, transaction, parties, visible_after_ms)
      return success(200, 'Transaction initiated successfully', [views.transaction(payment)])
    },
  }),
  operation({
    id: 'listTransactions',
    tag: 'Transactions',
    summary: 'List transactions, newest first',
    query: TransactionQuery,
    response: ListTransactionsResponse,
    handle(world, { query }) {
      const { payments, views } = world.payouts
      const found = payments.history(query)
      return success(200, 'Transactions fetched successfully', {
        total_transation: found.total,
        ...pageOfPayments(world, query, found, views.transaction),
      })
    },
  }),
  operation({
    id: 'getTransaction',
    tag: 'Transactions',
    summary: 'Read one transaction',
    params: z.object({ transaction_id: Uuid }),
    response: TransactionsResponse,
    handle({ payouts: { payments, views } }, { params }) {
      const found = payments.ofId(params.transaction_id).map(views.transaction)
      return success(200, 'Transaction fetched successfully', found)
    },
  }),
]

export const historyOperations = [
  operation({
    id: 'listTransactionHistory',
    tokenNeeded: true,
    tag: 'Transaction history',
    summary: 'List the client’s payout records, newest first',
    query: HistoryQuery,
    response: HistoryResponse,
    handle: (world, { query }) =>
      historyPage(world, query, world.payouts.payments.history(query, query.type)),
  }),
  operation({
    id: 'listUserTransactionHistory',
    tokenNeeded: true,
    tag: 'Transaction history',
    summary: 'List one user’s payout records, newest first',
    params: UserPath,
    query: UserHistoryQuery,
    response: HistoryResponse,
    handle(world, { params: { userId }, query }) {
      const found = world.payouts.payments.historyOfUser(userId, query)
      return historyPage(world, query, found, userId)
    },
  }),
]
