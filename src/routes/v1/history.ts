import { operation } from '../../http/operation.ts'
import { successText } from '../../model/envelope-text.ts'
import { HistoryQuery, HistoryResponse, UserHistoryQuery } from '../../model/history.ts'
import { json, listText } from '../../model/json-text.ts'
import { type ListQuery, pagesOf } from '../../model/paging.ts'
import type { PaymentRow } from '../../model/payment.ts'
import type { Entry } from '../../store/table.ts'
import type { World } from '../../world/world.ts'
import { checkPage } from './check-page.ts'
import { UserPath } from './users.ts'

type HistoryPage = { total: number; entries: Entry<PaymentRow>[] }

function historyText(
  world: World,
  query: ListQuery,
  { total, entries }: HistoryPage,
  userId?: string,
) {
  checkPage(world, query, total)
  const { page, limit } = query
  const records = entries.map((entry) => world.views.history(entry, userId))
  const counts = json(
    `"total_transactions":${total},"page":${page},"limit":${limit},"total_pages":${pagesOf(total, limit)}`,
  )
  return successText(
    200,
    'Transaction history fetched successfully',
    json(`{${counts},"transactions":${listText(records)}}`),
  )
}

/** The endpoints that list payments as transaction history, of the client or of one user. */
export const historyOperations = [
  operation({
    id: 'listTransactionHistory',
    tag: 'Transaction history',
    summary: 'List the client’s payout records, newest first',
    query: HistoryQuery,
    status: 200,
    response: HistoryResponse,

    handle: (world, { query }) =>
      historyText(world, query, world.payments.history(query, query.type)),
  }),
  operation({
    id: 'listUserTransactionHistory',
    tag: 'Transaction history',
    summary: 'List one user’s payout records, newest first',
    params: UserPath,
    query: UserHistoryQuery,
    status: 200,
    response: HistoryResponse,

    handle: (world, { params, query }) =>
      historyText(world, query, world.payments.historyOfUser(params.userId, query), params.userId),
  }),
]
