import {
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestOptions,
} from 'node:http'

const CONNECT_TIMEOUT_MS = 5_000
// An advance responds after all due timers have run, which can take minutes.
const RESPONSE_TIMEOUT_MS = 600_000

/** Sends one request on a new connection. Resolves with the response before its body; rejects with connection errors. */
export async function open(
  url: URL,
  options: RequestOptions,
  body?: string,
): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? (await import('node:https')).request : httpRequest
  return new Promise((resolve, reject) => {
    const sent = request(url, { timeout: RESPONSE_TIMEOUT_MS, ...options, agent: false }, resolve)
    const connectMs = Math.min(CONNECT_TIMEOUT_MS, options.timeout ?? CONNECT_TIMEOUT_MS)
    const connectTimer = setTimeout(
      () => sent.destroy(new Error(`no connection within ${connectMs / 1_000} s`)),
      connectMs,
    )
    sent.on('socket', (socket) => socket.once('connect', () => clearTimeout(connectTimer)))
    sent.on('timeout', () => sent.destroy(new Error('no response')))
    sent.on('error', reject)
    sent.on('close', () => {
      clearTimeout(connectTimer)
      // An unexpected upgrade (101) closes the request without a response or an error.
      reject(new Error('the connection was closed without a response'))
    })
    sent.end(body)
  })
}

export type ExchangeOptions = Pick<RequestOptions, 'method' | 'signal' | 'timeout'> & {
  headers?: OutgoingHttpHeaders
}

/** Sends one request. Resolves with the whole response; rejects with connection errors. */
export type Exchange = (
  url: URL,
  options: ExchangeOptions,
  body?: string,
) => Promise<{ status: number; text: string }>

/** Sends a request over HTTP. */
export const exchange: Exchange = async (url, options, body) => {
  const response = await open(url, options, body)
  response.setEncoding('utf8')
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode ?? 0, text }
}
