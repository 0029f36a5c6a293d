import * as z from 'zod'
import { sandboxDefault } from './contract.ts'

const MAX_LIMIT = 100

// A page further on than any list goes, and still a number that arithmetic is exact with.
const LAST_PAGE = 10 ** 12

const wholeNumber = (fallback: number, top: number) =>
  z
    .string()
    .regex(/^0*[1-9][0-9]*$/, { error: 'must be a whole number of 1 or more' })
    .default(String(fallback))
    .transform((text) => Math.min(Number(text), top))

/** `page` and `limit` of a list; over 100 a limit is clamped. */
export const listQuery = (defaultLimit: number) =>
  z.object({ page: wholeNumber(1, LAST_PAGE), limit: wholeNumber(defaultLimit, MAX_LIMIT) })

/** Which part of a list is wanted. */
export type ListQuery = { page: number; limit: number }

/** Counts that every list answers with. */
export const listFields = {
  page: z.int().min(1),
  limit: sandboxDefault(z.int().min(1).max(MAX_LIMIT), z.int().min(1)),
}

export const pagesOf = (total: number, limit: number): number => Math.ceil(total / limit)
