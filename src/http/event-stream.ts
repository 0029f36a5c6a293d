import type { ServerResponse } from 'node:http'
import type { Feed, FeedEvent } from '../services/feed.ts'
import { COMMON_HEADERS } from './errors.ts'

export type StreamOptions = {
  /** The id of the last event that the reader has had, to go on from. */
  lastEventId?: string | undefined
  /** Real ms between the comments that keep the connection alive and find out that it is not. */
  heartbeatMs?: number
  /** A reader that leaves more bytes than this unread is cut off. */
  maxUnread?: number
}

const HEARTBEAT_MS = 15_000
const MAX_UNREAD = 1024 * 1024
// How long a reader waits before it connects again, real ms.
const RETRY_MS = 1_000

const textOf = ({ id, kind, data }: FeedEvent) => `id: ${id}\nevent: ${kind}\ndata: ${data}\n\n`

/** Sends a client's feed as server-sent events until the reader leaves, is too slow, or the feed ends. */
export function streamEvents(
  feed: Feed,
  response: ServerResponse,
  {
    lastEventId,
    heartbeatMs = HEARTBEAT_MS,
    maxUnread: mostUnread = MAX_UNREAD,
  }: StreamOptions = {},
): void {
  response.writeHead(200, {
    ...COMMON_HEADERS,
    'content-type': 'text/event-stream; charset=utf-8',
    // The connection is of no more use once the stream has ended.
    connection: 'close',
  })
  let stop: (() => void) | undefined
  // The connection keeps the process alive, where anything should.
  const heartbeat = setInterval(() => send(': still here\n\n'), heartbeatMs).unref()

  function stopStream() {
    clearInterval(heartbeat)
    stop?.()
  }

  function send(text: string) {
    if (response.destroyed) return
    response.write(text)
    if (response.writableLength <= mostUnread) return
    stopStream()
    response.destroy()
  }

  response.on('close', stopStream)
  const { events, missed } = lastEventId === undefined ? NOTHING_MISSED : feed.after(lastEventId)
  // An id without data is where a reader goes on that has had no event yet.
  const startId = events.length > 0 ? '' : `id: ${feed.lastId}\n`
  send(`retry: ${RETRY_MS}\n${startId}: connected\n\n`)
  if (missed) send(`event: gap\ndata: ${JSON.stringify({ kept: events.length })}\n\n`)
  for (const event of events) send(textOf(event))
  stop = feed.read({
    onEvent: (event) => send(textOf(event)),
    onEnd() {
      stopStream()
      response.end()
    },
  })
  // It may have been cut off by what it missed.
  if (response.destroyed) stopStream()
}

const NOTHING_MISSED = { events: [], missed: false }
