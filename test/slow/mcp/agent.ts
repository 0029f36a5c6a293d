import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { Client, InMemoryTransport, type Transport } from '@modelcontextprotocol/client'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Test } from 'tap'
import { createMcpServer } from '../../../src/tools/mcp/server.ts'
import { type StartOptions, start } from '../../helper.ts'

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

/** The connections of a server that it does not know to be closed. */
export function connectionsOf(server: Server): ReadonlySet<Socket> {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return open
}

type Options = StartOptions & {
  /** The client in the base path, such as `/@agent`. */
  at?: string
  /** The access token of the client, as the agent knows it. */
  token?: string
  mode?: Mode
}

/** A sandbox of its own that listens, and an agent whose server uses it. */
export async function startAgent(t: Test, { at = '', token, mode, ...options }: Options = {}) {
  const sandbox = await start(t, options)
  const origin = await sandbox.app.listen({ port: 0, host: '127.0.0.1' })
  const url = `${origin}${at}`
  const target = { base: new URL(url), token: options.app?.adminToken }
  const [agent, server] = InMemoryTransport.createLinkedPair()
  serveStdio(() => createMcpServer({ target, url, token }), { transport: server })
  return { ...sandbox, origin, ...(await connectAgent(t, agent, mode)) }
}
