import { operation } from '../../http/operation.ts'
import { type ListQuery, pagesOf, success } from '../../model/paging.ts'
import type { PaymentRow } from '../../model/payment.ts'
import { HistoryQuery, HistoryResponse, UserHistoryQuery } from '../../model/transaction.ts'
import type { Entry } from '../../store/table.ts'
import type { World } from '../../world/world.ts'
import { checkPage } from './check-page.ts'
import { UserPath } from './users.ts'

type HistoryPage = { total: number; entries: Entry<PaymentRow>[] }

function historyPage(
  world: World,
  query: ListQuery,
  { total, entries }: HistoryPage,
  userId?: string,
) {
  checkPage(world, query, total)
  const { page, limit } = query
  return success(200, 'Transaction history fetched successfully', {
    total_transactions: total,
    page,
    limit,
    total_pages: pagesOf(total, limit),
    transactions: entries.map((entry) => world.payouts.views.history(entry, userId)),
  })
}

/** The endpoints that list payments as transaction history, of the client or of one user. */
export const historyOperations = [
  operation({
    id: 'listTransactionHistory',
    method: 'GET',
    url: '/transaction/history',
    tokenNeeded: true,
    tag: 'Transaction history',
    summary: 'List the client’s payout records, newest first',
    query: HistoryQuery,
    status: 200,
    response: HistoryResponse,
    handle: (world, { query }) =>
      historyPage(world, query, world.payouts.payments.history(query, query.type)),
  }),
  operation({
    id: 'listUserTransactionHistory',
    method: 'GET',
    url: '/transaction/history/user/:userId',
    tokenNeeded: true,
    tag: 'Transaction history',
    summary: 'List one user’s payout records, newest first',
    params: UserPath,
    query: UserHistoryQuery,
    status: 200,
    response: HistoryResponse,
    handle: (world, { params, query }) =>
      historyPage(
        world,
        query,
        world.payouts.payments.historyOfUser(params.userId, query),
        params.userId,
      ),
  }),
]
