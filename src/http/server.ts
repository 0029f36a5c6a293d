import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { ENVELOPE } from '../assumptions/responses.ts'
import { ERRORS } from '../model/errors.ts'
import { excerptOf } from '../model/mask.ts'
import { oncePerBurst } from '../runtime/real-time.ts'
import type { Log } from '../runtime/runtime.ts'
import { closeWith, isClosing } from './connection.ts'
import { COMMON_HEADERS, ERROR_OF, JSON_TYPE } from './errors.ts'

export type ServerLimits = {
  /** Maximum of open connections (default: 4,096). */
  maxConnections?: number | undefined
  /** How long a request may take to arrive, real ms (default: 10 s). */
  requestMs?: number | undefined
}

type ServerOptions = ServerLimits & {
  /** The headers of an error to a page of this origin. */
  corsHeaders: ((origin: string | undefined) => object) | undefined
}

// Long enough for a slow laptop, short enough that a stuck client frees its socket, real ms.
const REQUEST_MS = 10_000

// Each waiting request takes memory, so a caller that sends without reading must be stopped.
const MAX_WAITING = 1_000

/** Handles a connection's requests one at a time: Node passes on all pipelined ones, whether or not their responses are read. */
function oneAtATime(handle: RequestListener, log: Log): RequestListener {
  const lines = new WeakMap<Socket, { last: ServerResponse; waiting: number }>()
  const warn = oncePerBurst(() =>
    log.warn(
      `A connection was closed because ${MAX_WAITING} of its pipelined requests were waiting, the maximum. Read responses before you send more requests.`,
    ),
  )
  return (request, response) => {
    const { socket } = request
    // A browser repeats a call by itself, even a POST, if a reused connection ends without a response.
    if (request.headers['sec-fetch-site'] !== undefined) response.shouldKeepAlive = false
    const line = lines.get(socket)
    if (!line || line.last.closed) {
      lines.set(socket, { last: response, waiting: 0 })
      return handle(request, response)
    }
    if (line.waiting === MAX_WAITING) {
      warn()
      return socket.destroy()
    }
    line.waiting++
    line.last.once('close', () =>
      // Other connections come first.
      setImmediate(() => {
        line.waiting--
        if (socket.writable) handle(request, response)
      }),
    )
    line.last = response
  }
}

const jsonHeaders = (body: string) => ({
  ...COMMON_HEADERS,
  'content-type': JSON_TYPE,
  'content-length': Buffer.byteLength(body),
})

// Responses after which the connection is closed, because malformed bytes followed the request.
const lastResponses = new WeakSet<ServerResponse>()

type ClientError = NodeJS.ErrnoException & { rawPacket?: Buffer }

// How another protocol starts, and what its client has to change: it shows neither a response nor its reason.
const OTHER_PROTOCOLS = [
  ['\x16', 'A client spoke TLS to this port. Use http:// and not https://.'],
  ['PRI * HTTP/2.0', 'A client spoke HTTP/2 to this port. Use HTTP/1.1.'],
] as const

/** Responds to malformed HTTP with the error envelope, and closes the connection. */
function sendClientError(
  error: ClientError,
  socket: Socket,
  corsHeaders: ServerOptions['corsHeaders'],
  warnOnce: (message: string) => unknown,
): void {
  if (isClosing(socket)) return
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  // The caller would read an error now as the response of the earlier request, or as a part of it.
  const { _httpMessage: pending } = socket as { _httpMessage?: ServerResponse | null }
  if (pending?.headersSent) {
    socket.destroySoon()
    return
  }
  if (pending?.req.complete) {
    if (!lastResponses.has(pending)) pending.once('finish', () => socket.destroySoon())
    lastResponses.add(pending)
    return
  }
  const received = error.rawPacket?.toString('latin1') ?? ''
  const [, other] = OTHER_PROTOCOLS.find(([start]) => received.startsWith(start)) ?? []
  if (other !== undefined) warnOnce(other)
  const [word, message] = ERROR_OF[error.code ?? ''] ?? [
    'malformed_request' as const,
    other ?? 'The request is not well-formed HTTP.',
  ]
  const [status] = ERRORS[word]
  const body = ENVELOPE.text({ status, code: word, message })
  // The headers were not read.
  const [, origin] = /\norigin: *(\S+)/i.exec(received) ?? []
  const headers = { ...corsHeaders?.(origin), ...jsonHeaders(body), connection: 'close' }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  closeWith(socket, `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}

function rejectExpectation(
  request: IncomingMessage,
  response: ServerResponse,
  corsHeaders: ServerOptions['corsHeaders'],
): void {
  const [status] = ERRORS.expectation_failed
  const message = `Expect: ${excerptOf(String(request.headers.expect), 40)} is not supported. Send the request without this header.`
  const body = ENVELOPE.text({ status, code: 'expectation_failed', message })
  const headers = { ...corsHeaders?.(request.headers.origin), ...jsonHeaders(body) }
  response.writeHead(status, { ...headers, connection: 'close' }).end(body)
}

function createHttpServer(
  handle: RequestListener,
  { requestMs = REQUEST_MS, maxConnections = 4_096, corsHeaders }: ServerOptions,
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
  const said = new Set<string>()
  const warnOnce = (message: string) => said.size < said.add(message).size && log.warn(message)
  server.on('clientError', (error, socket) =>
    sendClientError(error, socket as Socket, corsHeaders, warnOnce),
  )
  server.on('checkExpectation', (request, response) =>
    rejectExpectation(request, response, corsHeaders),
  )
  return server
}

async function listenOn(server: Server, address: { port: number; host: string }) {
  server.listen(address)
  await once(server, 'listening')
}

function originOf(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo
  if (address === '::' || address === '0.0.0.0') return `http://127.0.0.1:${port}`
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/** The HTTP server of an app; for `localhost` a second one on the other address of that name. */
export function createServers(handle: RequestListener, limits: ServerOptions, log: Log) {
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
    async close() {
      await Promise.all(servers.map((one) => new Promise((resolve) => one.close(resolve))))
    },
  }
}
