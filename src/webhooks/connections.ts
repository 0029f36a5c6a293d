import type { LookupFunction, Socket } from 'node:net'
import type { Client as HttpClient } from 'undici'
import buildConnector from 'undici/lib/core/connect.js'
import Client from 'undici/lib/dispatcher/client.js'
import type { Target } from './addresses.ts'

/** One keep-alive connection to a receiver; only one attempt uses it at a time. */
export type Connection = {
  readonly client: HttpClient
  readonly pool: Pool
  /** The current socket: still connecting at first, and a new one if the old one was closed. */
  socket: Socket | undefined
  /** Whether the socket has already completed a response. */
  reused: boolean
}

/** An attempt that waits for a connection; `take` is called with it. */
export type Waiter = { readonly settled: boolean; take: (connection: Connection) => void }

/** The connections to one receiver. */
type Pool = { target: Target; idle: Connection[]; open: number; waiting: Waiter[] }

// Idle connections are closed after this time, real ms.
const IDLE_MS = 15_000
const HEADER_BYTES = 16 * 1024

/** Overrides `ref`, because the HTTP client calls it while a request is active. */
function unrefPermanently(socket: Socket) {
  socket.unref()
  socket.ref = () => socket
}

/**
 * Creates the connection pool of the sender: keep-alive connections, at most `maxPerReceiver` to one receiver, only to
 * addresses that `lookup` allows. They have no deadline of their own. If `maxOpen` connections are open, an idle one
 * is closed before another is opened.
 */
export function createConnections({
  lookup,
  maxPerReceiver,
  maxOpen,
  unref,
}: {
  lookup: LookupFunction
  maxPerReceiver: number
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
        if (unref) unrefPermanently(connection.socket)
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

  /** Gives connections to the waiting attempts, in order. */
  function serveWaiting(pool: Pool) {
    while (pool.waiting.length > 0 && (pool.idle.length > 0 || pool.open < maxPerReceiver)) {
      const first = pool.waiting.shift()!
      if (!first.settled) first.take(pool.idle.pop() ?? open(pool))
    }
  }

  return {
    /** Queues an attempt; it gets a connection to `target` as soon as one is available. */
    wait(target: Target, waiting: Waiter) {
      const pool = poolOf(target)
      pool.waiting.push(waiting)
      serveWaiting(pool)
    },
    /** Returns a connection to the pool after a complete response. */
    release(connection: Connection) {
      connection.reused = true
      connection.pool.idle.push(connection)
      serveWaiting(connection.pool)
    },
    /** Closes a connection, also in the middle of a request. */
    drop(connection: Connection) {
      close(connection)
      serveWaiting(connection.pool)
    },
    /** Closes a connection and opens a new one for the same attempt. */
    replace(connection: Connection): Connection {
      const other = open(connection.pool)
      close(connection)
      return other
    },
    /** Closes the idle connections. */
    close() {
      for (const { idle } of pools.values())
        for (const connection of idle.splice(0)) close(connection)
    },
  }
}

/** The sender's connections. */
export type Connections = ReturnType<typeof createConnections>
