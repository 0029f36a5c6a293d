import type { LookupFunction, Socket } from 'node:net'
import type { Client as HttpClient } from 'undici'
import buildConnector from 'undici/lib/core/connect.js'
import Client from 'undici/lib/dispatcher/client.js'
import type { Target } from './addresses.ts'

/** One kept connection to a receiver; whoever holds it is alone on it. */
export type Connection = {
  readonly client: HttpClient
  readonly pool: Pool
  /** What it speaks over; connecting at first, and another one where it was closed meanwhile. */
  socket: Socket | undefined
  /** Whether the socket has carried an answer to its end. */
  reused: boolean
}

/** Who waits for a connection; `take` is called when there is one. */
export type Waiting = { readonly settled: boolean; take: (connection: Connection) => void }

/** The connections to one receiver. */
type Pool = { target: Target; idle: Connection[]; open: number; waiting: Waiting[] }

// A receiver that is not sent to for this long, real ms, has its connections closed.
const IDLE_MS = 15_000
const HEADER_BYTES = 16 * 1024

/** The HTTP client calls `ref` for as long as a request is under way. */
function unrefForGood(socket: Socket) {
  socket.unref()
  socket.ref = () => socket
}

/**
 * Makes the sender's connections: kept alive, at most so many at once to one receiver, each to an address that `lookup`
 * lets through. They have no deadline of their own, and read no body that their holder does not want. Where `maxOpen`
 * are open, an idle one is closed before another is opened.
 */
export function createConnections({
  lookup,
  most,
  maxOpen,
  unref,
}: {
  lookup: LookupFunction
  most: number
  maxOpen: number
  /** The process does not stay alive for a connection. */
  unref: boolean
}) {
  const connector = buildConnector({ lookup, timeout: 0 })
  const pools = new Map<string, Pool>()
  let openNow = 0

  function poolOf(target: Target): Pool {
    const known = pools.get(target.origin)
    if (known) return known
    const pool: Pool = { target, idle: [], open: 0, waiting: [] }
    pools.set(target.origin, pool)
    return pool
  }

  function closeIdle() {
    for (const { idle } of pools.values()) {
      const oldest = idle.shift()
      if (oldest) return close(oldest)
    }
  }

  function open(pool: Pool): Connection {
    if (openNow >= maxOpen) closeIdle()
    const { host, origin } = pool.target
    const client = new Client(origin, {
      connect(options, callback) {
        connection.reused = false
        connection.socket = connector({ ...options, host, hostname: host }, callback)
        if (unref) unrefForGood(connection.socket)
      },
      maxHeaderSize: HEADER_BYTES,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
    })
    const connection: Connection = { client, pool, socket: undefined, reused: false }
    client.on('disconnect', () => {
      const at = pool.idle.indexOf(connection)
      if (at < 0) return
      pool.idle.splice(at, 1)
      close(connection)
    })
    pool.open++
    openNow++
    return connection
  }

  function close({ client, socket, pool }: Connection) {
    client.destroy()
    socket?.destroy()
    pool.open--
    openNow--
    if (pool.open === 0 && pool.waiting.length === 0) pools.delete(pool.target.origin)
  }

  /** Hands connections to those who still wait for one, the first first. */
  function letIn(pool: Pool) {
    while (pool.waiting.length > 0 && (pool.idle.length > 0 || pool.open < most)) {
      const first = pool.waiting.shift()!
      if (!first.settled) first.take(pool.idle.pop() ?? open(pool))
    }
  }

  return {
    /** Gives a connection to `target` as soon as there is one. */
    wait(target: Target, waiting: Waiting) {
      const pool = poolOf(target)
      pool.waiting.push(waiting)
      letIn(pool)
    },
    /** Takes a connection back whose answer came to its end. */
    release(connection: Connection) {
      connection.reused = true
      connection.pool.idle.push(connection)
      letIn(connection.pool)
    },
    /** Closes a connection, whatever is on its way on it. */
    drop(connection: Connection) {
      close(connection)
      letIn(connection.pool)
    },
    /** Closes a connection, and opens another in its place. */
    replace(connection: Connection): Connection {
      const other = open(connection.pool)
      close(connection)
      return other
    },
    /** Closes those that nobody holds. */
    close() {
      for (const { idle } of pools.values())
        for (const connection of idle.splice(0)) close(connection)
    },
  }
}

/** The sender's connections. */
export type Connections = ReturnType<typeof createConnections>
