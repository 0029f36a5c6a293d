import { Server as HttpServer } from 'node:http'
import { Server } from 'node:net'
import type { FastifyInstance } from 'fastify'

const isHttpServer = (value: unknown): value is HttpServer => value instanceof HttpServer

/**
 * The servers that listen for an app. For `localhost` Fastify opens a second server, on the other one of 127.0.0.1 and
 * ::1, which is only in a private list of Fastify.
 */
export function listeningServers(app: FastifyInstance): HttpServer[] {
  const own = app as unknown as Record<symbol, unknown>
  const lists = Object.getOwnPropertySymbols(own).map((name) => own[name])
  const others = lists.flatMap((list) => (Array.isArray(list) ? list.filter(isHttpServer) : []))
  return [...new Set([app.server, ...others])]
}

/** Lets the process exit although a server listens and connections to it are open. */
export function unrefServer(server: HttpServer) {
  // Fastify's own unref closes the second server.
  Server.prototype.unref.call(server)
  server.on('connection', (socket) => socket.unref())
}
