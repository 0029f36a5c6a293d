import type * as z from 'zod'
import { type AdminClient, AdminError } from '../admin/admin-client.ts'

/** The sandbox that the tools of a server use. */
export type Connection = {
  admin: AdminClient
  /** The base URL of the client without `/v1`, for calls of the tools. */
  base: string
  /** The base URL of the service, as the program of the agent reaches it. */
  service: string
  /** The access token of the client, if it is known. */
  token?: string | undefined
  /** What the agent must know about how it was connected. */
  note?: string | undefined
}

/** The result of a tool. It has no structured content: some agents show that to the model instead of the text. */
export type ToolResult = {
  /** Short text, which says what is the case. */
  text: string
  /** What to do next, as the end of a sentence that starts with `Next:`. */
  next: string
}

/** A tool of the MCP server. */
export type Tool = {
  name: string
  title: string
  /** One sentence for the table of the docs. */
  description: string
  /** It changes nothing. */
  readOnly?: true
  input: z.ZodObject
  run(args: object, connection: Connection, signal: AbortSignal): Promise<ToolResult>
}

/** Defines a tool; its arguments have the types of its schema. */
export const defineTool = <S extends z.ZodObject>(
  tool: Omit<Tool, 'input' | 'run'> & {
    input: S
    run(
      args: z.output<S>,
      connection: Connection,
      signal: AbortSignal,
    ): ToolResult | Promise<ToolResult>
  },
): Tool => tool as unknown as Tool

/** The call of a tool was rejected. The message says why, `next` what to do. */
export class ToolError extends Error {
  readonly next: string

  constructor(message: string, next: string) {
    super(message)
    this.name = 'ToolError'
    this.next = next
  }
}

// What an agent can do about an error, beyond the message of the sandbox.
const ADVICE: Readonly<Record<string, string>> = {
  no_response:
    'start the sandbox (payout-sandbox start), or give its address to payout-sandbox mcp with --url.',
  admin_token_required:
    'send the header X-Admin-Token, or give --admin-token to payout-sandbox mcp. The sandbox prints the token at start.',
  wait_timeout:
    'look whether the clock stands still (look); if it does, move it with advance_clock, then wait again.',
  verification_failed: 'read the closest calls above, or list all calls with find_requests.',
  not_found:
    'do what the message says, or check the id or the name: look, find_requests and the tools that list show those that exist.',
}

/** The text of an error of a call, and what to do about it. */
export function explainError(error: unknown): ToolResult {
  if (error instanceof ToolError) return { text: error.message, next: error.next }
  if (error instanceof AdminError) {
    // The message has a single one of them.
    const details =
      error.errors.length > 1
        ? error.errors.map(({ field, message }) => `- ${field}: ${message}`)
        : []
    return {
      text: [`Rejected (${error.code}): ${error.message}`, ...details].join('\n'),
      next:
        ADVICE[error.code] ??
        'correct the arguments and call the tool again; the resource payout-sandbox://docs/errors.md explains each code.',
    }
  }
  return {
    text: `Rejected: ${(error as Error).message}`,
    next: 'correct the arguments and call the tool again.',
  }
}
