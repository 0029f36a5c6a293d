import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Target } from './addresses.ts'

/**
 * Every word for how an attempt went wrong, and what it means; docs/webhooks.md is held equal to it by a test.
 * `answer_too_large` and `answer_compressed` are remarks: such an answer is judged by its status, so `ok` may be true.
 */
export const SEND_ERRORS = {
  timeout_connect: 'The deadline came before there was a connection (busy, DNS, TCP or TLS).',
  timeout_answer: 'The deadline came before the answer’s headers.',
  timeout_body: 'The deadline came inside the answer’s body.',
  refused: 'Nothing listens on that port.',
  unreachable: 'There is no network way to the address.',
  dns: 'The host name can’t be looked up.',
  tls: 'The TLS handshake failed, or the certificate is not trusted.',
  reset: 'The connection was reset before any answer.',
  no_answer: 'The connection was closed without an answer.',
  reset_body: 'The connection broke off inside the answer’s body.',
  not_http: 'What came back is not HTTP, or 100 Continue that nobody asked for.',
  headers_too_large: 'The answer’s headers are over 16 KiB.',
  redirect: 'A 3xx answer; redirects are not followed.',
  gone: 'A 410 answer; no further attempts are made.',
  status: 'Another status that is not 2xx.',
  answer_too_large: 'A 2xx answer over 64 KiB: delivered, the rest was not read.',
  answer_compressed: 'A 2xx answer that came compressed: delivered, not unpacked.',
  address_refused: 'The address rules forbid it.',
  bad_request: 'The URL or a header can’t be sent.',
  closed: 'The sandbox stopped meanwhile.',
  failed: 'Anything else; the message has the system’s words.',
} as const

/** Why an attempt failed, as a stable word: a key of `SEND_ERRORS`. */
export type SendErrorCode = keyof typeof SEND_ERRORS

/** What went wrong: a word for programs, a sentence for people. */
export type SendError = { code: SendErrorCode; message: string }

/** An answer's head, as far as it is looked at. */
export type ReceiverResponse = {
  status: number
  'retry-after'?: string
  location?: string
  'content-encoding'?: string
}

// A receiver may ask for any number; beyond a year it is no plan, and sums must stay exact.
const MAX_RETRY_MS = 365 * 86_400_000

/**
 * Reads a `Retry-After` header: seconds or an HTTP date (RFC 9110, 10.2.3).
 *
 * @returns ms from `wallNow` (ms), 0 for a date gone by, at most a year; undefined where it can't be read.
 */
export function readRetryAfter(value: string, wallNow: number): number | undefined {
  const text = value.trim()
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, MAX_RETRY_MS)
  if (!/^[A-Z][a-z]+, .+ GMT$/.test(text)) return undefined
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.min(Math.max(0, at - wallNow), MAX_RETRY_MS)
}

const TLS_CODES =
  /^(ERR_(TLS|SSL)_|EPROTO$|CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|HOSTNAME_MISMATCH$)/

/** Puts an error of a connection in plain words. */
export function explainFailure(error: NodeJS.ErrnoException, target: Target): SendError {
  const at = target.authority
  const code = error.code ?? ''
  const say = (word: SendErrorCode, message: string): SendError => ({ code: word, message })
  if (code === 'ADDRESS_REFUSED') return say('address_refused', error.message)
  if (code === 'UND_ERR_INVALID_ARG')
    return say('bad_request', `the request can't be sent: ${error.message}`)
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return say('headers_too_large', `${at} answered with more than 16 KiB of headers`)
  if (code.startsWith('HPE_')) {
    const reason = /\((.+)\)$/.exec(error.message)?.[1] ?? code
    return say('not_http', `what ${at} answered is not HTTP (${reason})`)
  }
  // As its HTTP client calls what is no answer to what was asked: 100 Continue above all.
  if (code === 'UND_ERR_SOCKET' && error.message === 'bad response')
    return say('not_http', `${at} sent what nobody asked for, as 100 Continue is, and no answer`)
  if (error.syscall === 'getaddrinfo')
    return say('dns', `the name ${target.host} can't be looked up (${code})`)
  if (TLS_CODES.test(code) || error.message.includes('before secure TLS connection'))
    return say('tls', `no secure connection to ${at}: ${error.message.trim()}`)
  switch (code) {
    case 'ECONNREFUSED':
      return say('refused', `nothing listens on ${at}: the connection was refused`)
    case 'UND_ERR_SOCKET':
    case 'ECONNRESET':
    case 'EPIPE':
    case 'ECONNABORTED':
      return error.syscall === undefined
        ? say('no_answer', `${at} closed the connection without an answer`)
        : say('reset', `${at} reset the connection before it answered`)
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EHOSTDOWN':
    case 'ENETDOWN':
    case 'EADDRNOTAVAIL':
      return say('unreachable', `there is no way to ${at} (${code})`)
    case 'ETIMEDOUT':
      return say('timeout_connect', `${at} did not take the connection (${code})`)
    default:
      return say('failed', `sending to ${at} failed: ${error.message || code || error.name}`)
  }
}

/** The connection ended inside the answer. */
export const brokenOff = ({ authority }: Target, received: number): SendError => ({
  code: 'reset_body',
  message: `${authority} began to answer, but the connection broke off after ${received} bytes`,
})

/** Says in which stage of an attempt its deadline of `ms` came; without a connection it waited for one. */
export function explainTimeout(
  connection: { socket: (Socket & { secureConnecting?: boolean }) | undefined } | undefined,
  answer: ReceiverResponse | undefined,
  { authority: at }: Target,
  ms: number,
) {
  const socket = connection?.socket
  const say = (code: SendErrorCode, message: string): SendError => ({ code, message })
  if (answer) return say('timeout_body', `${at} began to answer, but did not end within ${ms} ms`)
  if (!connection) return say('timeout_connect', `every connection to ${at} was busy for ${ms} ms`)
  if (!socket || socket.connecting)
    return say('timeout_connect', `no connection to ${at} within ${ms} ms`)
  if (socket.secureConnecting)
    return say('timeout_connect', `no secure connection to ${at} within ${ms} ms`)
  return say('timeout_answer', `${at} took the request, but did not answer within ${ms} ms`)
}

/** Judges an answer by its status; undefined for a plain 2xx, a remark for one not read whole or not unpacked. */
export function judgeResponse(
  { status, location, 'content-encoding': encoding }: ReceiverResponse,
  isPacked: boolean,
  isTooLarge: boolean,
): SendError | undefined {
  const words = `answered ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd()
  if (status === 410) return { code: 'gone', message: `${words}: it wants no more events` }
  if (status >= 300 && status < 400) {
    const to = location?.slice(0, 200)
    return {
      code: 'redirect',
      message: `${words}${to ? ` to ${to}` : ''}; redirects are not followed`,
    }
  }
  if (status < 200 || status > 299)
    return { code: 'status', message: `${words}; only 2xx is delivered` }
  if (isPacked)
    return {
      code: 'answer_compressed',
      message: `${words}, packed with ${encoding} though none was asked; it was not unpacked`,
    }
  if (isTooLarge)
    return {
      code: 'answer_too_large',
      message: `${words} with more than 64 KiB; the rest was not read`,
    }
  return undefined
}
