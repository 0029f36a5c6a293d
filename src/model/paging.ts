import * as z from 'zod'

const MAX_LIMIT = 100

// Beyond the last page of any list, and still exact in number arithmetic.
const LAST_PAGE = 10 ** 12

const wholeNumber = (fallback: number, top: number) =>
  z
    .string()
    .regex(/^0*[1-9][0-9]*$/, { error: 'must be a whole number of 1 or more' })
    .default(String(fallback))
    .transform((text) => Math.min(Number(text), top))

/** The query `limit`: a number above `max` counts as `max`. */
export const pageSize = (defaultLimit: number, max: number) => wholeNumber(defaultLimit, max)

/** The query `page` and `limit` of a list; a limit above 100 is clamped to 100. */
export const listQuery = (defaultLimit: number) =>
  z.object({ page: wholeNumber(1, LAST_PAGE), limit: pageSize(defaultLimit, MAX_LIMIT) })

/** The words that a row must contain, in any order. */
export const SearchText = z.string().max(200).default('')

/** `listQuery` with a search. */
export const searchQuery = (defaultLimit: number) =>
  listQuery(defaultLimit).extend({ search: SearchText })

/** The requested part of a list. */
export type ListQuery = { page: number; limit: number }

/** The fields that every list response has. */
export const listFields = {
  page: z.int().min(1),
  limit: z.int().min(1),
}

/** The fields of a list response of the admin API, besides its rows. */
export const pageFields = { total: z.int(), ...listFields, total_pages: z.int() }

/** Returns the values of `pageFields`. */
export const pageOf = ({ page, limit }: ListQuery, total: number) => ({
  total,
  page,
  limit,
  total_pages: pagesOf(total, limit),
})

export const pagesOf = (total: number, limit: number): number => Math.ceil(total / limit)
