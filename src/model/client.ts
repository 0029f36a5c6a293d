import * as z from 'zod'
import { ClientName } from './client-names.ts'
import { envelope } from './envelope.ts'
import { Timestamp, Uuid } from './formats.ts'
import { sandboxDefault } from './sandbox-default.ts'

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
export const ClientProfile = z
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
  id: 'GetClientProfileResponse',
})
