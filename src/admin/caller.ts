import {
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestOptions,
} from 'node:http'
import { type AdminCallId, adminRoute, adminTarget } from '../model/admin-routes.ts'
import type { FieldError } from '../model/errors.ts'
import type { SandboxEvent } from '../model/feed-kinds.ts'
import type { ADMIN_CALLS } from '../routes/admin/admin-calls.ts'

// The types of the admin calls, from the schemas of their routes; types only, so that a client loads none of the routes.
type TypesOf<Id extends AdminCallId> = NonNullable<
  Extract<(typeof ADMIN_CALLS)[number], { id: Id }>['types']
>

export type CallParams<Id extends AdminCallId> = TypesOf<Id>['params']
export type CallQuery<Id extends AdminCallId> = TypesOf<Id>['query']
export type CallBody<Id extends AdminCallId> = TypesOf<Id>['body']
export type ResponseBody<Id extends AdminCallId> = TypesOf<Id>['response']

/** The arguments of a call; which of them a call needs depends on the call. */
export type CallArguments<Id extends AdminCallId> = {
  params?: CallParams<Id>
  query?: CallQuery<Id>
  body?: CallBody<Id>
}

/** Fields whose values only the sandbox validates, such as those of a command line or a form. */
type Unchecked<T> = { [Field in keyof T]?: unknown }

export type UncheckedArguments<Id extends AdminCallId> = {
  params?: CallParams<Id>
  query?: Unchecked<CallQuery<Id>>
  body?: Unchecked<CallBody<Id>> | undefined
}

export type AdminApi = <Id extends AdminCallId>(
  id: Id,
  args?: UncheckedArguments<Id>,
) => Promise<ResponseBody<Id>>

const CONNECT_TIMEOUT_MS = 5_000
// An advance responds after all due timers have run, which can take minutes.
const RESPONSE_TIMEOUT_MS = 600_000
const ALIVE_TIMEOUT_MS = 10_000

type WhenLate = {
  /** How long to wait without data before asking `isAlive`, each time, ms. */
  lateMs?: number | undefined
  /** Whether the server is at work on the call. While it is, the timeout begins anew. */
  isAlive?: (() => Promise<boolean>) | undefined
}

/** Sends one request on a new connection. Resolves with the response before its body; rejects with connection errors. */
export async function open(
  url: URL,
  {
    timeout = RESPONSE_TIMEOUT_MS,
    isAlive,
    lateMs = timeout,
    ...options
  }: RequestOptions & WhenLate,
  body?: string,
): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? (await import('node:https')).request : httpRequest
  return new Promise((resolve, reject) => {
    const sent = request(url, { timeout: lateMs, ...options, agent: false }, resolve)
    const connectMs = Math.min(CONNECT_TIMEOUT_MS, timeout)
    let lastSeen = performance.now()
    const connectTimer = setTimeout(
      () => sent.destroy(new Error(`no connection within ${connectMs / 1_000} s`)),
      connectMs,
    )
    sent.on('socket', (socket) => {
      socket.once('connect', () => clearTimeout(connectTimer))
      socket.on('timeout', async () => {
        if (await isAlive?.()) lastSeen = performance.now()
        if (isAlive && performance.now() - lastSeen < timeout) socket.setTimeout(lateMs)
        else sent.destroy(new Error('no response'))
      })
    })
    sent.on('error', reject)
    sent.on('close', () => {
      clearTimeout(connectTimer)
      // An unexpected upgrade (101) closes the request without a response or an error.
      reject(new Error('the connection was closed without a response'))
    })
    sent.end(body)
  })
}

export type ExchangeOptions = Pick<RequestOptions, 'method' | 'signal' | 'timeout'> &
  WhenLate & { headers?: OutgoingHttpHeaders }

export async function exchange(url: URL, options: ExchangeOptions, body?: string) {
  const response = await open(url, options, body)
  response.setEncoding('utf8')
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode ?? 0, text }
}

/** The sandbox that a caller uses. */
export type Target = {
  /** The base URL of a client, without `/__admin`. */
  base: URL
  token?: string | undefined
  /** How long the sandbox may send nothing before a call fails, ms. Without it, a call goes on while others get responses. */
  timeoutMs?: number | undefined
  /** After how long, and then how often, a call without a response says where the clock stands, ms. */
  lateMs?: number | undefined
  onLate?: (now: string) => void
  signal?: AbortSignal | undefined
}

/** The body of an error of the admin API; the server may not be a sandbox, and then it has any fields. */
type ErrorBody = { error?: string; message?: string; errors?: readonly FieldError[] }

/** A call that the sandbox rejected, or that got no response. */
export type FailedCall = {
  method: string
  url: string
  status: number
  /** The parsed response; missing if it is not a JSON object. */
  body?: ErrorBody
  cause?: unknown
}

export function noResponseText(url: string, cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException
  return `No sandbox responds at ${url} (${code ?? message}).`
}

/** The message about a response that is not of a sandbox; `call` names the call. */
export const notJsonText = (call: string, status: number): string =>
  `${call} responds with ${status} and a body that is not JSON. Check that it is a payout-sandbox.`

/** The base URL of the admin API, without a `/` at its end. */
export const adminBase = ({ base }: Target): string => `${base.href.replace(/\/$/, '')}/__admin`

export const tokenHeader = ({ token }: Target): Record<string, string> =>
  token === undefined ? {} : { 'x-admin-token': token }

/** The headers of a body, if there is one. */
export const jsonHeaders = (text: string | undefined): OutgoingHttpHeaders =>
  text === undefined
    ? {}
    : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }

/** Parses a response that must be a JSON object; without `body` if it is not. */
export function parseBody(text: string): { body?: object } {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? { body } : {}
  } catch {
    return {}
  }
}

/** Returns a function that sends one admin call and returns its response. It throws what `errorOf` makes of a failed call. */
export function createCaller(target: Target, errorOf: (failed: FailedCall) => Error) {
  return async <Id extends AdminCallId>(
    id: Id,
    args: {
      params?: object | undefined
      query?: object | undefined
      body?: unknown
      /** A body that is sent unchanged. */
      raw?: string
      headers?: Readonly<Record<string, string>>
    } = {},
  ): Promise<ResponseBody<Id>> => {
    const { method, path } = adminTarget(id, args)
    const url = new URL(adminBase(target) + path)
    const text = args.raw ?? (args.body === undefined ? undefined : JSON.stringify(args.body))
    const headers = {
      ...tokenHeader(target),
      ...jsonHeaders(text),
      ...args.headers,
    }
    const call = { method, url: url.href }
    const { timeoutMs: timeout, lateMs, onLate, signal } = target
    const isAlive = async () => {
      const clock = new URL(`${adminBase(target)}/clock`)
      const alive = Math.min(ALIVE_TIMEOUT_MS, timeout ?? ALIVE_TIMEOUT_MS)
      const asked = { headers: tokenHeader(target), timeout: alive }
      const { status, text } = await exchange(clock, asked).catch(() => ({ status: 0, text: '' }))
      if (status === 200) onLate?.((parseBody(text).body as { now: string }).now)
      return status === 200
    }
    const patience = timeout === undefined || onLate ? { lateMs, isAlive } : {}
    const response = await exchange(
      url,
      { method, headers, ...patience, ...(timeout && { timeout }), ...(signal && { signal }) },
      text,
    ).catch((cause: unknown) => {
      throw errorOf({ ...call, status: 0, cause })
    })
    const { status } = response
    const parsed = parseBody(response.text)
    if (status >= 400 || !parsed.body) throw errorOf({ ...call, status, ...parsed })
    return parsed.body as ResponseBody<Id>
  }
}

/** Parses the URL of a sandbox and removes `/v1` or `/__admin` from its end. Returns `undefined` if it is not an HTTP URL. */
export function parseSandboxUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) return undefined
  url.pathname = url.pathname.replace(/(?:\/(?:v1|__admin))?\/*$/, '')
  url.search = ''
  url.hash = ''
  return url
}

const CLIENT_AT_END = /\/@([^/]+)$/

/** The client that a URL names, as it stands there. */
export const clientInUrl = ({ pathname }: URL) => CLIENT_AT_END.exec(pathname)?.[1]

export function urlOfClient(url: URL, name: string): URL {
  const result = new URL(url)
  result.pathname = `${url.pathname.replace(CLIENT_AT_END, '').replace(/\/$/, '')}/@${name}`
  return result
}

/** Parses one block of a server-sent event stream. Returns `undefined` for a comment. */
function parseEvent(block: string): SandboxEvent | undefined {
  const fields = Object.fromEntries(
    block.split('\n').map((line) => {
      const [name = '', ...value] = line.split(': ')
      return [name, value.join(': ')]
    }),
  )
  if (fields['data'] === undefined) return undefined
  return {
    id: fields['id'] ?? '',
    kind: fields['event'] as SandboxEvent['kind'],
    data: JSON.parse(fields['data']),
  }
}

/** Reads the live events of a world, until the sandbox stops or the loop is left. */
export async function* readEvents(
  target: Target,
  errorOf: (failed: FailedCall) => Error,
  { lastEventId }: { lastEventId?: string },
): AsyncGenerator<SandboxEvent> {
  const { method, url: path } = adminRoute('streamEvents')
  const url = adminBase(target) + path
  const call = { method, url }
  const headers = {
    ...tokenHeader(target),
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  }
  const response = await open(new URL(url), { headers }).catch((cause: unknown) => {
    throw errorOf({ ...call, status: 0, cause })
  })
  response.setEncoding('utf8')
  let text = ''
  for await (const chunk of response) {
    text += chunk
    if (response.statusCode !== 200) continue
    const blocks = text.split('\n\n')
    text = blocks.pop()!
    for (const block of blocks) {
      const event = parseEvent(block)
      if (event) yield event
    }
  }
  const status = response.statusCode ?? 0
  if (status !== 200) throw errorOf({ ...call, status, ...parseBody(text) })
}
