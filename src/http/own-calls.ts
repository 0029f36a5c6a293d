import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Writable } from 'node:stream'
import { oncePerBurst } from '../runtime/real-time.ts'
import type { SandboxConfig } from '../world/sandbox.ts'
import { type AppDeps, setDeps } from './app-deps.ts'

// While a client has this many delayed responses, its timeline makes no calls: each of them takes memory.
const MAX_WAITING = 1_000

/** A connection that drops what is sent to it. */
const noConnection = () => new Writable({ write: (_chunk, _encoding, done) => done() }) as Socket

/**
 * Returns the function that makes a call of a client's timeline as its app would, without a connection. All happens in this
 * turn of the event loop, so that a replay has the same order; Fastify's `inject` would read the body in a later one.
 */
export function createOwnCaller(
  deps: AppDeps,
  route: RequestListener,
): NonNullable<SandboxConfig['callService']> {
  const warn = oncePerBurst(() =>
    deps.log.warn(
      `A timeline skips calls, because rules delay the responses of ${MAX_WAITING} others, the maximum.`,
    ),
  )
  return (world, { method, path, body }) =>
    new Promise((resolve) => {
      // A client that was deleted meanwhile would be created again.
      if (deps.sandbox.clients.get(world.name) !== world) return resolve()
      if (world.delayed.count >= MAX_WAITING) return resolve(warn())
      const text = body && JSON.stringify(body)
      const headers: Record<string, string> = {
        host: 'localhost',
        'user-agent': 'payout-sandbox',
        authorization: `Bearer ${world.profile().access_token}`,
        ...(text && {
          'content-type': 'application/json',
          'content-length': String(Buffer.byteLength(text)),
        }),
      }
      const request = Object.assign(new IncomingMessage(noConnection()), {
        method,
        url: `/@${world.name}/v1${path}`,
        headers,
        rawHeaders: Object.entries(headers).flat(),
        httpVersion: '1.1',
        complete: true,
      })
      if (text) request.push(text)
      request.push(null)
      const response = new ServerResponse(request)
      response.assignSocket(request.socket)
      response.once('finish', resolve)
      // It is no part of a recording, in which the timer makes it.
      setDeps(request, { ...deps, watch: undefined, hangingSockets: new Set(), onHandled: resolve })
      route(request, response)
    })
}
