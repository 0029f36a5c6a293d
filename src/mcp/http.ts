import { createMcpHandler } from '@modelcontextprotocol/server'
import { createAdminClient } from '../admin/admin-client.ts'
import type { McpRequest, McpResponse } from '../http/mcp-request.ts'
import { createMcpServer } from './server.ts'

/**
 * Answers one message of the streamable HTTP transport. There is no session: the world of the client has all the state, so
 * each request has a server of its own.
 */
export async function answerMcp(request: McpRequest): Promise<McpResponse> {
  const { own, origin, client, token, adminToken, headers, body } = request
  const at = client === undefined ? '' : `/@${client}`
  const connection = {
    admin: createAdminClient({ url: own, token: adminToken, client }),
    base: `${own}${at}`,
    service: `${origin}${at}/v1`,
    token,
  }
  // Nothing of the server changes later, so it has no subscriptions, which would never end.
  const handler = createMcpHandler(() => createMcpServer(connection), {
    maxSubscriptions: 0,
  })
  try {
    const response = await handler.fetch(
      new Request(`${origin}/__admin/mcp`, { method: 'POST', headers }),
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
