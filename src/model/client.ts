import * as z from 'zod'
import { envelope } from './envelope.ts'
import { Timestamp, Uuid } from './formats.ts'
import { sandboxDefault } from './sandbox-default.ts'

const name = () =>
  z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, {
    error: 'must be 1 to 63 of a-z, 0-9 and -, and must not start with -',
  })

/** The name of a client in base paths and admin calls. */
export const ClientName = name()

/** The name of a snapshot. */
export const SnapshotName = name()

/** The access token of a client: any text that an Authorization header may contain. */
export const AccessToken = z.string().regex(/^[\x21-\x7e]{1,256}$/, {
  error: 'must be 1 to 256 visible ASCII characters',
})

/** A client as stored: its profile and its access token. */
export const ClientRow = z.strictObject({
  client: ClientName,
  client_id: Uuid,
  access_token: z.string(),
  name: z.string(),
  email: z.string(),
  email_verified: z.boolean(),
  status: z.enum(['active', 'inactive']),
  check_kyc: z.boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type ClientRow = z.infer<typeof ClientRow>

/** Interface 2.6. */
const ClientProfile = z
  .strictObject({
    client_id: Uuid,
    email: z.string(),
    email_verified: z.boolean(),
    name: z.string(),
    status: sandboxDefault(z.enum(['active', 'inactive'])),
    check_kyc: z.boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
    ClientConfigurations: sandboxDefault(z.array(z.looseObject({})), z.array(z.unknown())),
  })
  .meta({ id: 'ClientProfile' })

export const GetClientProfileResponse = envelope(200, ClientProfile).meta({
  id: 'GetClientProfileAnswer',
})
