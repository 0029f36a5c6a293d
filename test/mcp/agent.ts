import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import type { Test } from 'tap'
import { type StartOptions, start } from '../helper.ts'

/** The answer of a tool: its text, and whether the call was rejected. */
export type ToolAnswer = { text: string; isError: boolean }

/** The protocol with a handshake, or the one since 2026, which has none. */
export type Mode = 'legacy' | typeof MODERN
export const MODERN = { pin: '2026-07-28' } as const

/** An agent that uses the client of the SDK on a transport, until the test ends. */
export async function connectAgent(
  t: Pick<Test, 'teardown'>,
  transport: unknown,
  mode: Mode = 'legacy',
) {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(transport as Transport)
  const close = () => client.close()
  t.teardown(close)
  async function tool(name: string, args: Record<string, unknown> = {}): Promise<ToolAnswer> {
    const result = await client.callTool({ name, arguments: args })
    const { content, structuredContent, isError = false } = result
    const { text } = content[0] as { text: string }
    if (structuredContent !== undefined) throw new Error('some agents hide the text then')
    return { text, isError: Boolean(isError) }
  }
  return { client, tool, close }
}

type Options = StartOptions & {
  /** The client in the base path, such as `/@agent`. */
  at?: string
  headers?: Record<string, string>
  mode?: Mode
}

/** A sandbox of its own that listens, and an agent that is connected by HTTP. */
export async function startAgent(
  t: Test,
  { at = '', headers = {}, mode, ...options }: Options = {},
) {
  const sandbox = await start(t, options)
  const origin = await sandbox.app.listen({ port: 0, host: '127.0.0.1' })
  const transport = new StreamableHTTPClientTransport(new URL(`${origin}${at}/__admin/mcp`), {
    requestInit: { headers },
  })
  return { ...sandbox, origin, ...(await connectAgent(t, transport, mode)) }
}
