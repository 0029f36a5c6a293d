import { join } from 'node:path'
import inject, { type InjectOptions } from 'light-my-request'
import type { Test } from 'tap'
import { type AppOptions, buildApp } from '../src/app.ts'
import type { Readings } from '../src/assumptions/readings.ts'
import { PACKAGE_ROOT } from '../src/config/package.ts'
import { readFixtures } from '../src/content/fixture-files.ts'
import { fixturesOf } from '../src/content/fixtures.ts'
import { shippedWorlds } from '../src/content/shipped-fixtures.ts'
import type { Endpoint } from '../src/http/endpoint.ts'
import { type ErrorCode, ErrorResponse } from '../src/model/errors.ts'
import { ADMIN_CALLS } from '../src/routes/admin/admin-calls.ts'
import { OPERATIONS, runLate } from '../src/routes/v1/operations.ts'
import { shippedLibrary } from '../src/scenarios/library.ts'
import { readLibrary } from '../src/scenarios/read-library.ts'
import { harOf, reconcile, summaryOf } from '../src/server.ts'
import type { FeedEvents } from '../src/world/feed.ts'
import { openSandbox, type Sandbox, type SandboxConfig } from '../src/world/sandbox.ts'
import type { World } from '../src/world/world.ts'

/** Calls back after each change of a resource, with its event. */
export function watchChanges({ feed }: World, onChange: (change: FeedEvents['change']) => void) {
  feed.watch({
    onEvent({ kind, subject }) {
      if (kind === 'change') onChange(subject)
    },
    onEnd() {},
  })
}

/** A sandbox that honours Idempotency-Key. */
export const HONOURED: { assume: Readings } = { assume: { idempotency_key: 'honoured' } }

/** A sandbox that catches what a caller does twice or wrongly, for tests of that; the defaults promise the least. */
export const GUARDED: { assume: Readings } = {
  assume: {
    reference_id: 'unique',
    duplicate_user: 'conflict',
    unverified_account: 'refused',
    entry_status: 'false',
    own_request_fields: 'accepted',
    limit_parameter: 'honoured',
    history_metadata: 'reason',
    utr_of_success: 'with_status',
    pid_and_tid: 'on_success',
    late_success: 'never',
  },
}

/** People of the shipped fixtures; see `fixtures/README.md`. */
export const ASHA = '00000000-0000-4000-8000-000000000001'
export const ROHAN = '00000000-0000-4000-8000-000000000003'
export const KABIR = '00000000-0000-4000-8000-000000000005'
export const ROHANS_ACCOUNT = 'b0000000-0000-4000-8000-000000000003'
/** A payment between them that is accepted. */
export const PAYMENT = {
  from_user_id: ASHA,
  to_user_id: ROHAN,
  benif_bank_id: ROHANS_ACCOUNT,
  amount: 100,
}
/** A document of Kabir that is verified. */
export const PAN = {
  document_type: 'tid',
  document_name: 'pan',
  document_number: 'XXXPX1234A',
  dateOfBirth: '15-08-1990',
  Nationality: 'Indian',
  nameOnCard: 'Kabir Singh',
}
/** A document of Kabir that is pending for five seconds. */
export const AADHAAR = {
  ...PAN,
  document_type: 'pid',
  document_name: 'aadhar',
  document_number: '999988887777',
}
export const TOKEN = { authorization: 'Bearer sbx_test_token' }

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a body.
export type Answer = { status: number; headers: Record<string, any>; text: string; body: any }

/** One field of each row. */
export const pluck = (rows: Answer['body'], field: string): Answer['body'][] =>
  rows.map((row: Answer['body']) => row[field])

export type StartOptions = {
  sandbox?: Partial<SandboxConfig>
  app?: Partial<AppOptions>
  /** What differs from the usual start: a frozen clock, the default scenario. */
  begin?: Partial<SandboxConfig['start']>
  /** Readings of open points of the contract. */
  assume?: Readings
  /** Inline fixtures in place of the shipped ones. */
  fixtures?: unknown
}

/** The folder with the results of `test/shipped-files.ts`; absent if a file runs alone. */
const checked = process.env['TEST_SHIPPED']

/** The shipped scenarios, and those of more folders. */
export function libraryWith(...folders: string[]) {
  const read = readLibrary([join(PACKAGE_ROOT, 'scenarios'), ...folders])
  if (!read.ok) throw new Error(`The scenarios are broken: ${read.problems[0]!.message}`)
  return read.library
}
const SHIPPED =
  checked === undefined ? libraryWith() : shippedLibrary(join(checked, 'scenarios.json'))!

const FIXTURES =
  checked === undefined
    ? readFixtures(join(PACKAGE_ROOT, 'fixtures'))
    : shippedWorlds(join(checked, 'fixtures.json'))!

const silent = { info() {}, warn() {}, error() {} }

/** What was logged, for tests that read it. */
export function createLog() {
  const lines: string[] = []
  const log = (message: string) => void lines.push(message)
  return { lines, info: log, warn: log, error: log }
}

type Checked = Pick<Endpoint, 'method' | 'url' | 'response' | 'errors'>
const below =
  (base: string) =>
  ({ method, url, response, errors }: Checked): Checked => ({
    method,
    url: `${base}${url}`,
    response,
    errors,
  })
const ENDPOINTS = [...OPERATIONS.map(below('/v1')), ...ADMIN_CALLS.map(below('/__admin'))]
/** What any call can meet, which the documents say once. */
const ANY_CALL: readonly ErrorCode[] = ['internal_error', 'client_limit_reached']
// By method and path; those with parameters also have a pattern.
const FIXED = new Map(ENDPOINTS.map((one) => [`${one.method} ${one.url}`, one]))
const PATTERNS = ENDPOINTS.filter(({ url }) => url.includes(':')).map((one) => {
  const pattern = new RegExp(`^${one.method} ${one.url.replace(/:\w+/g, '[^/]+')}$`)
  return { ...one, pattern }
})

function endpointOf(method: string, url: string): Checked | undefined {
  const name = `${method} ${url.replace(/^\/@[^/]+|\?.*$/g, '')}`
  return FIXED.get(name) ?? PATTERNS.find(({ pattern }) => pattern.test(name))
}

/** Checks an answer by the schema of its call, or of errors: no test can forget it. */
export function checkAnswer(method: string, url: string, status: number, text: string): void {
  const endpoint = endpointOf(method, url)
  const isError = status >= 400
  const schema = isError ? ErrorResponse : endpoint?.response
  if (!schema) return
  const body = JSON.parse(text)
  const result = schema.safeParse(body)
  if (!result.success)
    throw new Error(`${method} ${url} ${status}: ${result.error.message}\n${text}`)
  if (isError && endpoint && ![...endpoint.errors, ...ANY_CALL].includes(body.error))
    throw new Error(`${method} ${url} answers ${body.error}, which is not in its list of errors`)
}

/** Waits until something is so. */
export async function until(holds: () => boolean | Promise<boolean>) {
  while (!(await holds())) await new Promise(setImmediate)
}

/** A sandbox of its own for one test, in memory, frozen, closed when the test ends; calls go in without a socket. */
export async function start(t: Pick<Test, 'teardown'>, options: StartOptions = {}) {
  const opening: Promise<Sandbox> = openSandbox({
    fixtures: options.fixtures ? fixturesOf(options.fixtures) : FIXTURES,
    start: {
      randomSeed: 1,
      clock: 'frozen',
      clockSpeed: 1,
      scenario: 'default',
      assume: options.assume ?? {},
      ...options.begin,
    },
    library: SHIPPED,
    runLate,
    callService: async (world, call) => (await building).callService(world, call),
    summaryOf,
    harOf,
    reconcile,
    maxClients: 1000,
    autoClients: true,
    webhooks: { allow: [], time: 'wall', retries: 'fast' },
    log: silent,
    ...options.sandbox,
  })
  const appOptions: AppOptions = {
    allowHost: [],
    adminToken: undefined,
    admin: true,
    cors: [],
    explain: false,
    log: options.sandbox?.log ?? silent,
    ...options.app,
  }
  const building = opening.then((opened) => buildApp(opened, appOptions))
  const [sandbox, built] = await Promise.all([opening, building])
  const app = { ...built, inject: (request: InjectOptions) => inject(built.handle, request) }
  let open = true
  const close = async () => {
    if (!open) return
    open = false
    await app.close()
    await sandbox.close()
  }
  t.teardown(close)

  // These readings change bodies on purpose, so that they do not fit the contract.
  const { error_body = 'envelope', new_words = 'none' } = options.assume ?? {}
  const hasOtherBodies = error_body !== 'envelope' || new_words !== 'none'

  async function call(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH' | 'OPTIONS',
    url: string,
    payload?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const request: InjectOptions = { method, url, headers: { host: '127.0.0.1:4310', ...headers } }
    if (payload !== undefined) request.payload = payload as never
    const { statusCode, headers: answered, body } = await app.inject(request)
    const isJson = String(answered['content-type']).includes('json')
    if (!hasOtherBodies) checkAnswer(method, url, statusCode, body)
    return {
      status: statusCode,
      headers: answered,
      text: body,
      body: body && (isJson || !hasOtherBodies) ? JSON.parse(body) : undefined,
    }
  }

  return {
    app,
    sandbox,
    close,
    call,
    get: (url: string, headers?: Record<string, string>) => call('GET', url, undefined, headers),
    post: (url: string, body?: unknown, headers?: Record<string, string>) =>
      call('POST', url, body, headers),
    put: (url: string, body?: unknown, headers?: Record<string, string>) =>
      call('PUT', url, body, headers),
    /** Opens a port. */
    async listen() {
      const url = await app.listen({ port: 0, host: '127.0.0.1' })
      return { url, port: Number(new URL(url).port) }
    },
    advance: (by: string) => call('POST', '/__admin/clock/advance', { by }),
    /** A payment of Asha to Rohan, both ready for it. */
    pay: (more: object = {}, headers?: Record<string, string>) =>
      call('POST', '/v1/transaction', { ...PAYMENT, ...more }, headers),
  }
}
