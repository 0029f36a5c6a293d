/** A message of an agent, with what its tools need to call this sandbox. */
export type McpRequest = {
  /** The origin at which this process reaches its own server. */
  own: string
  /** The origin at which the caller reaches it. */
  origin: string
  /** The name of the client; `undefined` is the default one. */
  client: string | undefined
  /** The access token that the caller has sent. */
  token: string | undefined
  adminToken: string | undefined
  headers: Record<string, string>
  body: unknown
}

export type McpResponse = { status: number; type: string | null; text: string }

/** Answers a message of the Model Context Protocol. */
export type McpHandler = (request: McpRequest) => Promise<McpResponse>
