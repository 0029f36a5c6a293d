import * as z from 'zod'
import { sandboxDefault } from './client.ts'
import { printableLine } from './words.ts'

/**
 * The registry of all error codes: the HTTP status and the meaning of each. A test compares `docs/errors.md` with it.
 */
export const ERRORS = {
  malformed_json: [
    400,
    'The body is not valid JSON in UTF-8, or it contains a forbidden key such as `__proto__`.',
  ],
  json_too_deep: [400, 'The JSON of the body has more levels than the limit.'],
  malformed_request: [
    400,
    'The request is not valid HTTP, or it does not have exactly one Host header with a possible port.',
  ],
  validation_failed: [
    400,
    'The body, a field, a path id or a query value is missing or malformed; see `errors`.',
  ],
  unauthorized: [
    401,
    'The call needs a token: it is missing, unknown, or belongs to another client.',
  ],
  client_inactive: [403, 'The client of this call is not active.'],
  host_not_allowed: [
    403,
    'The Host header is not a loopback name, an IP address, a name without a dot, or an allowed name.',
  ],
  cross_site_rejected: [
    403,
    'A browser sent this call for a page of another site; `--cors` allows sites.',
  ],
  admin_token_required: [401, 'The admin API requires its token in `X-Admin-Token`.'],
  not_found: [404, 'The id, route or webhook does not exist for this client.'],
  method_not_allowed: [
    405,
    'The path exists, but not with this method; `Allow` lists the methods.',
  ],
  wait_timeout: [408, 'The expected event did not happen within `timeout_ms`.'],
  verification_failed: [
    409,
    'The number of matching calls is not the expected number; see `errors`.',
  ],
  request_timeout: [408, 'The request was not complete within the time limit.'],
  user_exists: [409, 'The e-mail or mobile belongs to another user of this client.'],
  duplicate_reference: [
    409,
    'This client already used the `reference_id`; the message names the transaction.',
  ],
  bank_account_exists: [409, 'The user already has this account, and it is verified.'],
  webhook_exists: [409, 'The client already has a webhook; change it with PUT.'],
  idempotency_in_flight: [409, 'A request with this `Idempotency-Key` is still running.'],
  client_exists: [409, 'A client with this name already exists.'],
  receiver_busy: [
    409,
    'The clock cannot move while a webhook attempt waits for its receiver. A webhook handler must respond before it advances the clock.',
  ],
  default_client_required: [409, 'The default client cannot be deleted; it can be reset.'],
  token_in_use: [409, 'The access token belongs to another client.'],
  not_recorded: [409, 'Recording is off. Start the sandbox with `--record FILE`.'],
  snapshot_limit_reached: [409, 'The client has the maximum number of snapshots; delete one.'],
  client_limit_reached: [
    409,
    'The sandbox has the maximum number of clients; see `--max-clients`.',
  ],
  payload_too_large: [413, 'The body is larger than the limit.'],
  unsupported_media_type: [415, 'The body is not `application/json`.'],
  expectation_failed: [417, 'The `Expect` header has a value that the sandbox does not support.'],
  same_user: [422, 'Payer and receiver are the same user.'],
  bank_user_mismatch: [422, 'The bank account does not belong to the receiver.'],
  bank_not_verified: [422, 'The bank account is not verified.'],
  kyc_required: [422, 'This client checks KYC and the payer has no successful record.'],
  idempotency_mismatch: [
    422,
    'The `Idempotency-Key` was used with another body. A retry must send the same body.',
  ],
  clock_cannot_go_back: [422, 'The clock can only advance; `freeze` sets it to an earlier time.'],
  too_many_timers: [
    422,
    'More timers are due than one call may run. Nothing was changed, or the clock moved only to the time in the message.',
  ],
  too_many_rules: [
    422,
    'The client would have more than 1,000 pushed rules, or more than 100 patterns in its rules and its scenario.',
  ],
  explore_failed: [
    422,
    'There is nothing to explore, or the receiver or the probe did not respond as required.',
  ],
  headers_too_large: [431, 'The headers of the request are larger than the limit.'],
  caller_gone: [
    499,
    'The caller closed the connection before the response, so nobody receives this error.',
  ],
  invalid_transition: [
    422,
    'The resource cannot move from its current status to the requested one.',
  ],
  rate_limited: [
    429,
    'Too many calls: a scenario rejects this one, or the reading of `rate_limit` does; see `Retry-After`.',
  ],
  server_busy: [429, 'The sandbox runs 16 tools of agents; see `Retry-After`.'],
  internal_error: [500, 'An error in the sandbox itself; its log has the details.'],
  bad_gateway: [502, 'A scenario says that a bank behind the service failed.'],
  service_unavailable: [503, 'A scenario says that the service is down.'],
  gateway_timeout: [504, 'A scenario says that a bank behind the service did not answer in time.'],
  injected_error: [500, 'A scenario says that the call fails; the scenario defines the status.'],
  storage_unavailable: [
    503,
    'The data file cannot be written. Nothing was changed, or the clock moved only to the time in the message. Try again later. If another process owns the file now, restart this one.',
  ],
  not_ready: [503, 'The sandbox is still starting or already stopping.'],
} as const satisfies Record<string, readonly [status: number, meaning: string]>

/** A stable error code, a key of `ERRORS`. */
export type ErrorCode = keyof typeof ERRORS

/** One invalid field: its path (`kyc[0].dateOfBirth`), a code (`required`, `invalid_format`, …) and a sentence. */
export type FieldError = { field: string; code: string; message: string }

/**
 * An error with a code of the registry. It is thrown before any state is changed; only an advance may have moved the
 * clock part of the way.
 */
export class SandboxError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly errors: readonly FieldError[]
  readonly headers: Readonly<Record<string, string>>

  constructor(
    code: ErrorCode,
    message: string,
    more: { errors?: readonly FieldError[]; headers?: Record<string, string> } = {},
  ) {
    super(message)
    this.name = 'SandboxError'
    this.code = code
    this.status = ERRORS[code][0]
    this.errors = more.errors ?? []
    this.headers = more.headers ?? {}
  }
}

/** Ends the work of a call whose caller has closed the connection. */
export const callerGone = () =>
  new SandboxError('caller_gone', 'The caller closed the connection before the response.')

const errorCodes = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]]

/** A field of an error that can be missing: the contract shows no error body. */
const ours = <T extends z.ZodType>(field: T, contract: z.ZodType): T =>
  sandboxDefault(field, contract.optional())

const CODE = 'The HTTP status code.'
const WORD = `A stable error code, such as ${errorCodes.slice(0, 3).join(', ')}.`
const fieldErrors = () =>
  z.array(z.strictObject({ field: z.string(), code: z.string(), message: z.string() }))

/** The one error body of every endpoint. */
export const ErrorResponse = z
  .strictObject({
    status: ours(z.literal(false), z.boolean()),
    code: ours(z.int().describe(CODE), z.int().describe(CODE)),
    // Required in both documents: they are what callers read, and generated types should not make them optional.
    error: z.string().describe(WORD),
    message: z.string(),
    data: ours(z.null(), z.unknown().describe('Null in this sandbox.')),
    errors: ours(fieldErrors(), fieldErrors()),
  })
  .meta({
    id: 'Error',
    examples: [
      {
        status: false,
        code: 404,
        error: 'not_found',
        message: 'No user 00000000-0000-4000-8000-000000000099 for this client.',
        data: null,
        errors: [],
      },
    ],
  })

/**
 * An error or a warning about a file. `line` and `column` count from 1; both are 0 if there is no text (a definition
 * sent as JSON); then `path` (`rules[0].when`) is the position.
 */
export type Problem = { file: string; line: number; column: number; path: string; message: string }

/** Formats a problem as `file:line:column: message`, without a line as `file: path: message`. Safe for a terminal. */
export function problemText({ file, line, column, path, message }: Problem): string {
  const place = line > 0 ? `${file}:${line}:${column}` : path === '' ? file : `${file}: ${path}`
  return printableLine(`${place}: ${message}`)
}
