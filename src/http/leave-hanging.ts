import type { FastifyReply } from 'fastify'
import { depsOf } from './app-deps.ts'

/** Leaves the connection open and sends nothing until the caller closes it or the app closes. */
export function leaveHanging({ request, raw: { socket } }: FastifyReply) {
  if (!socket) return
  const { hangingSockets: hanging } = depsOf(request)
  hanging.add(socket)
  socket.once('close', () => hanging.delete(socket))
}
