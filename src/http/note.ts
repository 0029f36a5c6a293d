import type { FastifyRequest } from 'fastify'
import { ERRORS, type SandboxError } from '../model/errors.ts'
import type { World } from '../world.ts'
import type { ClientChoice } from './clients.ts'
import type { Answer } from './idempotency.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** When it came: real ms, and ms of its client's time; 0 where it was refused before that was known. */
    began: number
    cameAt: number
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
function note(
  world: World,
  request: FastifyRequest,
  operation: string | undefined,
  { status, body, fault, replayed = false }: Omit<Answer, 'headers'>,
) {
  const isSilent = (fault !== undefined && SILENT.has(fault)) || status === ERRORS.caller_gone[0]
  world.requests.note({
    at: request.cameAt || world.clock.now(),
    wallAt: world.outside.wall(),
    began: request.began || world.outside.elapsed(),
    method: request.method,
    url: request.url,
    operation,
    params: request.params,
    headers: request.headers,
    headersSize: sizeOf(request.raw.rawHeaders),
    // A URL that is not well-formed comes as a bare request.
    body: request.bodyText ?? '',
    status: isSilent ? undefined : status,
    answer: isSilent ? '' : body,
    rule: request.rule || undefined,
    fault,
    replayed,
  })
}

/** Notes an answer of the service that is about to be sent. */
export const noteAnswer = (request: FastifyRequest, { id }: { id: string }, answer: Answer): void =>
  note(request.world, request, id, answer)

const OF_THE_SERVICE = /^\/v1(?:[/?]|$)/

/** Whether a request is for the service, be there such a path or not. */
export const isOfService = ({ url }: FastifyRequest): boolean => OF_THE_SERVICE.test(url)

/** Notes what the service refused, where it is known whose call it was. A strange Host header is nobody's call. */
export const createRefusalNote =
  (choice: ClientChoice) => (request: FastifyRequest, refusal: SandboxError, body: string) => {
    if (!isOfService(request) || refusal.word === 'host_not_allowed') return
    const world = request.world ?? choice.ofRefused(request)
    const operation = request.routeOptions.config.operation?.id
    if (world) note(world, request, operation, { status: refusal.status, body })
  }
