import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { ENVELOPE } from '../assumptions/error-body.ts'
import { ERRORS, type ErrorCode, SandboxError } from '../model/errors.ts'
import { excerptOf } from '../model/mask.ts'
import type { Log } from '../world/sandbox.ts'
import { depsOf } from './app-deps.ts'
import { closeWith, dropBody, isClosing } from './connection.ts'
import { LENGTH_MISMATCH, TOO_LARGE } from './json-body.ts'
import { logError } from './log-request.ts'

/** The content type of every JSON response. */
export const JSON_TYPE: string = ENVELOPE.type

/** Default headers of every response: no type sniffing, no caching. */
export const COMMON_HEADERS = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
} as const

/** Our error code and message for error codes of Fastify and Node. */
const ERROR_OF: Readonly<Record<string, [ErrorCode, string]>> = {
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['malformed_json', LENGTH_MISMATCH],
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', TOO_LARGE],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'The body must be JSON: send it with Content-Type: application/json.',
  ],
  FST_ERR_CTP_INVALID_TYPE: [
    'unsupported_media_type',
    'The body must be JSON: send it with Content-Type: application/json.',
  ],
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
  if (status !== undefined && status >= 400 && status < 500) {
    return new SandboxError(
      'malformed_json',
      'The request is not well-formed HTTP with a JSON body.',
    )
  }
  log.error('A request failed because of a bug in the sandbox', error)
  return new SandboxError(
    'internal_error',
    'The sandbox failed to handle this request. The reason is in its log. Please report this bug.',
  )
}

/** Fastify's error handler: logs every error and sends it in the form of its request. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { log, choice } = depsOf(request)
  const sandboxError = sandboxErrorOf(error, log)
  const form = choice.errorForm(request)
  const body = form.text(sandboxError)
  logError(request, sandboxError, body)
  // The rest of such a body may never end, so the connection cannot be reused.
  if (sandboxError.status === 413) reply.header('connection', 'close')
  reply
    .code(sandboxError.status)
    .headers(COMMON_HEADERS)
    .headers(sandboxError.headers)
    .header('content-type', form.type)
  // A caller that is still sending its body reads the response only after the whole body.
  if (hasUnreadBody(request)) dropBody(request.raw, () => reply.send(body))
  else reply.send(body)
}

const hasUnreadBody = ({ raw, headers }: FastifyRequest): boolean =>
  !raw.readableEnded &&
  (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0)

// Responses after which the connection is closed, because malformed bytes followed the request.
const lastResponses = new WeakSet<ServerResponse>()

/** Responds to malformed HTTP with the error envelope, and closes the connection. */
export function sendClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (isClosing(socket)) return
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  // The caller would read an error now as the response of the earlier request, or as a part of it.
  const { _httpMessage: pending } = socket as { _httpMessage?: ServerResponse | null }
  if (pending?.headersSent) {
    socket.destroySoon()
    return
  }
  if (pending?.req.complete) {
    if (!lastResponses.has(pending)) pending.once('finish', () => socket.destroySoon())
    lastResponses.add(pending)
    return
  }
  const [word, message] = ERROR_OF[error.code ?? ''] ?? [
    'malformed_request' as const,
    'The request is not well-formed HTTP.',
  ]
  const [status] = ERRORS[word]
  const body = ENVELOPE.text({ status, code: word, message })
  const headers = { ...jsonHeaders(body), connection: 'close' }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  closeWith(socket, `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}

const jsonHeaders = (body: string) => ({
  ...COMMON_HEADERS,
  'content-type': JSON_TYPE,
  'content-length': Buffer.byteLength(body),
})

/** Responds to an unsupported `Expect` header. */
export function rejectExpectation(request: IncomingMessage, response: ServerResponse): void {
  const [status] = ERRORS.expectation_failed
  const message = `Expect: ${excerptOf(String(request.headers.expect), 40)} is not supported. Send the request without this header.`
  const body = ENVELOPE.text({ status, code: 'expectation_failed', message })
  response.writeHead(status, { ...jsonHeaders(body), connection: 'close' }).end(body)
}
