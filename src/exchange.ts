import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'

const CONNECT_MS = 5_000
// An advance answers when all that was due has settled, which may take minutes.
const ANSWER_MS = 600_000

/** Sends one request on a connection of its own, and answers with the start of the response. Throws what the connection does. */
export async function open(
  url: URL,
  options: RequestOptions,
  body?: string,
): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? (await import('node:https')).request : httpRequest
  return new Promise((resolve, reject) => {
    const sent = request(url, { timeout: ANSWER_MS, ...options, agent: false }, resolve)
    const connectMs = Math.min(CONNECT_MS, options.timeout ?? CONNECT_MS)
    const slow = setTimeout(
      () => sent.destroy(new Error(`no connection within ${connectMs / 1_000} s`)),
      connectMs,
    )
    sent.on('socket', (socket) => socket.once('connect', () => clearTimeout(slow)))
    sent.on('timeout', () => sent.destroy(new Error('no answer')))
    sent.on('error', reject)
    sent.on('close', () => {
      clearTimeout(slow)
      // The last net: an upgrade (101) that nobody asked for ends a request without a word.
      reject(new Error('the connection was closed without an answer'))
    })
    sent.end(body)
  })
}

/** Sends one request and answers with the whole response. Throws what the connection does. */
export async function exchange(
  url: URL,
  options: RequestOptions,
  body?: string,
): Promise<{ status: number; text: string }> {
  const answer = await open(url, options, body)
  answer.setEncoding('utf8')
  let text = ''
  for await (const chunk of answer) text += chunk
  return { status: answer.statusCode ?? 0, text }
}
