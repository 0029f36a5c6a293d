import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { createMcpServer } from './server.ts'
import type { Access, Tool } from './tool.ts'

/** Serves an agent on a pair of streams, until the agent ends the input or `stop` is aborted. */
export async function serveAgent(
  access: Access,
  more: readonly Tool[],
  { stdin, stdout, stop }: { stdin: Readable; stdout: Writable; stop: AbortSignal },
): Promise<void> {
  const ended = once(stdin, 'end', { signal: stop }).catch((error: Error) => {
    if (!stop.aborted) throw error
  })
  const server = serveStdio(() => createMcpServer(access, more), {
    transport: new StdioServerTransport(stdin, stdout),
    maxSubscriptions: 0,
  })
  await ended
  await server.close()
}
