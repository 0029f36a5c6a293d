import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { depsOf } from './app-deps.ts'

// How long a peer may take to read the last response before its connection is destroyed, real ms.
const LINGER_MS = 1_000
// The maximum of further bytes that are read and dropped: closing a connection with unread bytes resets it, and the
// reset can arrive before the response.
const MAX_DROPPED = 16 * 1024 * 1024
// How long a rejected body may take to arrive before the error is sent, real ms.
const MAX_BODY_MS = 2_000

const closing = new WeakSet<Socket>()

/** Whether a connection has its last response: further bytes are dropped. */
export const isClosing = (socket: Socket): boolean => closing.has(socket)

/** Sends a last text, then closes the connection for good, also if the peer keeps its side open. */
export function closeWith(socket: Socket, text: string): void {
  closing.add(socket)
  let dropped = 0
  // The HTTP parser gets no more bytes: the rest of a late request must not be executed.
  socket.removeAllListeners('data')
  socket.on('data', (chunk: Buffer) => {
    dropped += chunk.length
    if (dropped > MAX_DROPPED) socket.destroy()
  })
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(timer))
  socket.end(text)
}

/** Reads a body to its end and drops it, within limits; then calls back. */
export function dropBody(body: Readable, done: () => void): void {
  let dropped = 0
  function drop(chunk: Buffer) {
    dropped += chunk.length
    if (dropped > MAX_DROPPED) finish()
  }
  function finish() {
    clearTimeout(timer)
    body.off('data', drop).off('end', finish).off('close', finish)
    done()
  }
  const timer = setTimeout(finish, MAX_BODY_MS)
  body.on('data', drop).once('end', finish).once('close', finish).resume()
}

export function hangUpSignal({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  function onClose() {
    if (!raw.writableEnded) controller.abort()
  }
  if (raw.destroyed) onClose()
  else raw.once('close', onClose)
  return controller.signal
}

/** Leaves the connection open and sends nothing until the caller closes it or the app closes. */
export function leaveHanging({ request, raw: { socket } }: FastifyReply) {
  if (!socket) return
  const { hangingSockets: hanging } = depsOf(request)
  hanging.add(socket)
  socket.once('close', () => hanging.delete(socket))
}
