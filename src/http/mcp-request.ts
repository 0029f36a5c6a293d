import type { RequestListener } from 'node:http'

/** A message of an agent, with what its tools need to call this sandbox. */
export type McpRequest = {
  /** Handles the requests of the tools, with all guards. */
  handle: RequestListener
  /** The Host header of the caller. */
  host: string
  /** The base path of the client; empty for the default one. */
  basePath: string
  /** The access token that the caller has sent. */
  token: string | undefined
  adminToken: string | undefined
  headers: Record<string, string>
  body: unknown
  /** Is aborted when the caller is gone. */
  signal: AbortSignal
}

export type McpResponse = { status: number; type: string | null; text: string }

/** Answers a message of the Model Context Protocol. */
export type McpHandler = (request: McpRequest) => Promise<McpResponse>
