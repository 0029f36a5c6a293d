/**
 * Every error code of an attempt and its meaning; a test compares docs/webhooks.md with it. `response_too_large` and
 * `response_compressed` are remarks: the status of the response still decides, so `ok` may be true.
 */
export const SEND_ERRORS = {
  timeout_connect: 'The deadline passed before a connection was open (DNS, TCP or TLS).',
  timeout_response: 'The deadline passed before the response headers arrived.',
  timeout_body: 'The deadline passed before the whole response body arrived.',
  refused: 'Nothing listens on that port.',
  unreachable: 'There is no network route to the address.',
  dns: 'The host name can’t be resolved.',
  tls: 'The TLS handshake failed, or the certificate is not trusted.',
  reset: 'The connection was reset before any response.',
  no_response: 'The receiver closed the connection without a response.',
  reset_body: 'The connection broke in the middle of the response body.',
  not_http: 'The receiver sent something that is not HTTP, or an unrequested 100 Continue.',
  headers_too_large: 'The response headers are larger than 16 KiB.',
  redirect: 'A 3xx response; redirects are not followed.',
  gone: 'A 410 response; no further attempts are made.',
  status: 'Another status that is not 2xx.',
  response_too_large: 'A 2xx response over 64 KiB: delivered; the rest was not read.',
  response_compressed: 'A compressed 2xx response: delivered; it was not decompressed.',
  address_not_allowed: 'The address rules do not allow this address.',
  bad_request: 'The URL or a header is invalid, so no request was sent.',
  lost: 'A webhook rule with `lost_attempts` lost the attempt: the receiver never saw it.',
  closed: 'The sandbox stopped during the attempt.',
  failed: 'Any other error; the message contains the error text of the system.',
} as const

/** Why an attempt failed, as a stable code: a key of `SEND_ERRORS`. */
export type SendErrorCode = keyof typeof SEND_ERRORS

/** The error of an attempt: a code for programs, a sentence for people. */
export type SendError = { code: SendErrorCode; message: string }
