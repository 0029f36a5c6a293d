import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ENVELOPE } from '../assumptions/responses.ts'
import { type ErrorCode, SandboxError } from '../model/errors.ts'
import { excerptOf } from '../model/mask.ts'
import type { Log } from '../runtime/runtime.ts'
import { depsOf } from './app-deps.ts'
import { basePathOf, isOfService } from './clients.ts'
import { dropBody } from './connection.ts'
import type { Endpoint } from './endpoint.ts'
import { LENGTH_MISMATCH, NOT_JSON, TOO_LARGE } from './json-body.ts'
import { logError } from './log-request.ts'

export const JSON_TYPE: string = ENVELOPE.type

/** Default headers of every response: no type sniffing, no caching. */
export const COMMON_HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' }

/** Our error code and message for error codes of Fastify and Node. */
export const ERROR_OF: Readonly<Record<string, [ErrorCode, string]>> = {
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['malformed_json', LENGTH_MISMATCH],
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', TOO_LARGE],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', NOT_JSON],
  FST_ERR_CTP_INVALID_TYPE: ['unsupported_media_type', NOT_JSON],
  FST_ERR_BAD_URL: [
    'validation_failed',
    'The path is not valid: its percent-encoding does not decode to UTF-8 text.',
  ],
  HPE_HEADER_OVERFLOW: [
    'headers_too_large',
    'The headers or the URL are larger than 16 KiB. Send less.',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    'request_timeout',
    'The request did not arrive completely in time. Send it faster.',
  ],
}

/** Converts any thrown value to a `SandboxError`; an unknown error is logged, and its text is not sent. */
export function sandboxErrorOf(error: unknown, log: Log): SandboxError {
  if (error instanceof SandboxError) return error
  const known = ERROR_OF[(error as FastifyError | undefined)?.code ?? '']
  if (known) return new SandboxError(...known)
  const status = (error as FastifyError | undefined)?.statusCode
  if (status !== undefined && status >= 400 && status < 500)
    return new SandboxError(
      'malformed_json',
      'The request is not well-formed HTTP with a JSON body.',
    )
  log.error('A request failed because of a bug in the sandbox', error)
  return new SandboxError(
    'internal_error',
    'The sandbox failed to handle this request. The reason is in its log. Please report this bug.',
  )
}

/** Fastify's error handler: logs every error and sends it in the form of its request. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { log, choice, corsHeaders } = depsOf(request)
  const sandboxError = sandboxErrorOf(error, log)
  const form = choice.errorForm(request)
  const body = form.text(sandboxError)
  logError(request, sandboxError, body)
  // The rest of such a body may never end, so the connection cannot be reused.
  if (sandboxError.status === 413) reply.header('connection', 'close')
  reply
    .code(sandboxError.status)
    .headers({
      ...COMMON_HEADERS,
      ...(isOfService(request) && corsHeaders?.(request.headers.origin)),
    })
    .headers(sandboxError.headers)
    .header('content-type', form.type)
  // A caller that is still sending its body reads the response only after the whole body.
  if (hasUnreadBody(request)) dropBody(request.raw, () => reply.send(body))
  else reply.send(body)
}

const hasUnreadBody = ({ raw, headers }: FastifyRequest): boolean =>
  !raw.readableEnded &&
  (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0)

/** The error of a path without a route; `meant` is the path that was probably meant. */
export const noRoute = (method: string, url: string, meant?: string): SandboxError =>
  new SandboxError(
    'not_found',
    `There is no route ${method} ${excerptOf(url.split('?')[0]!, 100)}. ${meant ? `Did you mean ${meant}?` : 'See /docs for all routes.'}`,
  )

const patternOf = (url: string) => url.replaceAll(/:\w+/g, '[^/]+')

const fixedLength = ({ url }: Pick<Endpoint, 'url'>) => url.replaceAll(/:\w+/g, '').length

/** The path of the service with which a path ends: its /v1 is missing, doubled, or below something else. */
function servicePathIn(path: string, operations: readonly Pick<Endpoint, 'url'>[]) {
  const [client = ''] = /\/@[\w-]{1,63}(?=\/)/.exec(path) ?? []
  const [meant] = operations
    .filter(({ url }) => new RegExp(`${patternOf(url)}/?$`).test(path))
    .sort((a, b) => fixedLength(b) - fixedLength(a))
  return meant && `${client}/v1${meant.url}`
}

/** Collects the methods of each path from the routes; returns the function that makes the error of a request without a route. */
export function collectMethods(app: FastifyInstance, operations: readonly Pick<Endpoint, 'url'>[]) {
  const routes = new Map<string, { path: RegExp; methods: Set<string> }>()
  app.addHook('onRoute', ({ url, method }) => {
    const path = new RegExp(`^${patternOf(url)}$`)
    const route = routes.get(url) ?? { path, methods: new Set() }
    if (!url.includes('*')) routes.set(url, route)
    for (const one of [method].flat()) route.methods.add(one)
  })
  /** 405 with the allowed methods for a known path, else 404. */
  return (request: FastifyRequest): SandboxError => {
    const [path = ''] = request.url.split('?')
    const known = [...routes.values()].filter((route) => route.path.test(path))
    if (known.length === 0)
      return noRoute(
        request.method,
        request.originalUrl,
        servicePathIn(basePathOf(request) + path, operations),
      )
    const allow = [...new Set(known.flatMap(({ methods }) => [...methods]))].sort().join(', ')
    return new SandboxError(
      'method_not_allowed',
      `The method ${request.method} is not allowed for this path. Use ${allow}.`,
      { headers: { allow } },
    )
  }
}
