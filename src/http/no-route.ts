import type { FastifyInstance, FastifyRequest } from 'fastify'
import { SandboxError } from '../model/errors.ts'
import { excerptOf } from '../model/mask.ts'

/** The error of a path without a route. */
export const noRoute = (method: string, url: string): SandboxError =>
  new SandboxError(
    'not_found',
    `There is no route ${method} ${excerptOf(url.split('?')[0]!, 100)}. See /docs for all routes.`,
  )

/** Collects the methods of each path from the routes; returns the function that makes the error of a request without a route. */
export function collectMethods(app: FastifyInstance) {
  const routes = new Map<string, { path: RegExp; methods: Set<string> }>()
  app.addHook('onRoute', ({ url, method }) => {
    // It has no methods: it only leads browsers to the console.
    if (url === '/') return
    const path = new RegExp(`^${url.replaceAll(/:\w+/g, '[^/]+')}$`)
    const route = routes.get(url) ?? { path, methods: new Set() }
    if (!url.includes('*')) routes.set(url, route)
    for (const one of [method].flat()) route.methods.add(one)
  })
  /** 405 with the allowed methods for a known path, else 404. */
  return (request: FastifyRequest): SandboxError => {
    const [path = ''] = request.url.split('?')
    const known = [...routes.values()].filter((route) => route.path.test(path))
    if (known.length === 0) return noRoute(request.method, request.originalUrl)
    const allow = [...new Set(known.flatMap(({ methods }) => [...methods]))].sort().join(', ')
    return new SandboxError(
      'method_not_allowed',
      `The method ${request.method} is not allowed for this path. Use ${allow}.`,
      { headers: { allow } },
    )
  }
}
