import * as z from 'zod'
import { adminCall } from '../../http/admin-call.ts'
import { streamEvents } from '../../http/event-stream.ts'

/** The call that streams the events of a client's world. */
export const eventCalls = [
  adminCall({
    id: 'streamEvents',
    summary:
      'Server-sent events: request, waiting, change, timer, delivery, clock, scenario, assumptions, reset, restore; Last-Event-ID resumes the stream',
    response: z.string().meta({ id: 'EventStreamResponse' }),
    handle: () => '',
    stream({ feed }, { headers }, reply) {
      reply.hijack()
      const given = headers['last-event-id']
      streamEvents(feed, reply.raw, { lastEventId: given === undefined ? given : String(given) })
    },
  }),
]
