import * as z from 'zod'

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
