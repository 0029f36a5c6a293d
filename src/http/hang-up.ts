import type { FastifyReply, FastifyRequest } from 'fastify'

/** A signal that is aborted when the caller closes the connection before the response. */
export function hangUpSignal({ watched }: FastifyRequest, { raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  function leave() {
    if (raw.writableEnded) return
    watched?.left()
    gone.abort()
  }
  if (raw.destroyed) leave()
  else raw.once('close', leave)
  return gone.signal
}
