import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { ErrorForm } from '../assumptions/responses.ts'
import { ERRORS, type ErrorCode } from '../model/errors.ts'
import type { ResponseFault, ResponseOutcome } from '../scenarios/compiled.ts'
import { closeWith, leaveHanging } from './connection.ts'

export const CODE_OF_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthorized',
  404: 'not_found',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  429: 'rate_limited',
  502: 'bad_gateway',
  503: 'service_unavailable',
  504: 'gateway_timeout',
}

// Default headers by status; a scenario can override them.
const HEADERS_OF_STATUS: Readonly<Record<number, Record<string, string>>> = {
  401: { 'www-authenticate': 'Bearer' },
  429: { 'retry-after': '1' },
  503: { 'retry-after': '1' },
}

/** The response of a scenario's `respond`: its body (a string as it is, unless its type is JSON), or the error of its status. */
export function respondedWith(
  { status, headers = {}, body }: NonNullable<ResponseOutcome['respond']>,
  form: ErrorForm,
) {
  const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  const all: Record<string, string> = {
    ...HEADERS_OF_STATUS[status],
    ...(body === undefined && { 'content-type': form.type }),
    ...Object.fromEntries(own),
  }
  const type = all['content-type']
  const isText = typeof body === 'string' && type !== undefined && !type.includes('json')
  const code = CODE_OF_STATUS[status] ?? 'injected_error'
  const text = isText
    ? body
    : body === undefined
      ? form.text({ status, code, message: ERRORS[code][1] })
      : JSON.stringify(body)
  return { status, body: text, headers: all }
}

/** Sends a response with a fault; `body` is the one without the fault. */
export function sendBroken(
  reply: FastifyReply,
  fault: ResponseFault,
  status: number,
  body: string,
) {
  if (fault === 'malformed') return reply.code(status).send(`${body.slice(0, -1)},]`)
  reply.hijack()
  const { socket } = reply.raw
  // A call of this process has no connection to reset.
  if (fault === 'reset') socket?.resetAndDestroy?.() ?? socket?.destroy()
  else if (fault === 'empty') socket && closeWith(socket, '')
  else if (fault === 'truncate') {
    reply.raw.writeHead(status, {
      ...(reply.getHeaders() as OutgoingHttpHeaders),
      'content-length': Buffer.byteLength(body),
    })
    reply.raw.write(body.slice(0, Math.floor(body.length / 2)), () => socket?.destroy())
  } else if (fault === 'hang') leaveHanging(reply)
  return reply
}
