import type { FastifyRequest } from 'fastify'
import { ERRORS, type SandboxError } from '../model/errors.ts'
import type { World } from '../world.ts'
import type { ClientResolver } from './clients.ts'
import type { StoredResponse } from './idempotency.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** When it came: real ms, and ms of its client's time; 0 where it was refused before that was known. */
    startedAt: number
    receivedAt: number
    /** The scenario's rule that it met. */
    rule: string | undefined
  }
}

// Faults after which no answer reaches the client; nor does one after it has hung up.
const SILENT: ReadonlySet<string> = new Set(['reset', 'hang', 'empty'])

function sizeOf(texts: readonly string[]): number {
  let size = 0
  for (let i = 0; i < texts.length; i++) size += texts[i]!.length
  return size
}

/** Puts a call into the log of its client: references only, for most of them are never looked at. */
function logRequest(
  world: World,
  request: FastifyRequest,
  operation: string | undefined,
  { status, body, fault, replayed = false }: Omit<StoredResponse, 'headers'>,
) {
  const isSilent = (fault !== undefined && SILENT.has(fault)) || status === ERRORS.caller_gone[0]
  world.requests.add({
    at: request.receivedAt || world.clock.now(),
    wallAt: world.outside.wall(),
    began: request.startedAt || world.outside.elapsed(),
    method: request.method,
    url: request.url,
    operation,
    params: request.params,
    headers: request.headers,
    headersSize: sizeOf(request.raw.rawHeaders),
    // A URL that is not well-formed comes as a bare request.
    body: request.bodyText ?? '',
    status: isSilent ? undefined : status,
    response: isSilent ? '' : body,
    rule: request.rule || undefined,
    fault,
    replayed,
  })
}

/** Notes an answer of the service that is about to be sent. */
export const logResponse = (
  request: FastifyRequest,
  { id }: { id: string },
  response: StoredResponse,
): void => logRequest(request.world, request, id, response)

const OF_THE_SERVICE = /^\/v1(?:[/?]|$)/

/** Whether a request is for the service, be there such a path or not. */
export const isOfService = ({ url }: FastifyRequest): boolean => OF_THE_SERVICE.test(url)

// The Host of such a call is not ours, or a page of another site sent it: it is no call of the client.
const UNATTRIBUTED: ReadonlySet<string> = new Set(['host_not_allowed', 'cross_site_refused'])

/** Notes what the service refused, where it is known whose call it was. */
export const createErrorLogger =
  (choice: ClientResolver) => (request: FastifyRequest, error: SandboxError, body: string) => {
    if (!isOfService(request) || UNATTRIBUTED.has(error.code)) return
    const world = request.world ?? choice.ofRejected(request)
    const operation = request.routeOptions.config.operation?.id
    if (world) logRequest(world, request, operation, { status: error.status, body })
  }
