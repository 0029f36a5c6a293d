import * as z from 'zod'
import { isPartlyMasked } from './mask.ts'

const CONTRACT_SCHEMAS = new WeakMap<z.ZodType, z.ZodType>()
const ANY_TEXT = z.string()

/** Marks a schema as narrower than the contract, which says no more than `says`: any text unless told. */
export function sandboxDefault<T extends z.ZodType>(schema: T, contract: z.ZodType = ANY_TEXT): T {
  CONTRACT_SCHEMAS.set(schema, contract)
  return schema
}

/** What the contract says where a schema says more; the rest is a default of ours (docs/assumptions.md). */
export const contractOf = (schema: z.ZodType): z.ZodType | undefined => CONTRACT_SCHEMAS.get(schema)

/** Whatever it is, it is there. */
export const ANY_VALUE = z.unknown().refine((value) => value !== undefined)

const PARTLY_MASKED = z.string().refine(isPartlyMasked, { error: 'must be partly masked' })

/** A person's number as answers show it: the last four characters, X for the rest. */
export const MaskedNumber = sandboxDefault(
  z.string().regex(/^(?:X{0,4}|X+[\s\S]{4})$/, {
    error: 'must be masked with X except for the last four characters',
  }),
  PARTLY_MASKED,
)

/** An IFSC as answers show it: the first four and last three characters, X between. */
export const MaskedIfsc = sandboxDefault(
  z.string().regex(/^(?:X{0,7}|[\s\S]{4}X+[\s\S]{3})$/, {
    error: 'must be masked with X except for the first four and last three characters',
  }),
  PARTLY_MASKED,
)
