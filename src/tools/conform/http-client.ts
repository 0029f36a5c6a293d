import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { jsonHeaders, open } from '../../admin/caller.ts'
import type { Operation } from '../../http/endpoint.ts'

// 20 times the size of a page of 100 rows: a larger response is not from this service.
const MAX_BYTES = 1024 * 1024
const RESPONSE_TIMEOUT_MS = 10_000

export type ConformCall = {
  params?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string | number>>
  /** A string is sent unchanged, any other value as JSON. */
  body?: unknown
  headers?: Readonly<Record<string, string>>
  /** Overrides the client's token; `null` sends none. */
  token?: string | null
  /** A description for the report, if the query parameters do not describe the call. */
  call?: string
  isWithSlash?: boolean
}

export type CompleteResponse = {
  status: number
  headers: IncomingHttpHeaders
  text: string
  problem?: undefined
}
type ConformResponse = CompleteResponse | { problem: string }

export type HttpClientOptions = {
  /** Ends in `/v1`. */
  base: string
  token: string | undefined
  /** The timeout of a whole call, real ms; default: 10,000. */
  responseTimeoutMs?: number | undefined
}

function urlOf(base: string, url: string, { params = {}, query, isWithSlash }: ConformCall): URL {
  const filled = url.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name]!))
  const result = new URL(`${base}${filled}${isWithSlash ? '/' : ''}`)
  for (const [name, value] of Object.entries(query ?? {}))
    result.searchParams.set(name, String(value))
  return result
}

async function read(
  { base, token: ownToken }: HttpClientOptions,
  { method, url }: Operation,
  call: ConformCall,
  signal: AbortSignal,
): Promise<ConformResponse> {
  const { body, token = ownToken ?? null } = call
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    ...(token !== null && { authorization: `Bearer ${token}` }),
    ...jsonHeaders(text),
    ...call.headers,
  }
  const response = await open(urlOf(base, url, call), { method, headers, signal }, text)
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    size += chunk.length
    if (size > MAX_BYTES) return { problem: 'a response of more than 1 MiB' }
    chunks.push(chunk)
  }
  const bytes = Buffer.concat(chunks)
  const { statusCode = 0, headers: responseHeaders } = response
  if (!/^(identity)?$/i.test(responseHeaders['content-encoding'] ?? ''))
    return { problem: 'a compressed response, which was not requested' }
  if (!isUtf8(bytes)) return { problem: 'a response that is not valid UTF-8' }
  return { status: statusCode, headers: responseHeaders, text: bytes.toString('utf8') }
}

/** Sends one request to an untrusted service: one timeout, no redirects, no decompression. The promise never rejects. */
export async function sendRequest(
  options: HttpClientOptions,
  op: Operation,
  call: ConformCall,
): Promise<ConformResponse> {
  const { responseTimeoutMs = RESPONSE_TIMEOUT_MS } = options
  const signal = AbortSignal.timeout(responseTimeoutMs)
  try {
    return await read(options, op, call, signal)
  } catch (error) {
    if (signal.aborted)
      return { problem: `no complete response within ${responseTimeoutMs / 1_000} s` }
    const { code, message } = error as NodeJS.ErrnoException
    return { problem: `no response (${code ?? message})` }
  }
}
