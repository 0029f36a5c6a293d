import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { createMcpServer } from './server.ts'
import type { Connection, Tool } from './tool.ts'

/** Serves an agent on a pair of streams, until the agent ends the input or `stop` is aborted. */
export async function serveStdio(
  connection: Connection,
  more: readonly Tool[],
  { stdin, stdout, stop }: { stdin: Readable; stdout: Writable; stop: AbortSignal },
): Promise<void> {
  const server = createMcpServer(connection, more)
  const ended = once(stdin, 'end', { signal: stop }).catch((error: Error) => {
    if (!stop.aborted) throw error
  })
  await server.connect(new StdioServerTransport(stdin, stdout))
  await ended
  await server.close()
}
