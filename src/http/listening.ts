import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { oncePerBurst } from '../runtime/once-per-burst.ts'
import type { Log } from '../world/sandbox.ts'
import { rejectExpectation, sendClientError } from './errors.ts'
import { oneAtATime } from './pipelining.ts'

export type ServerLimits = {
  /** Maximum of open connections (default: 4,096). */
  maxConnections?: number | undefined
  /** How long a request may take to arrive, real ms (default: 10 s). */
  requestMs?: number | undefined
}

// Long enough for a slow laptop, short enough that a stuck client frees its socket, real ms.
const REQUEST_MS = 10_000

function createHttpServer(
  handle: RequestListener,
  { requestMs = REQUEST_MS, maxConnections = 4_096 }: ServerLimits,
  log: Log,
): Server {
  const server = createServer(
    {
      keepAliveTimeout: 5_000,
      // Without both of these a slow request stays open forever.
      requestTimeout: requestMs,
      headersTimeout: requestMs,
      connectionsCheckingInterval: 1_000,
      requireHostHeader: false,
    },
    oneAtATime(handle, log),
  )
  server.maxConnections = maxConnections
  server.on(
    'drop',
    oncePerBurst(() =>
      log.warn(
        `A connection was rejected because ${maxConnections} connections are open, the maximum. Close some, or raise the limit on open files (ulimit -n).`,
      ),
    ),
  )
  server.on('clientError', sendClientError)
  server.on('checkExpectation', rejectExpectation)
  return server
}

async function listenOn(server: Server, address: { port: number; host: string }) {
  server.listen(address)
  await once(server, 'listening')
}

/** The URL of a server that listens. */
function originOf(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo
  if (address === '::' || address === '0.0.0.0') return `http://127.0.0.1:${port}`
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/** The HTTP server of an app; for `localhost` a second one on the other address of that name. */
export function createServers(handle: RequestListener, limits: ServerLimits, log: Log) {
  const server = createHttpServer(handle, limits, log)
  const servers = [server]

  /** Listens on the other addresses of a name; nothing is wrong if one of them is not free. */
  async function listenOnOthers(host: string) {
    const { address, port } = server.address() as AddressInfo
    const { lookup } = await import('node:dns/promises')
    const found = await lookup(host, { all: true }).catch(() => [])
    for (const other of found) {
      if (other.address === address) continue
      const second = createHttpServer(handle, limits, log)
      try {
        await listenOn(second, { port, host: other.address })
        servers.push(second)
      } catch {}
    }
  }

  return {
    server,
    /** Listens, and returns the URL; rejects if the address cannot be used. */
    async listen({ port, host }: { port: number; host: string }): Promise<string> {
      await listenOn(server, { port, host })
      if (host === 'localhost') await listenOnOthers(host)
      return originOf(server)
    },
    /** Lets the process exit although a server listens and connections to it are open. */
    unref() {
      for (const one of servers) {
        one.unref()
        one.on('connection', (socket) => socket.unref())
      }
    },
    closeAllConnections() {
      for (const one of servers) one.closeAllConnections()
    },
    /** Stops listening, and resolves after all connections are closed. */
    async close() {
      await Promise.all(servers.map((one) => new Promise((resolve) => one.close(resolve))))
    },
  }
}
