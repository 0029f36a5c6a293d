import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { Test } from 'tap'
import { type StartOptions, start } from '../helper.ts'

/** The answer of a tool: its text, and whether the call was rejected. */
export type ToolAnswer = { text: string; isError: boolean }

/** An agent that uses the client of the SDK on a transport, until the test ends. */
export async function connectAgent(t: Pick<Test, 'teardown'>, transport: unknown) {
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport as Transport)
  const close = () => client.close()
  t.teardown(close)
  async function tool(name: string, args: Record<string, unknown> = {}): Promise<ToolAnswer> {
    const { content, isError = false, ...more } = await client.callTool({ name, arguments: args })
    const [{ text }] = content as [{ text: string }]
    if (Object.keys(more).length > 0) throw new Error(`more than a text: ${JSON.stringify(more)}`)
    return { text, isError: Boolean(isError) }
  }
  return { client, tool, close }
}

type Options = StartOptions & {
  /** The client in the base path, such as `/@agent`. */
  at?: string
  headers?: Record<string, string>
}

/** A sandbox of its own that listens, and an agent that is connected by HTTP. */
export async function startAgent(t: Test, { at = '', headers = {}, ...options }: Options = {}) {
  const sandbox = await start(t, options)
  const origin = await sandbox.app.listen({ port: 0, host: '127.0.0.1' })
  const transport = new StreamableHTTPClientTransport(new URL(`${origin}${at}/__admin/mcp`), {
    requestInit: { headers },
  })
  return { ...sandbox, origin, ...(await connectAgent(t, transport)) }
}
