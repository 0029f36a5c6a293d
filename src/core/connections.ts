import type { LookupFunction, Socket } from 'node:net'
import type { Client as HttpClient } from 'undici'
import buildConnector from 'undici/lib/core/connect.js'
import Client from 'undici/lib/dispatcher/client.js'
import type { Target } from './addresses.ts'

/** One kept connection to a receiver; whoever holds it is alone on it. */
export type Connection = {
  readonly client: HttpClient
  readonly target: Target
  /** What it speaks over; connecting at first, and another one where it was closed meanwhile. */
  socket: Socket | undefined
  /** Whether the socket has carried an answer to its end. */
  reused: boolean
}

/** Who waits for a connection; `take` is called when there is one. */
export type Waiting = { readonly settled: boolean; take: (connection: Connection) => void }

type Pool = { idle: Connection[]; open: number; waiting: Waiting[] }

// A receiver that is not sent to for this long, real ms, has its connections closed.
const IDLE_MS = 15_000
const HEADER_BYTES = 16 * 1024

/**
 * Makes the sender's connections: kept alive, at most so many at once to one receiver, each to an address that `lookup`
 * lets through. They have no deadline of their own, and read no body that their holder does not want.
 */
export function createConnections({ lookup, most }: { lookup: LookupFunction; most: number }) {
  const connector = buildConnector({ lookup, timeout: 0 } as never)
  const pools = new Map<string, Pool>()
  const originOf = ({ secure, authority }: Target) => `${secure ? 'https' : 'http'}://${authority}`

  function poolOf(target: Target): Pool {
    const origin = originOf(target)
    const known = pools.get(origin)
    if (known) return known
    const pool: Pool = { idle: [], open: 0, waiting: [] }
    pools.set(origin, pool)
    return pool
  }

  function forget(connection: Connection, pool: Pool) {
    connection.client.destroy()
    connection.socket?.destroy()
    pool.open--
    if (pool.open === 0 && pool.waiting.length === 0) pools.delete(originOf(connection.target))
  }

  function open(target: Target, pool: Pool): Connection {
    const client = new Client(originOf(target), {
      connect(options, callback) {
        connection.reused = false
        connection.socket = connector(
          { ...options, host: target.host, hostname: target.host },
          callback,
        )
      },
      maxHeaderSize: HEADER_BYTES,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
    })
    const connection: Connection = { client, target, socket: undefined, reused: false }
    client.on('disconnect', () => {
      const at = pool.idle.indexOf(connection)
      if (at < 0) return
      pool.idle.splice(at, 1)
      forget(connection, pool)
    })
    pool.open++
    return connection
  }

  /** Hands a connection to the first who still waits for one. */
  function letIn(pool: Pool, target: Target) {
    while (pool.waiting.length > 0 && (pool.idle.length > 0 || pool.open < most)) {
      const first = pool.waiting.shift()!
      if (!first.settled) first.take(pool.idle.pop() ?? open(target, pool))
    }
  }

  return {
    /** Gives a connection to `target` as soon as there is one. */
    wait(target: Target, waiting: Waiting) {
      const pool = poolOf(target)
      pool.waiting.push(waiting)
      letIn(pool, target)
    },
    /** Takes a connection back whose answer came to its end. */
    release(connection: Connection) {
      connection.reused = true
      const pool = poolOf(connection.target)
      pool.idle.push(connection)
      letIn(pool, connection.target)
    },
    /** Closes a connection, whatever is on its way on it. */
    drop(connection: Connection) {
      const pool = poolOf(connection.target)
      forget(connection, pool)
      letIn(poolOf(connection.target), connection.target)
    },
    /** Closes a connection, and opens another in its place. */
    replace({ target, ...old }: Connection): Connection {
      const pool = poolOf(target)
      const connection = open(target, pool)
      forget({ target, ...old }, pool)
      return connection
    },
    close() {
      for (const pool of pools.values()) for (const idle of pool.idle.splice(0)) forget(idle, pool)
    },
  }
}

/** The sender's connections. */
export type Connections = ReturnType<typeof createConnections>
