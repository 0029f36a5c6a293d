import * as z from 'zod'
import { named } from './formats.ts'

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

export const searchQuery = (defaultLimit: number) =>
  listQuery(defaultLimit).extend({ search: SearchText })

const Instant = z.iso.datetime({ offset: true }).optional()
/** The query of what happened between two instants, both included. */
export const Between = z.object({ since: Instant, until: Instant })
export type Between = z.infer<typeof Between>

export type ListQuery = { page: number; limit: number }

export const listFields = { page: z.int().min(1), limit: z.int().min(1) }

export const pageFields = { total: z.int(), ...listFields, total_pages: z.int() }

export const pageOf = ({ page, limit }: ListQuery, total: number) => ({
  total,
  page,
  limit,
  total_pages: pagesOf(total, limit),
})

export const pagesOf = (total: number, limit: number): number => Math.ceil(total / limit)

/** The envelope of most responses; `id` names the schema. */
export const envelope = <C extends number, T extends z.ZodType>(id: string, code: C, data: T) =>
  named(id, { status: z.literal(true), code: z.literal(code), message: z.string(), data })

/** What a provider said to a check, as metadata; `id` names the schema. */
export const checkMetadata = <T extends z.ZodType>(id: string, data: T) =>
  named(id, {
    statusCode: z.int(),
    response: z.strictObject({ status: z.boolean(), code: z.int(), message: z.string(), data }),
  })

export const success = <C extends number, T>(code: C, message: string, data: T) => ({
  status: true as const,
  code,
  message,
  data,
})

type Order = (value: unknown) => unknown
type Def = {
  type: string
  shape?: Record<string, z.ZodType>
  element?: z.ZodType
  innerType?: z.ZodType
}

function orderOf(schema: z.ZodType): Order | undefined {
  const { type, shape = {}, element, innerType } = schema.def as unknown as Def
  if (innerType) return orderOf(innerType)
  if (type === 'array') {
    const order = orderOf(element!)
    return order && ((list) => (Array.isArray(list) ? list.map(order) : list))
  }
  const fields = Object.entries(shape).map(([name, field]) => [name, orderOf(field)] as const)
  if (type !== 'object' || fields.length === 0) return undefined
  return (value) => {
    if (typeof value !== 'object' || value === null) return value
    const row = value as Record<string, unknown>
    const ordered: Record<string, unknown> = {}
    for (const [name, order] of fields) ordered[name] = order ? order(row[name]) : row[name]
    return ordered
  }
}

/** Sorts fields at any depth in the order of a strict schema, so that equal rows have equal JSON. */
export function inOrderOf(schema: z.ZodType): (value: object) => object {
  return (orderOf(schema) ?? ((value) => value)) as (value: object) => object
}
