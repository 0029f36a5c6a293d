// tables/: the tables of a client: their rows and indexes, lists and events of resources, and what every part of a world
// is made with (world-context.ts).

import { pagePastTheEnd } from '../assumptions/lists.ts'
import type { Assumed } from '../assumptions/readings.ts'
import { LAST_INSTANT } from '../model/formats.ts'
import { type ListQuery, pagesOf } from '../model/paging.ts'
import { type Entry, isBefore, type Table } from '../store/table.ts'
import type { Clock } from '../time/clock.ts'
import { notFound } from './world-context.ts'

type Listed<R> = Pick<Table<R>, 'count' | 'page'>

/** The query of a list without pages. */
export const WHOLE_LIST: ListQuery = { page: 1, limit: Number.MAX_SAFE_INTEGER }

type MayLag = { visible_at?: string }

/** A new row, which reads find after a lag, ms. */
export function withLag<R extends MayLag>(row: R, lag: number | undefined, clock: Clock): R {
  if (!lag) return row
  return { ...row, visible_at: new Date(Math.min(clock.now() + lag, LAST_INSTANT)).toISOString() }
}

export const isVisible = ({ visible_at }: MayLag, clock: Clock): boolean =>
  visible_at === undefined || visible_at <= clock.iso()

/** A table without the rows that reads do not find yet. */
export function visibleRows<R extends MayLag>(table: Listed<R>, clock: Clock): Listed<R> {
  const rows = (index: string, key: string) =>
    table.page(index, key, 0, Number.POSITIVE_INFINITY).filter(({ row }) => isVisible(row, clock))
  if (rows('lagging', 'all').length === table.count('lagging', 'all')) return table
  return {
    count: (index, key) => rows(index, key).length,
    page: (index, key, offset, limit) => rows(index, key).slice(offset, offset + limit),
  }
}

/** Two indexes of a table as one; no row has the same key in both. */
export const joinedIndexes = <R>(table: Listed<R>, ...both: [string, string]): Listed<R> => ({
  count: (_, key) => both.reduce((sum, index) => sum + table.count(index, key), 0),
  page: (_, key, offset, limit) =>
    both
      .flatMap((index) => table.page(index, key, 0, offset + limit))
      .sort((a, b) => (isBefore(a, b) ? 1 : -1))
      .slice(offset, offset + limit),
})

export function listPage<R>(
  table: Listed<R>,
  index: string,
  key: string,
  { page, limit }: ListQuery,
  first: 'newest' | 'oldest',
): { total: number; entries: Entry<R>[] } {
  const total = table.count(index, key)
  const offset = (page - 1) * limit
  if (first === 'newest') return { total, entries: table.page(index, key, offset, limit) }
  // The same rows, counted from the other end.
  const left = Math.max(0, Math.min(limit, total - offset))
  const entries = left === 0 ? [] : table.page(index, key, total - offset - left, left).reverse()
  return { total, entries }
}

/** Throws `not_found` for a page after the last one, if the client's readings say that it does not exist. */
export function checkPage(assumed: Assumed, { page, limit }: ListQuery, total: number) {
  const isPastTheEnd = page > 1 && page > pagesOf(total, limit)
  if (isPastTheEnd && assumed.get(pagePastTheEnd) === 'not_found')
    throw notFound('page', String(page))
}
