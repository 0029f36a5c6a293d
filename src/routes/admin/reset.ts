import * as z from 'zod'
import { adminCall } from '../../http/admin-call.ts'
import { RESET_PARTS } from '../../world/world-content.ts'

/** The call that resets clients. */
export const resetCalls = [
  adminCall({
    id: 'reset',
    summary: 'Reset the client to its fixtures, start clock and start seed',
    body: z
      .strictObject({
        parts: z.array(z.enum(RESET_PARTS)).min(1).optional(),
        all: z.boolean().optional(),
      })
      .default({}),
    response: z
      .strictObject({ reset: z.array(z.string()), parts: z.array(z.enum(RESET_PARTS)) })
      .meta({ id: 'ResetResponse' }),
    handle(world, { body }, sandbox) {
      const parts = body.parts ?? [...RESET_PARTS]
      const worlds = body.all ? [...sandbox.clients.values()] : [world]
      sandbox.reset(worlds, parts)
      return { reset: worlds.map(({ name }) => name), parts }
    },
  }),
]
