import { type AdminCallId, adminTarget } from '../model/admin-routes.ts'
import type { ResponseBody } from './contract.ts'
import { type Exchange, exchange } from './exchange.ts'

/** The sandbox that a caller uses. */
export type Target = {
  /** The base URL of a client, without `/__admin`. */
  base: URL
  /** The admin token, if the sandbox requires one. */
  token?: string | undefined
  /** How long the sandbox may send nothing before a call fails, ms. */
  timeoutMs?: number | undefined
  /** Ends the calls when it is aborted. */
  signal?: AbortSignal | undefined
  /** How requests are sent (default: over HTTP). */
  exchange?: Exchange | undefined
}

/** A call that the sandbox rejected, or that got no response. */
export type FailedCall = {
  method: string
  url: string
  /** The HTTP status; 0 if there was no response. */
  status: number
  /** The parsed response; missing if it is not a JSON object. */
  body?: object
  /** Why there was no response. */
  cause?: unknown
}

/** The message about a sandbox that did not respond. */
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
      ...(text !== undefined && {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      }),
      ...args.headers,
    }
    const call = { method, url: url.href }
    const { timeoutMs: timeout, signal, exchange: send = exchange } = target
    const response = await send(
      url,
      { method, headers, ...(timeout && { timeout }), ...(signal && { signal }) },
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
