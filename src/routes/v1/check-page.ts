import { pagePastTheEnd } from '../../assumptions/lists.ts'
import { type ListQuery, pagesOf } from '../../model/paging.ts'
import { notFound } from '../../tables/world-context.ts'
import type { World } from '../../world/world.ts'

/** Throws `not_found` for a page after the last one, if the client's readings say that it does not exist. */
export function checkPage({ scenarios }: World, { page, limit }: ListQuery, total: number) {
  if (
    page > 1 &&
    page > pagesOf(total, limit) &&
    scenarios.assumptions.get(pagePastTheEnd) === 'not_found'
  )
    throw notFound('page', String(page))
}
