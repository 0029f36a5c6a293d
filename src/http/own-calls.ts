import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Writable } from 'node:stream'
import type { ServiceCall } from '../active-scenario/timeline-actions.ts'
import { oncePerBurst } from '../runtime/real-time.ts'
import type { World } from '../world/world.ts'
import { type AppDeps, setDeps } from './app-deps.ts'

// While a client has this many delayed responses, its timeline makes no calls: each of them takes memory.
const MAX_WAITING = 1_000

/** Makes a timeline's calls as its app would, in this turn of the event loop: Fastify's `inject` would read the body later. */
export function createOwnCaller(deps: AppDeps, route: RequestListener) {
  const warn = oncePerBurst(() =>
    deps.log.warn(
      `A timeline skips calls, because rules delay ${MAX_WAITING} others, the maximum.`,
    ),
  )
  function send(world: World, { method, path, body }: ServiceCall, onHandled: () => void) {
    const text = body ? JSON.stringify(body) : ''
    const headers = {
      host: 'localhost',
      'user-agent': 'payout-sandbox',
      authorization: `Bearer ${world.payouts.profile().access_token}`,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
    }
    const url = `/@${world.name}/v1${path}`
    const rawHeaders = Object.entries(headers).flat()
    const socket = new Writable({ write: (_chunk, _encoding, done) => done() }) as Socket
    const head = { method, url, headers, rawHeaders, httpVersion: '1.1', complete: true }
    const request = Object.assign(new IncomingMessage(socket), head)
    if (text) request.push(text)
    request.push(null)
    const response = new ServerResponse(request)
    response.assignSocket(socket)
    response.once('finish', onHandled)
    setDeps(request, { ...deps, hangingSockets: new Set(), onHandled })
    route(request, response)
  }
  return async (world: World, call: ServiceCall): Promise<void> => {
    // A client that was deleted meanwhile would be created again.
    if (deps.sandbox.clients.get(world.name) !== world) return
    if (world.requests.delayed.count >= MAX_WAITING) return warn()
    await new Promise<void>((resolve) => send(world, call, resolve))
  }
}
