import { operation } from '../../http/operation.ts'
import { GetClientProfileResponse } from '../../model/client.ts'
import { success } from '../../model/paging.ts'
import { clientProfile } from '../../payouts/views.ts'

/** The endpoint that reads the client's profile. */
export const clientOperations = [
  operation({
    id: 'getClientProfile',
    method: 'GET',
    url: '/client/profile',
    tokenNeeded: true,
    tag: 'Client',
    summary: 'Read the profile of the authenticated client',
    status: 200,
    response: GetClientProfileResponse,
    handle: (world) =>
      success(200, 'Client profile fetched successfully', clientProfile(world.payouts.profile())),
  }),
]
