import { z } from 'zod'

const MOST = 100

const wholeNumber = (fallback: number, top?: number) =>
  z
    .string()
    .regex(top ? /^[0-9]+$/ : /^[0-9]{1,15}$/, { error: 'must be a whole number of 1 or more' })
    .refine((text) => Number(text) >= 1, { error: 'must be a whole number of 1 or more' })
    .default(String(fallback))
    .transform((text) => (top ? Math.min(Number(text), top) : Number(text)))

/** `page` and `limit` of a list; over 100 a limit is clamped (defaults: Lists). */
export const listQuery = (defaultLimit: number) =>
  z.object({ page: wholeNumber(1), limit: wholeNumber(defaultLimit, MOST) })

/** Which part of a list is wanted. */
export type ListQuery = { page: number; limit: number }

/** Counts that every list answers with. */
export const listFields = { page: z.int().min(1), limit: z.int().min(1).max(MOST) }

export const pagesOf = (total: number, limit: number): number => Math.ceil(total / limit)
