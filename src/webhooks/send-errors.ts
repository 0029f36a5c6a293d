import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { SendError, SendErrorCode } from '../model/delivery.ts'
import type { Target } from './addresses.ts'

export type ReceiverResponse = {
  status: number
  'retry-after'?: string
  location?: string
  'content-encoding'?: string
}

// A receiver may send any number; the limit is one year, so that sums stay exact.
const MAX_RETRY_MS = 365 * 86_400_000

/** The ms of a `Retry-After` (seconds or an HTTP date), 0 to one year; `undefined` if it is invalid. */
export function readRetryAfter(value: string, wallNow: number): number | undefined {
  const text = value.trim()
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, MAX_RETRY_MS)
  if (!/^[A-Z][a-z]+, .+ GMT$/.test(text)) return undefined
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.min(Math.max(0, at - wallNow), MAX_RETRY_MS)
}

const TLS_CODES =
  /^(ERR_(TLS|SSL)_|EPROTO$|CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|HOSTNAME_MISMATCH$)/

export const sendError = (code: SendErrorCode, message: string): SendError => ({ code, message })

export function explainFailure(error: NodeJS.ErrnoException, target: Target): SendError {
  const at = target.authority
  const code = error.code ?? ''
  if (code === 'ADDRESS_NOT_ALLOWED') return sendError('address_not_allowed', error.message)
  if (code === 'HPE_HEADER_OVERFLOW')
    return sendError('headers_too_large', `${at} sent response headers of more than 16 KiB`)
  if (code.startsWith('HPE_')) {
    const { reason = code } = error as { reason?: string }
    return sendError('not_http', `the response of ${at} is not HTTP (${reason})`)
  }
  if (error.syscall === 'getaddrinfo')
    return sendError('dns', `the host name ${target.host} can't be resolved (${code})`)
  if (TLS_CODES.test(code) || error.message.includes('before secure TLS connection'))
    return sendError('tls', `no secure connection to ${at}: ${error.message.trim()}`)
  if (code === 'ECONNREFUSED')
    return sendError('refused', `nothing listens on ${at}: the connection was refused`)
  if (['ECONNRESET', 'EPIPE', 'ECONNABORTED'].includes(code))
    return error.syscall === undefined
      ? sendError('no_response', `${at} closed the connection without a response`)
      : sendError('reset', `${at} reset the connection before it responded`)
  if (/^E(?:HOST|NET)(?:UNREACH|DOWN)$|^EADDRNOTAVAIL$/.test(code))
    return sendError('unreachable', `there is no network route to ${at} (${code})`)
  if (code === 'ETIMEDOUT')
    return sendError('timeout_connect', `${at} did not accept the connection (${code})`)
  return sendError('failed', `sending to ${at} failed: ${error.message || code || error.name}`)
}

/** The error of a response that only a request with `Expect` asks for. */
export const unrequested = ({ authority }: Target): SendError =>
  sendError(
    'not_http',
    `${authority} sent an unrequested 1xx response, such as 100 Continue, and no final response`,
  )

export const connectionBroke = ({ authority }: Target, received: number): SendError =>
  sendError(
    'reset_body',
    `${authority} started to respond, but the connection broke after ${received} bytes`,
  )

/** Returns the error for a deadline of `ms`, by the stage of the attempt. */
export function explainTimeout(
  socket: (Socket & { secureConnecting?: boolean }) | undefined,
  head: ReceiverResponse | undefined,
  { authority: at }: Target,
  ms: number,
): SendError {
  if (head)
    return sendError('timeout_body', `${at} started to respond, but did not finish within ${ms} ms`)
  if (!socket || socket.connecting)
    return sendError('timeout_connect', `no connection to ${at} within ${ms} ms`)
  if (socket.secureConnecting)
    return sendError('timeout_connect', `no secure connection to ${at} within ${ms} ms`)
  return sendError(
    'timeout_response',
    `${at} accepted the request, but did not respond within ${ms} ms`,
  )
}

/** The error of a response; for a 2xx only the remark that it was not read completely or not decompressed. */
export function judgeResponse(
  { status, location, 'content-encoding': encoding }: ReceiverResponse,
  isCompressed: boolean,
  isTooLarge: boolean,
): SendError | undefined {
  const words = `responded with ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd()
  if (status === 410) return sendError('gone', `${words}: the receiver wants no more events`)
  if (status >= 300 && status < 400) {
    const to = location?.slice(0, 200)
    return sendError('redirect', `${words}${to ? ` to ${to}` : ''}; redirects are not followed`)
  }
  if (status < 200 || status > 299)
    return sendError('status', `${words}; only a 2xx response counts as delivered`)
  if (isCompressed)
    return sendError(
      'response_compressed',
      `${words}, compressed with ${encoding} although the request did not allow compression; it was not decompressed`,
    )
  if (isTooLarge)
    return sendError('response_too_large', `${words} with more than 64 KiB; the rest was not read`)
  return undefined
}
