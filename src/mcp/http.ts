import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
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
  const server = createMcpServer({
    admin: createAdminClient({ url: own, token: adminToken, client }),
    base: `${own}${at}`,
    service: `${origin}${at}/v1`,
    token,
  })
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  // Its optional handlers are declared without undefined.
  await server.connect(transport as Parameters<typeof server.connect>[0])
  try {
    const response = await transport.handleRequest(
      new Request(`${origin}/__admin/mcp`, { method: 'POST', headers }),
      { parsedBody: body },
    )
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      text: await response.text(),
    }
  } finally {
    await server.close()
  }
}
