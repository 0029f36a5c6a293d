import * as z from 'zod'
import { sandboxDefault } from './client.ts'
import { printableLine } from './words.ts'

/** All error codes: the HTTP status and the meaning of each. A test compares `docs/errors.md` with it. */
export const ERRORS = {
  malformed_json: [
    400,
    "The body isn't valid JSON in UTF-8, or has a forbidden key such as `__proto__`.",
  ],
  json_too_deep: [400, "The body's JSON is nested too deeply."],
  malformed_request: [
    400,
    "The request isn't valid HTTP, has no valid Host header, or repeats a header that has one value.",
  ],
  validation_failed: [
    400,
    'The body, path or query is missing something or malformed; see `errors`.',
  ],
  unauthorized: [401, "The token is missing, unknown or another client's."],
  client_inactive: [403, "The client isn't active."],
  host_not_allowed: [
    403,
    "The Host header isn't a loopback name, an IP address, without a dot, or allowed.",
  ],
  cross_site_rejected: [403, 'A page of another site sent this; allow it with `--cors`.'],
  admin_token_required: [401, 'The admin API requires its token in `X-Admin-Token`.'],
  not_found: [404, 'This client has no such id, route or webhook.'],
  method_not_allowed: [405, "The path doesn't take this method; `Allow` lists those it does."],
  wait_timeout: [408, 'Nothing matched within `timeout_ms`.'],
  verification_failed: [409, "The calls don't match what you expected; see `errors`."],
  request_timeout: [408, "The request didn't arrive in time."],
  user_exists: [409, 'The e-mail or mobile belongs to another user of this client.'],
  duplicate_reference: [
    409,
    'The client already used this `reference_id`; the message names the payment.',
  ],
  bank_account_exists: [409, 'The user already has this verified account.'],
  webhook_exists: [409, 'The client already has a webhook; change it with PUT.'],
  idempotency_in_flight: [409, 'A request with this `Idempotency-Key` is still running.'],
  client_exists: [409, 'A client with this name already exists.'],
  receiver_busy: [409, 'A webhook waits for its receiver. Respond before you advance the clock.'],
  default_client_required: [409, "You can't delete the default client; reset it."],
  token_in_use: [409, 'The access token belongs to another client.'],
  coverage_off: [409, 'Coverage is off. Start the sandbox with `--coverage`.'],
  snapshot_limit_reached: [409, 'The client has too many snapshots; delete one.'],
  client_limit_reached: [409, 'There are too many clients; see `--max-clients`.'],
  payload_too_large: [413, 'The body is too large.'],
  unsupported_media_type: [415, 'The body is not `application/json`.'],
  expectation_failed: [417, "The value of `Expect` isn't supported."],
  same_user: [422, 'Payer and receiver are the same user.'],
  bank_user_mismatch: [422, "The bank account isn't the receiver's."],
  bank_not_verified: [422, "The bank account isn't verified."],
  kyc_required: [422, 'The client checks KYC, and the payer has none that succeeded.'],
  idempotency_mismatch: [422, 'The `Idempotency-Key` was used with another body.'],
  clock_running: [409, 'The clock is running, and this needs a frozen one.'],
  clock_cannot_go_back: [422, 'The clock can only advance; `freeze` sets it to an earlier time.'],
  too_many_timers: [
    422,
    'More timers are due than one call may run; the message says how far the clock moved.',
  ],
  too_many_rules: [422, 'The client would have more than 1,000 pushed rules, or 20 patterns.'],
  headers_too_large: [431, 'The headers are too large.'],
  caller_gone: [499, 'The caller disconnected; only the request log shows this.'],
  invalid_transition: [422, "The status can't change to the requested one."],
  rate_limited: [429, 'A scenario or the rate limit (`rate_limit`) rejects this call.'],
  too_many_exports: [429, 'Two exports of a state are running; repeat it later.'],
  internal_error: [500, 'A bug in the sandbox; its log has the details.'],
  bad_gateway: [502, 'A scenario says a bank failed.'],
  service_unavailable: [503, 'A scenario says the service is down.'],
  gateway_timeout: [504, 'A scenario says a bank timed out.'],
  injected_error: [500, 'A scenario failed the call; it also sets the status.'],
  storage_unavailable: [
    503,
    "The data file can't be written. Nothing was changed, or the clock moved only to the time in the message. If another process owns the file now, restart this one.",
  ],
  not_ready: [503, 'The sandbox is starting or stopping.'],
} as const satisfies Record<string, readonly [status: number, meaning: string]>

export type ErrorCode = keyof typeof ERRORS

/** One invalid field: its path (`kyc[0].dateOfBirth`), a code (`required`, `invalid_format`, …) and a sentence. */
export type FieldError = { field: string; code: string; message: string }

/** An error with a code of the registry, thrown before any state is changed; only an advance may have moved the clock. */
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

/** A problem of a file; `line` and `column` are 0 if there is no text, then `path` (`rules[0].when`) is the position. */
export type Problem = { file: string; line: number; column: number; path: string; message: string }

/** Formats a problem as `file:line:column: message`, without a line as `file: path: message`. Safe for a terminal. */
export function problemText({ file, line, column, path, message }: Problem): string {
  const place = line > 0 ? `${file}:${line}:${column}` : path === '' ? file : `${file}: ${path}`
  return printableLine(`${place}: ${message}`)
}
