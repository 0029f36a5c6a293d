import type { FastifyInstance, FastifyRequest } from 'fastify'
import { SandboxError } from '../model/errors.ts'
import { depsOf } from './app-deps.ts'
import { basePathOf } from './clients.ts'
import { hangUpSignal } from './connection.ts'
import { checkAdminToken } from './serve-admin.ts'

// A tool can wait for a minute, or move the clock by years.
const MAX_TOOLS = 16
let running = 0

function rejectTooMany() {
  if (running < MAX_TOOLS) return
  throw new SandboxError(
    'server_busy',
    `The sandbox is running ${MAX_TOOLS} tools of agents already. Nothing was changed; send the call again in a second.`,
    { headers: { 'retry-after': '1' } },
  )
}

/** The error of JSON-RPC for a body with several messages, which no version of the protocol since 2025-06-18 permits. */
const batchError = (count: number) => ({
  jsonrpc: '2.0',
  error: {
    code: -32600,
    message: `The body is a batch of ${count} messages. Send each of them in a POST of its own.`,
  },
  id: null,
})

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
      checkAdminToken(request)
      depsOf(request).choice.find(request)
      done()
    },
    async handler(request, reply) {
      const [message, ...others] = [request.body].flat() as { method?: unknown }[]
      if (others.length > 0) return reply.code(400).send(batchError(others.length + 1))
      const { answerMcp, handle, choice, adminToken, sandbox } = depsOf(request)
      const world = choice.find(request)
      const named = world ? `/@${world.name}` : basePathOf(request)
      const isTool = message?.method === 'tools/call'
      if (isTool) rejectTooMany()
      if (isTool) running++
      const { status, type, text } = await answerMcp({
        handle,
        host: request.headers.host!,
        basePath: world === sandbox.default ? '' : named,
        token: tokenOf(request),
        adminToken,
        headers: sentHeaders(request),
        body: request.body,
        signal: hangUpSignal(request, reply),
      }).finally(() => {
        if (isTool) running--
      })
      reply.code(status)
      if (type !== null) reply.header('content-type', type)
      return reply.send(text)
    },
  })
}
