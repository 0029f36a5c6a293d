import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { SandboxError } from '../model/errors.ts'
import { isOfService } from './log-request.ts'

export type CorsDeps = {
  origin: string
  /** Headers of an answer that a page may read. */
  exposedHeaders: readonly string[]
  /** Refuses what no route takes. */
  noRouteError: (request: FastifyRequest) => SandboxError
}

/**
 * Lets a browser app of an origin read what the service answers, refusals of unknown paths included, and ask before it
 * calls. `app` gets the hook that comes before they are refused; answers with what the service's own scope needs.
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
    // An OPTIONS that asks for nothing is a method like any other.
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
