import * as z from 'zod'
import { VERSION } from '../../config/version.ts'
import { adminCall } from '../../http/admin.ts'
import { Timestamp } from '../../model/text.ts'

const Health = z
  .strictObject({
    status: z.enum(['healthy', 'degraded']),
    version: z.string(),
    uptime_in_seconds: z.int(),
    timestamp: Timestamp,
    message: z.string().optional(),
  })
  .meta({ id: 'Health' })
const Ready = z.strictObject({ ready: z.literal(true), clients: z.int() }).meta({ id: 'Ready' })

const unwritable = (errno: string | undefined) =>
  errno && `The data file cannot be written (${errno}); changes are refused.`

/** Whether the process is up, and whether it can do its work. */
export const healthCalls = [
  adminCall({
    id: 'getHealth',
    method: 'GET',
    url: '/health',
    summary: 'Whether the server listens, and whether its data file can be written',
    open: true,
    response: Health,
    handle(_world, _input, { store, startedAt, outside: { wall } }) {
      const message = store.lostOwnership() ?? unwritable(store.failure)
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
    method: 'GET',
    url: '/ready',
    summary: 'Whether fixtures and data are loaded',
    open: true,
    response: Ready,
    // The sandbox is opened before it is served: one that answers is ready.
    handle: (_world, _input, { worlds }) => ({ ready: true as const, clients: worlds.size }),
  }),
]
