import { STATUS_CODES } from 'node:http'
import { VERSION } from '../config/package.ts'
import type { Har, LoggedRequest } from '../model/logged-request.ts'

const NOT_KEPT = 'The request log keeps no text that is long, and of requests only JSON.'

/** Names and values; a name with several values comes once for each. */
const pairsOf = (values: Readonly<Record<string, unknown>>) =>
  Object.entries(values).flatMap(([name, value]) =>
    [value].flat().map((one) => ({ name, value: String(one) })),
  )

/** A body as the log has it: JSON, or the text of what is no JSON. */
const textOf = (body: unknown) => (body === null ? { comment: NOT_KEPT } : { text: asText(body) })
const asText = (body: unknown) => (typeof body === 'string' ? body : JSON.stringify(body))

function requestOf({ method, path, query, headers, body, body_size }: LoggedRequest) {
  const queryString = pairsOf(query)
  const search = new URLSearchParams(
    queryString.map(({ name, value }): [string, string] => [name, value]),
  ).toString()
  return {
    method,
    url: `http://${headers['host'] ?? 'localhost'}${path}${search && `?${search}`}`,
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: pairsOf(headers),
    queryString,
    ...(body_size > 0 && {
      postData: { mimeType: headers['content-type'] ?? '', params: [], ...textOf(body) },
    }),
    headersSize: -1,
    bodySize: body_size,
  }
}

/** Without a response, the status is 0, as browsers export it. */
function responseOf({ status, fault, response, response_size: size }: LoggedRequest) {
  const isText = typeof response === 'string'
  const mimeType = status === null ? 'x-unknown' : isText ? 'text/plain' : 'application/json'
  return {
    status: status ?? 0,
    statusText:
      status === null
        ? `no response (${fault ?? 'the caller left'})`
        : (STATUS_CODES[status] ?? ''),
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: [],
    content: { size, mimeType, ...(size > 0 && textOf(response)) },
    redirectURL: '',
    headersSize: -1,
    bodySize: status === null ? -1 : size,
  }
}

function entryOf(call: LoggedRequest) {
  const { client, duration_ms: time, made, traceparent } = call
  return {
    startedDateTime: new Date(Date.parse(call.wall_at) - time).toISOString(),
    time,
    request: requestOf(call),
    response: responseOf(call),
    cache: {},
    timings: { send: 0, wait: time, receive: 0 },
    _request_id: call.request_id,
    ...(client !== undefined && { _client: client }),
    // On the client's clock, while HAR has real time.
    _at: call.at,
    _rule: call.rule,
    _fault: call.fault,
    ...(made !== undefined && { _made: made }),
    ...(traceparent && { _traceparent: traceparent }),
  }
}

/** Calls of the request log, newest first, as HAR 1.2 (http://www.softwareishard.com/blog/har-12-spec), oldest first. */
export const harOf = (calls: readonly LoggedRequest[]): Har => ({
  log: {
    version: '1.2',
    creator: { name: 'payout-sandbox', version: VERSION },
    pages: [],
    entries: calls.map(entryOf).reverse(),
  },
})
