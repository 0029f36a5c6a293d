import * as z from 'zod'
import { operation } from '../../http/operation.ts'
import { Uuid } from '../../model/formats.ts'
import { pagesOf, success } from '../../model/paging.ts'
import {
  CreateTransaction,
  ListTransactionsResponse,
  TransactionQuery,
  TransactionsResponse,
} from '../../model/transaction.ts'
import { checkPage } from './check-page.ts'

/** The endpoints that create a payment and read payments as transactions. */
export const transactionOperations = [
  operation({
    id: 'createTransaction',
    method: 'POST',
    url: '/transaction',
    tag: 'Transactions',
    summary: 'Initiate a payment from one user to another user’s bank account',
    body: CreateTransaction,
    status: 200,
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
    method: 'GET',
    url: '/transaction',
    tag: 'Transactions',
    summary: 'List transactions, newest first',
    query: TransactionQuery,
    status: 200,
    response: ListTransactionsResponse,
    handle(world, { query }) {
      const { payments, views } = world.payouts
      const { total, entries } = payments.history(query)
      checkPage(world, query, total)
      const { page, limit } = query
      return success(200, 'Transactions fetched successfully', {
        total_transation: total,
        page,
        limit,
        total_pages: pagesOf(total, limit),
        transactions: entries.map(views.transaction),
      })
    },
  }),
  operation({
    id: 'getTransaction',
    method: 'GET',
    url: '/transaction/:transaction_id',
    tag: 'Transactions',
    summary: 'Read one transaction',
    params: z.object({ transaction_id: Uuid }),
    status: 200,
    response: TransactionsResponse,
    handle({ payouts: { payments, views } }, { params }) {
      const found = payments.ofId(params.transaction_id).map(views.transaction)
      return success(200, 'Transaction fetched successfully', found)
    },
  }),
]
