import * as z from 'zod'
import { adminCall } from '../../http/admin-call.ts'
import { streamEvents } from '../../http/event-stream.ts'

/** The call that streams the events of a client's world. */
export const eventCalls = [
  adminCall({
    id: 'streamEvents',
    summary: 'Stream what happens as server-sent events; Last-Event-ID resumes',
    response: z.string().meta({ id: 'EventStreamResponse' }),
    handle: () => '',
    stream({ feed }, { headers }, reply) {
      reply.hijack()
      const given = headers['last-event-id']
      streamEvents(feed, reply.raw, { lastEventId: given === undefined ? given : String(given) })
    },
  }),
]
