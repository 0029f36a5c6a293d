import type { SendError } from '../model/delivery.ts'
import type { Later } from './real-time.ts'

/** Returns a function that makes its value when it is first called. */
export function onDemand<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

// Modules of Node that most starts do not need: loading them takes a tenth of a start, so they are loaded when first used.
export const nodeCrypto = onDemand(() => process.getBuiltinModule('node:crypto'))
export const nodeZlib = onDemand(() => process.getBuiltinModule('node:zlib'))

/**
 * One HTTP request to send; `deadlineMs` is the real time for the whole attempt (default: 10,000). The sender sets `host`,
 * `content-length`, `connection` and `accept-encoding`.
 */
export type SendRequest = {
  method?: 'POST' | 'GET'
  url: string
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array
  deadlineMs?: number
}

/** The result of an attempt. `ok`: a 2xx response arrived completely, or up to the read limit. */
export type SendResult = {
  ok: boolean
  /** Set when the response headers have arrived, even if the attempt failed later. */
  status?: number
  /** The first 4 KiB of the response body as text; empty if it is compressed. */
  response: string
  /** The response body is longer than `response`. */
  truncated: boolean
  duration_ms: number
  /** The wait that `Retry-After` requests, ms from now; absent if the header is missing or invalid. */
  retryAfterMs?: number
  error?: SendError
}

export type Log = {
  info(message: string): void
  warn(message: string): void
  error(message: string, error?: unknown): void
}

/** Every input of a sandbox besides its calls goes through this interface, so that a test can replace it. */
export type Runtime = {
  /** The wall clock, ms since 1970. */
  wall: () => number
  elapsed: () => number
  later: Later
  /** Sends a webhook attempt or a request to a probe. */
  send: (request: SendRequest) => Promise<SendResult>
  /** 32 hex digits that nobody can guess. */
  secret: () => string
  close: () => void
}
