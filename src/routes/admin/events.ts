import type { ServerResponse } from 'node:http'
import * as z from 'zod'
import { adminCall } from '../../http/admin-call.ts'
import { COMMON_HEADERS } from '../../http/errors.ts'
import type { Feed, FeedEvent } from '../../world/feed.ts'

export type StreamOptions = {
  /** The id of the last event that the reader received; the stream continues after it. */
  lastEventId?: string | undefined
  /** Real ms between the comments that keep the connection alive and detect a broken one. */
  heartbeatMs?: number
  maxUnread?: number
}

const HEARTBEAT_MS = 15_000
const MAX_UNREAD = 1024 * 1024
// How long a reader waits before it reconnects, real ms.
const RETRY_MS = 1_000

const textOf = ({ id, kind, data }: FeedEvent) => `id: ${id}\nevent: ${kind}\ndata: ${data}\n\n`

/** Sends a client's feed as server-sent events until the reader disconnects, is too slow, or the feed closes. */
export function streamEvents(
  feed: Feed,
  response: ServerResponse,
  { lastEventId, heartbeatMs = HEARTBEAT_MS, maxUnread = MAX_UNREAD }: StreamOptions = {},
): void {
  response.writeHead(200, {
    ...COMMON_HEADERS,
    'content-type': 'text/event-stream; charset=utf-8',
    // The connection cannot be reused after the stream.
    connection: 'close',
  })
  let stop: (() => void) | undefined
  // Only the connection may keep the process alive, not this timer.
  const heartbeat = setInterval(() => send(': still here\n\n'), heartbeatMs).unref()

  function stopStream() {
    clearInterval(heartbeat)
    stop?.()
  }

  function send(text: string) {
    if (response.destroyed) return
    response.write(text)
    if (response.writableLength <= maxUnread) return
    stopStream()
    response.destroy()
  }

  response.on('close', stopStream)
  const { events, missed } = lastEventId === undefined ? NOTHING_MISSED : feed.after(lastEventId)
  // An id without data lets a reader continue from here before its first event.
  const startId = events.length > 0 ? '' : `id: ${feed.lastId}\n`
  send(`retry: ${RETRY_MS}\n${startId}: connected\n\n`)
  if (missed) send(`event: gap\ndata: ${JSON.stringify({ available_events: events.length })}\n\n`)
  for (const event of events) send(textOf(event))
  stop = feed.read({
    onEvent: (event) => send(textOf(event)),
    onEnd() {
      stopStream()
      response.end()
    },
  })
  // The missed events may have been too many for the reader.
  if (response.destroyed) stopStream()
}

const NOTHING_MISSED = { events: [], missed: false }

export const eventCalls = [
  adminCall({
    id: 'streamEvents',
    summary: 'Stream what happens as server-sent events',
    response: z.string().meta({ id: 'EventStreamResponse' }),
    handle: () => '',
    stream({ feed }, { headers }, reply) {
      reply.hijack()
      const given = headers['last-event-id']
      streamEvents(feed, reply.raw, { lastEventId: given === undefined ? given : String(given) })
    },
  }),
]
