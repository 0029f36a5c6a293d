import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { open } from '../../admin/caller.ts'

// 20 times the size of a page of 100 rows: a larger response is not from this service.
const MAX_BYTES = 1024 * 1024
const RESPONSE_TIMEOUT_MS = 10_000

export type ConformRequest = {
  method: 'GET' | 'POST' | 'PUT'
  /** Below the base URL, with its query. */
  path: string
  /** A string is sent unchanged, any other value as JSON. */
  body?: unknown
  headers?: Readonly<Record<string, string>>
  /** Overrides the client's token; `null` sends none. */
  token?: string | null
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

async function read(
  { base, token: ownToken }: HttpClientOptions,
  { method, path, body, token = ownToken ?? null, headers: more }: ConformRequest,
  signal: AbortSignal,
): Promise<ConformResponse> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    ...(token !== null && { authorization: `Bearer ${token}` }),
    ...(text !== undefined && {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    }),
    ...more,
  }
  const response = await open(new URL(base + path), { method, headers, signal }, text)
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
  request: ConformRequest,
): Promise<ConformResponse> {
  const { responseTimeoutMs = RESPONSE_TIMEOUT_MS } = options
  const signal = AbortSignal.timeout(responseTimeoutMs)
  try {
    return await read(options, request, signal)
  } catch (error) {
    if (signal.aborted)
      return { problem: `no complete response within ${responseTimeoutMs / 1_000} s` }
    const { code, message } = error as NodeJS.ErrnoException
    return { problem: `no response (${code ?? message})` }
  }
}
