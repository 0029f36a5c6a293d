import * as z from 'zod'
import { named, rowTimes, Uuid } from './formats.ts'
import { isPartlyMasked } from './mask.ts'
import { envelope } from './paging.ts'

const name = () =>
  z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, {
    error: 'must be 1 to 63 of a-z, 0-9 and -, and must not start with -',
  })

export const ClientName = name()

export const SnapshotName = name()

/** The access token of a client: any text that an Authorization header may contain. */
export const AccessToken = z.string().regex(/^[\x21-\x7e]{1,256}$/, {
  error: 'must be 1 to 256 visible ASCII characters',
})

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

export const ClientRow = z.strictObject({
  client: ClientName,
  client_id: Uuid,
  access_token: z.string(),
  name: z.string(),
  email: z.string(),
  email_verified: z.boolean(),
  status: z.enum(['active', 'inactive']),
  check_kyc: z.boolean(),
  ...rowTimes,
})
export type ClientRow = z.infer<typeof ClientRow>

/** Interface 2.6. */
export const ClientProfile = named('ClientProfile', {
  client_id: Uuid,
  email: z.string(),
  email_verified: z.boolean(),
  name: z.string(),
  status: sandboxDefault(z.enum(['active', 'inactive'])),
  check_kyc: z.boolean(),
  ...rowTimes,
  ClientConfigurations: sandboxDefault(z.array(z.looseObject({})), z.array(z.unknown())),
})

export const GetClientProfileResponse = envelope('GetClientProfileResponse', 200, ClientProfile)
