import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply } from 'fastify'

declare module 'fastify' {
  interface FastifyInstance {
    /** Connections that a scenario leaves without a response. */
    hangingSockets: Set<Socket>
  }
}

/** Destroys hanging connections when the app closes: no response will follow. */
export function destroyHangingSockets(app: FastifyInstance) {
  app.decorate('hangingSockets', new Set<Socket>())
  app.addHook('preClose', async () => {
    for (const socket of app.hangingSockets) socket.destroy()
  })
}

/** Leaves the connection open and sends nothing until the caller closes it. */
export function leaveHanging({
  server: { hangingSockets: hanging },
  raw: { socket },
}: FastifyReply) {
  if (!socket) return
  hanging.add(socket)
  socket.once('close', () => hanging.delete(socket))
}
