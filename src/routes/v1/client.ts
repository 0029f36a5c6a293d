import { operation } from '../../http/operation.ts'
import { GetClientProfileResponse } from '../../model/client.ts'
import { successText } from '../../model/envelope-text.ts'
import { clientProfileText } from '../../model/row-texts.ts'

/** The endpoint that reads the client's profile. */
export const clientOperations = [
  operation({
    id: 'getClientProfile',
    tag: 'Client',
    summary: 'Read the profile of the authenticated client',
    status: 200,
    response: GetClientProfileResponse,

    handle: (world) =>
      successText(200, 'Client profile fetched successfully', clientProfileText(world.profile())),
  }),
]
