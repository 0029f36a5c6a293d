import type { FastifyRequest } from 'fastify'
import { ERRORS, type SandboxError } from '../model/errors.ts'
import type { World } from '../world/world.ts'
import { depsOf } from './app-deps.ts'
import { isOfService } from './clients.ts'
import type { StoredResponse } from './idempotency.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** When the request arrived: real ms, and ms of the client's time; `undefined` if it was rejected before. */
    startedAt: number | undefined
    receivedAt: number | undefined
    /** Its Host or its site was rejected, so it belongs to no client. */
    isForeign: boolean | undefined
    isDecided: boolean | undefined
    /** The scenario's rule that matched. */
    rule: string | undefined
    /** The rule that chose the steps of the payment that it creates. */
    stepsRule: string | undefined
    /** What its operation returned, if a rule then sends something else or nothing. */
    made: string | undefined
  }
}

// Faults after which no response reaches the caller.
const SILENT: ReadonlySet<string> = new Set(['reset', 'hang', 'empty'])

/** Adds a request to the log of its client: only references, since most entries are never read. */
export function logRequest(
  world: World,
  request: FastifyRequest,
  operation: string | undefined,
  { status, body, fault, replayed = false }: Omit<StoredResponse, 'headers'>,
) {
  const isSilent = (fault !== undefined && SILENT.has(fault)) || status === ERRORS.caller_gone[0]
  world.requests.add({
    at: request.receivedAt ?? world.clock.now(),
    began: request.startedAt,
    method: request.method,
    url: request.url,
    operation,
    params: request.params,
    headers: request.headers,
    headersSize: request.raw.rawHeaders.reduce((size, text) => size + text.length, 0),
    body: request.bodyText ?? '',
    status: isSilent ? undefined : status,
    response: isSilent ? '' : body,
    made: request.made,
    isDecided: request.isDecided === true,
    rule: request.rule,
    stepsRule: request.stepsRule,
    fault,
    replayed,
  })
}

/** Logs a request that the service rejected, or that no route has: its path may lack /v1. */
export function logError(request: FastifyRequest, { status }: SandboxError, body: string): void {
  const isLost = (status === 404 || status === 405) && !request.url.startsWith('/__admin')
  if ((!isOfService(request) && !isLost) || request.isForeign) return
  const world = request.world ?? depsOf(request).choice.whoseLog(request)
  logRequest(world, request, request.routeOptions.config.endpoint?.id, { status, body })
}
