import type * as z from 'zod'

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

/**
 * Sorts the fields of an object and its nested objects in the order of a strict schema, which has them all, so that
 * equal rows have equal JSON. The fields of a loose schema are not changed.
 */
export function inOrderOf(schema: z.ZodType): (value: object) => object {
  return (orderOf(schema) ?? ((value) => value)) as (value: object) => object
}
