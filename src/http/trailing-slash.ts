import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'

const SENT = Symbol('URL with a slash at the end of its path')
type WithSlash = IncomingMessage & { [SENT]?: string | undefined }

/** Removes the slash from the end of a path for its routing: a second route for each path would make a start slower. */
export function dropTrailingSlash(request: WithSlash): void {
  const { url = '' } = request
  // Most paths have none, and the pattern takes longer than this.
  if (!url.endsWith('/') && !url.includes('/?') && !url.includes('/#')) return
  const shorter = url.replace(/^([^?#]*)\/(?=[?#]|$)/, '$1')
  if (shorter === url) return
  request[SENT] = url
  request.url = shorter
}

/** Whether a request was routed without the slash at the end of its path. */
export const hasTrailingSlash = ({ raw }: Pick<FastifyRequest, 'raw'>): boolean =>
  (raw as WithSlash)[SENT] !== undefined

/** Gives a request the URL again that it was sent with. */
export function restoreTrailingSlash({ raw }: { raw: WithSlash }): void {
  if (raw[SENT] !== undefined) raw.url = raw[SENT]
}

/** Restores the URL after the routing, and routes a path again that has a route only with its slash. Add it before any other hook. */
export function acceptTrailingSlash(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!hasTrailingSlash(request)) return done()
    restoreTrailingSlash(request)
    if (!request.is404) return done()
    const raw: WithSlash = request.raw
    // The slash of /bank/ begins a parameter.
    raw[SENT] = undefined
    reply.hijack()
    app.routing(raw, reply.raw)
  })
}
