import type { FastifyReply, FastifyRequest } from 'fastify'

/** A signal that is aborted when the caller closes the connection before the response. */
export function hangUpSignal({ watched }: FastifyRequest, { raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  function onClose() {
    if (raw.writableEnded) return
    watched?.left()
    controller.abort()
  }
  if (raw.destroyed) onClose()
  else raw.once('close', onClose)
  return controller.signal
}
