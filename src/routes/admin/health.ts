import * as z from 'zod'
import { VERSION } from '../../config/package.ts'
import { adminCall } from '../../http/admin-call.ts'
import { named, Timestamp } from '../../model/formats.ts'

const Health = named('HealthResponse', {
  status: z.enum(['healthy', 'degraded']),
  version: z.string(),
  uptime_in_seconds: z.int(),
  timestamp: Timestamp,
  message: z.string().optional(),
})
const Ready = named('ReadyResponse', { ready: z.literal(true), clients: z.int() })

const writeErrorMessage = (errno: string | undefined) =>
  errno && `The data file cannot be written (${errno}); changes are rejected.`

export const healthCalls = [
  adminCall({
    id: 'getHealth',
    summary: 'Report whether the data file is writable',
    open: true,
    response: Health,
    handle(_world, _input, { store, startedAt, runtime: { wall } }) {
      const message = store.lostOwnership() ?? writeErrorMessage(store.failure)
      return {
        status: message ? ('degraded' as const) : ('healthy' as const),
        version: VERSION,
        uptime_in_seconds: Math.floor((wall() - startedAt) / 1_000),
        timestamp: new Date(wall()).toISOString(),
        ...(message && { message }),
      }
    },
  }),
  adminCall({
    id: 'getReady',
    summary: 'Report that fixtures and data are loaded',
    open: true,
    response: Ready,
    // The server listens only after the sandbox is open, so it is always ready here.
    handle: (_world, _input, { clients }) => ({ ready: true as const, clients: clients.size }),
  }),
]
