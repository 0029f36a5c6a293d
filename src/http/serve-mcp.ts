import type { FastifyInstance, FastifyRequest } from 'fastify'
import { depsOf } from './app-deps.ts'
import { basePathOf } from './clients.ts'
import { checkAdminToken } from './serve-admin.ts'

/** The origin of the address that the caller has connected to: this process can connect to it too. */
function ownOrigin({ socket }: FastifyRequest): string {
  const { localAddress = '127.0.0.1', localPort } = socket
  return `http://${localAddress.includes(':') ? `[${localAddress}]` : localAddress}:${localPort}`
}

const tokenOf = ({ headers }: FastifyRequest) =>
  /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]

/** The headers of the protocol that were sent. The SDK takes no wildcard, so a caller that accepts all accepts its two types. */
const sentHeaders = ({ headers }: FastifyRequest): Record<string, string> => ({
  ...Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => /^(?:content-type|mcp-.+)$/.test(name))
      .map(([name, value]) => [name, String(value)]),
  ),
  accept: /^\s*\*\/\*/.test(headers.accept ?? '*/*')
    ? 'application/json, text/event-stream'
    : headers.accept!,
})

/**
 * Serves `POST /__admin/mcp` with the guard of the admin API. The tools call the admin API in turn, so a recording has what
 * they do, and not this request.
 */
export function serveMcp(admin: FastifyInstance) {
  admin.post('/mcp', {
    config: { sameSiteOnly: true },
    onRequest(request, _reply, done) {
      try {
        checkAdminToken(request)
        depsOf(request).choice.check(request)
        done()
      } catch (error) {
        done(error as Error)
      }
    },
    async handler(request, reply) {
      const { answerMcp, choice, adminToken, sandbox } = depsOf(request)
      const world = choice.known(request)
      const { status, type, text } = await answerMcp({
        own: ownOrigin(request),
        origin: `${request.protocol}://${request.headers.host}`,
        client:
          world === sandbox.default ? undefined : (world?.name ?? basePathOf(request).slice(2)),
        token: tokenOf(request),
        adminToken,
        headers: sentHeaders(request),
        body: request.body,
      })
      reply.code(status)
      if (type !== null) reply.header('content-type', type)
      return reply.send(text)
    },
  })
}
