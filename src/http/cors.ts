import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { SandboxError } from '../model/errors.ts'
import { isOfService } from './clients.ts'

export type CorsDeps = {
  origin: string
  /** Response headers that a page may read. */
  exposedHeaders: readonly string[]
  /** Makes the error of a request without a route. */
  noRouteError: (request: FastifyRequest) => SandboxError
}

/**
 * Allows a browser app of `origin` to read the responses of the service, including errors of unknown paths, and to send
 * preflight requests. Adds a hook to `app` and returns the plugin for the service's own scope.
 */
export function allowOrigin(
  app: FastifyInstance,
  { origin, exposedHeaders, noRouteError }: CorsDeps,
) {
  const headers = {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': exposedHeaders.join(', '),
  }
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404 && isOfService(request)) reply.headers(headers)
    done()
  })
  return async (service: FastifyInstance) => {
    // An OPTIONS request that is no preflight is an unsupported method.
    service.addHook('onRequest', (request, reply, done) => {
      const { origin: from, 'access-control-request-method': wanted } = request.headers
      if (request.method !== 'OPTIONS' || (from && wanted)) return done()
      reply.headers(headers)
      done(noRouteError(request))
    })
    const { default: cors } = await import('@fastify/cors')
    await service.register(cors, {
      origin,
      methods: ['GET', 'POST', 'PUT'],
      exposedHeaders: [...exposedHeaders],
    })
  }
}
