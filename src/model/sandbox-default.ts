import * as z from 'zod'
import { isPartlyMasked } from './mask.ts'

const CONTRACT_SCHEMAS = new WeakMap<z.ZodType, z.ZodType>()
const ANY_TEXT = z.string()

/** Marks a schema as narrower than the contract; `contract` is the schema of the contract (default: any text). */
export function sandboxDefault<T extends z.ZodType>(schema: T, contract: z.ZodType = ANY_TEXT): T {
  CONTRACT_SCHEMAS.set(schema, contract)
  return schema
}

/** The contract's schema of a narrower schema; the difference is a default of the sandbox (docs/assumptions.md). */
export const contractOf = (schema: z.ZodType): z.ZodType | undefined => CONTRACT_SCHEMAS.get(schema)

/** The `status` of a success whose value the contract does not state. */
export const SUCCESS = sandboxDefault(z.literal(true), z.boolean())

/** Any value except undefined. */
export const ANY_VALUE = z.unknown().refine((value) => value !== undefined)

const PARTLY_MASKED = z.string().refine(isPartlyMasked, { error: 'must be partly masked' })

/** A person's number in responses: the last four characters, X for the others. */
export const MaskedNumber = sandboxDefault(
  z.string().regex(/^(?:X{0,4}|X+[\s\S]{4})$/u, {
    error: 'must be masked with X except for the last four characters',
  }),
  PARTLY_MASKED,
)

/** An IFSC in responses: the first four and last three characters, X for the others. */
export const MaskedIfsc = sandboxDefault(
  z.string().regex(/^(?:X{0,7}|[\s\S]{4}X+[\s\S]{3})$/u, {
    error: 'must be masked with X except for the first four and last three characters',
  }),
  PARTLY_MASKED,
)
