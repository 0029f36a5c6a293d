import type { RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { oncePerBurst } from '../runtime/once-per-burst.ts'
import type { Log } from '../world/sandbox.ts'

// Each waiting request takes memory, so a caller that sends without reading must be stopped.
const MAX_WAITING = 1_000

/**
 * Handles the requests of a connection one at a time: Node passes on all pipelined requests of a packet at once, whether or
 * not their responses are read. A request that waits when its connection closes is dropped.
 */
export function oneAtATime(handle: RequestListener, log: Log): RequestListener {
  const lines = new WeakMap<Socket, { last: ServerResponse; waiting: number }>()
  const warn = oncePerBurst(() =>
    log.warn(
      `A connection was closed because ${MAX_WAITING} of its pipelined requests were waiting, the maximum. Read responses before you send more requests.`,
    ),
  )
  return (request, response) => {
    const { socket } = request
    const line = lines.get(socket)
    if (!line || line.last.closed) {
      lines.set(socket, { last: response, waiting: 0 })
      return handle(request, response)
    }
    if (line.waiting === MAX_WAITING) {
      warn()
      return socket.destroy()
    }
    line.waiting++
    line.last.once('close', () =>
      // Other connections come first.
      setImmediate(() => {
        line.waiting--
        if (socket.writable) handle(request, response)
      }),
    )
    line.last = response
  }
}
