import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply } from 'fastify'

declare module 'fastify' {
  interface FastifyInstance {
    /** Connections that a scenario leaves without an answer. */
    hangingSockets: Set<Socket>
  }
}

/** Closes what hangs when the app stops: no answer will come, so a stop need not wait for one. */
export function destroyHangingSockets(app: FastifyInstance) {
  app.decorate('hangingSockets', new Set<Socket>())
  app.addHook('preClose', async () => {
    for (const socket of app.hangingSockets) socket.destroy()
  })
}

/** Leaves the connection open and sends nothing until the client gives up. */
export function leaveHanging({
  server: { hangingSockets: hanging },
  raw: { socket },
}: FastifyReply) {
  if (!socket) return
  hanging.add(socket)
  socket.once('close', () => hanging.delete(socket))
}
