import * as z from 'zod'
import {
  type AdminApi,
  createCaller,
  type ExchangeOptions,
  exchange,
  type FailedCall,
  noResponseText,
  notJsonText,
  type Target,
} from '../../admin/caller.ts'
import type { RequestInShort } from '../../model/logged-request.ts'

export type Access = {
  target: Target
  /** The base URL of the client without `/v1`, as the program of the agent reaches it. */
  url: string
  token?: string | undefined
  /** What the agent must know about how it was connected. */
  note?: string | undefined
}

/** What one call of a tool uses. Its requests end when the agent cancels it or is gone. */
export type Connection = Omit<Access, 'target'> & {
  signal: AbortSignal
  admin: AdminApi
  /** Sends any request; the path is below the base URL. */
  send(path: string, options: ExchangeOptions, body?: string): ReturnType<typeof exchange>
}

/** The result of a tool. It has no structured content: some agents show that to the model instead of the text. */
export type ToolResult = {
  /** Short text, which says what is the case. */
  text: string
  /** What to do next, as the end of a sentence that starts with `Next:`. */
  next: string
}

/** The name or the id of one thing; a URL drops the path `..`. */
export const Name = z.string().regex(/[^.]/, 'must be a name or an id')

export type Tool = {
  name: string
  title: string
  /** One sentence for the table of the docs. */
  description: string
  readOnly?: true
  input: z.ZodObject
  run(args: object, connection: Connection): Promise<ToolResult>
}

/** Defines a tool; its arguments have the types of its schema. */
export const defineTool = <S extends z.ZodObject>(
  name: string,
  tool: Pick<Tool, 'title' | 'description' | 'readOnly'> & {
    input: S
    run(args: z.output<S>, connection: Connection): ToolResult | Promise<ToolResult>
  },
) => ({ ...tool, name }) as unknown as Tool

export const OptionalText = (description: string) => z.string().optional().meta({ description })

/** An object with any fields. */
export const AnyFields = z.record(z.string(), z.unknown())

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
    'give --admin-token to payout-sandbox mcp. The sandbox prints the token at start.',
  wait_timeout:
    'look whether the clock stands still (look); if it does, move it with advance_clock, then wait again.',
  verification_failed: 'read the closest calls above, or list all calls with find_requests.',
  not_found:
    'do what the message says, or check the id or the name: look, find_requests and the tools that list show those that exist.',
}

function errorOf({ method, url, status, body, cause }: FailedCall): ToolError {
  if (status === 0) return new ToolError(noResponseText(url, cause), ADVICE['no_response']!)
  if (!body) return new ToolError(notJsonText(`${method} ${url}`, status), ADVICE['no_response']!)
  const { error, message, errors = [] } = body
  const details = errors.map((one) => `\n- ${one.field}: ${one.message}`)
  return new ToolError(
    // The message has a single one of them.
    `Rejected (${error}): ${message}${details.length > 1 ? details.join('') : ''}`,
    ADVICE[error ?? ''] ??
      'correct the arguments and call the tool again; the resource payout-sandbox://docs/errors.md explains each code.',
  )
}

export function connect({ target, ...more }: Access, signal: AbortSignal): Connection {
  return {
    ...more,
    signal,
    admin: createCaller({ ...target, signal }, errorOf),
    send: (path, options, body) =>
      exchange(new URL(target.base.href.replace(/\/$/, '') + path), { signal, ...options }, body),
  }
}

export const explainError = (error: unknown): ToolResult =>
  error instanceof ToolError
    ? { text: error.message, next: error.next }
    : {
        text: `Rejected: ${(error as Error).message}`,
        next: 'correct the arguments and call the tool again.',
      }

export const linesOf = (...lines: readonly (string | false | null | undefined)[]): string =>
  lines.filter(Boolean).join('\n')

export function listText<T>(
  heading: string,
  items: readonly T[],
  lineOf: (item: T) => string,
  { total = items.length, shown = items.length } = {},
): string {
  if (total === 0) return `${heading}: none`
  const lines = items.slice(0, shown).map((item) => `- ${lineOf(item)}`)
  const left = total - lines.length
  return linesOf(`${heading} (${total}):`, ...lines, left > 0 && `- and ${left} more`)
}

export const shortText = (text: string, most: number): string =>
  text.length > most
    ? `${text.slice(0, most)}… (${text.length - most} of ${text.length} characters left out)`
    : text

export const shortJson = (value: unknown, most = 400): string =>
  shortText(JSON.stringify(value) ?? 'null', most)

export const requestLine = ({ request_id, method, path, status, rule, fault }: RequestInShort) =>
  `${request_id} ${method} ${path}: ${status ?? 'no response'}` +
  (rule === null ? '' : `, rule ${JSON.stringify(rule)}`) +
  (fault === null ? '' : `, fault ${fault}`)
