import { type RequestListener, validateHeaderName, validateHeaderValue } from 'node:http'
import { createMcpHandler } from '@modelcontextprotocol/server'
import inject from 'light-my-request'
import type { Exchange } from '../../admin/caller.ts'
import type { McpRequest, McpResponse } from '../../http/app-deps.ts'
import { callerGone } from '../../model/errors.ts'
import { createMcpServer } from './server.ts'

// Only paths matter in this process; the Host header of the caller may be no valid URL.
const ORIGIN = 'http://localhost'

/** Passes the requests of tools to the app without a socket. When the signal is aborted, the app sees a closed connection. */
const exchangeInProcess =
  ({ handle, host }: McpRequest): Exchange =>
  async ({ pathname, search }, { method = 'GET', headers = {}, signal }, payload) => {
    // As for a request on a socket.
    for (const [name, value] of Object.entries(headers)) {
      validateHeaderName(name)
      validateHeaderValue(name, String(value))
    }
    signal?.throwIfAborted()
    const dispatch: RequestListener = (request, response) => {
      const hangUp = () => response.socket?.destroy()
      signal?.addEventListener('abort', hangUp)
      response.once('close', () => signal?.removeEventListener('abort', hangUp))
      handle(request, response)
    }
    const { statusCode: status, body: text } = await inject(dispatch, {
      method,
      url: pathname + search,
      headers: { host, 'user-agent': 'payout-sandbox', ...headers },
      ...(payload !== undefined && { payload }),
    })
    return { status, text }
  }

/**
 * Answers one message of the streamable HTTP transport. There is no session: the world of the client has all the state, so
 * each request has a server of its own.
 */
export async function answerMcp(request: McpRequest): Promise<McpResponse> {
  const { host, basePath, token, adminToken, headers, body, signal } = request
  const access = {
    target: {
      base: new URL(basePath, ORIGIN),
      token: adminToken,
      exchange: exchangeInProcess(request),
    },
    url: `http://${host}${basePath}`,
    token,
  }
  // The SDK only listens for a later abort.
  if (signal.aborted) throw callerGone()
  // Nothing of the server changes later, so it has no subscriptions, which would never end.
  const handler = createMcpHandler(() => createMcpServer(access), { maxSubscriptions: 0 })
  try {
    const response = await handler.fetch(
      new Request(`${ORIGIN}/__admin/mcp`, { method: 'POST', headers, signal }),
      { parsedBody: body },
    )
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      text: await response.text(),
    }
  } finally {
    await handler.close()
  }
}
