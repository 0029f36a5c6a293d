/**
 * The one registry of error words: what each means and the status it is sent with.
 * `docs/errors.md` is held equal to it both ways by a test.
 */
export const ERRORS = {
  malformed_json: [400, 'The body is not JSON in UTF-8, or holds a key such as `__proto__`.'],
  json_too_deep: [400, 'The JSON of the body is nested deeper than the limit.'],
  malformed_request: [400, 'The request is not well-formed HTTP, or has not one Host header.'],
  validation_failed: [
    400,
    'The body, a field, a path id or a query value is missing or malformed; see `errors`.',
  ],
  unauthorized: [
    401,
    'The token is missing where one is needed, is unknown, or names another client.',
  ],
  client_inactive: [403, 'The client of this call is not active.'],
  host_not_allowed: [403, 'The Host header is not a loopback, IP, one-word or allowed name.'],
  cross_site_refused: [403, 'A browser sent this call for a page of another site; see `--cors`.'],
  admin_token_required: [401, 'The admin API wants its token in `X-Admin-Token`.'],
  not_found: [404, 'The id, route or webhook does not exist for this client.'],
  method_not_allowed: [405, 'The path exists, the method does not; see `Allow`.'],
  wait_timeout: [408, 'What was waited for did not happen within `timeout_ms`.'],
  verification_failed: [
    409,
    'The calls that were sent are not those that were expected; see `errors`.',
  ],
  request_timeout: [408, 'The request did not arrive whole within the time limit.'],
  user_exists: [409, 'The e-mail or mobile belongs to another user of this client.'],
  duplicate_reference: [
    409,
    'The `reference_id` was used before by this client; the message says for which transaction.',
  ],
  bank_account_exists: [409, 'The user has this verified account already.'],
  webhook_exists: [409, 'The client has a webhook already; change it with PUT.'],
  idempotency_in_flight: [409, 'A request with this `Idempotency-Key` is still running.'],
  client_exists: [409, 'There is a client of this name already.'],
  receiver_busy: [
    409,
    'Time cannot be moved while a webhook attempt waits for its receiver; a handler answers before it advances.',
  ],
  client_needed: [409, 'The default client stays; it can be reset.'],
  token_in_use: [409, 'The access token stands for another client.'],
  not_recorded: [409, 'The run is not recorded; it is from the start on, with `--record FILE`.'],
  snapshot_limit_reached: [409, 'No more snapshots of this client may be kept; delete one.'],
  client_limit_reached: [409, 'No more clients may be made; see `--max-clients`.'],
  payload_too_large: [413, 'The body is larger than the limit.'],
  unsupported_media_type: [415, 'The body is not `application/json`.'],
  expectation_failed: [417, 'The `Expect` header asks for what is not met here.'],
  same_user: [422, 'Payer and receiver are one user.'],
  bank_user_mismatch: [422, 'The bank account is not the receiver’s.'],
  bank_not_verified: [422, 'The bank account is not verified.'],
  kyc_required: [422, 'This client checks KYC and the payer has no successful record.'],
  idempotency_mismatch: [
    422,
    'The `Idempotency-Key` was used with another body; a retry sends the same one.',
  ],
  clock_cannot_go_back: [422, 'The clock only advances; `freeze` sets it to an earlier instant.'],
  too_many_timers: [
    422,
    'More timers would run than one call may; nothing was changed, or the clock went only as far as the message says.',
  ],
  explore_failed: [
    422,
    'There is nothing to explore, or the receiver or the probe did not answer as needed.',
  ],
  headers_too_large: [431, 'The request’s headers are larger than the limit.'],
  caller_gone: [499, 'The caller closed the connection before the response; nobody receives this.'],
  invalid_transition: [422, 'A state of a resource does not lead to the one asked for.'],
  rate_limited: [429, 'A scenario says that too many requests were sent; see `Retry-After`.'],
  server_busy: [
    429,
    'The sandbox reads a large body, or sends large answers, already; see `Retry-After`.',
  ],
  internal_error: [500, 'A fault of the sandbox itself; its log has the details.'],
  bad_gateway: [502, 'A scenario says that a bank behind the service failed.'],
  service_unavailable: [503, 'A scenario says that the service is down.'],
  gateway_timeout: [504, 'A scenario says that a bank behind the service did not answer in time.'],
  injected_error: [500, 'A scenario says that the call fails; the status is the scenario’s.'],
  storage_unavailable: [
    503,
    'The data file cannot be written; nothing was changed, or the clock went only as far as the message says. Try again. Or another process owns it now: restart this one.',
  ],
  not_ready: [503, 'The sandbox is still loading or already stopping.'],
} as const satisfies Record<string, readonly [status: number, meaning: string]>

/** A stable machine word for one kind of refusal, a key of `ERRORS`. */
export type ErrorCode = keyof typeof ERRORS

/** One field at fault: its path (`kyc[0].dateOfBirth`), a code (`required`, `invalid_format`, …) and a sentence. */
export type FieldError = { field: string; code: string; message: string }

/** A refusal with a word of the registry; thrown only before anything was changed, but for time that went some of its way. */
export class SandboxError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly errors: readonly FieldError[]
  readonly headers: Readonly<Record<string, string>>

  constructor(
    word: ErrorCode,
    message: string,
    more: { errors?: readonly FieldError[]; headers?: Record<string, string> } = {},
  ) {
    super(message)
    this.name = 'SandboxError'
    this.code = word
    this.status = ERRORS[word][0]
    this.errors = more.errors ?? []
    this.headers = more.headers ?? {}
  }
}

/** Ends the work of a call whose caller has closed the connection. */
export const callerGone = () =>
  new SandboxError('caller_gone', 'The caller closed the connection before the response.')
