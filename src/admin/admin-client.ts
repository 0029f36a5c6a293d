import { ADMIN_CALLS } from '../app.ts'
import type { AdminCall } from '../http/admin.ts'
import { ClientName } from '../model/client.ts'
import type { StreamKind } from '../model/feed-kinds.ts'
import { checkArgumentTypes } from './admin-arguments.ts'
import { exchange, open } from './exchange.ts'

type KnownCall = (typeof ADMIN_CALLS)[number]
type CallId = KnownCall['id']
type TypesOf<Id extends CallId> = NonNullable<Extract<KnownCall, { id: Id }>['types']>
type Body<Id extends CallId> = TypesOf<Id>['body']
type Query<Id extends CallId> = TypesOf<Id>['query']
type ResponseBody<Id extends CallId> = TypesOf<Id>['response']

type CallArguments<Id extends CallId> = {
  params?: TypesOf<Id>['params']
  query?: Query<Id>
  body?: Body<Id>
  /** A body that is sent unchanged. */
  raw?: string
  headers?: Readonly<Record<string, string>>
}

/** One invalid field of an error: its path, an error code, and a message. */
export type AdminErrorField = { field: string; code: string; message: string }

/** A call of the admin API failed: the sandbox responded with an error, or did not respond. */
export class AdminError extends Error {
  /** The HTTP status; 0 if there was no response. */
  readonly status: number
  /** An error code of docs/errors.md, or `no_response` if there was no response of a sandbox. */
  readonly code: string
  /** The invalid fields, or the closest requests of a failed verification. */
  readonly errors: readonly AdminErrorField[]

  constructor(
    status: number,
    code: string,
    message: string,
    { errors = [], cause }: { errors?: readonly AdminErrorField[]; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? {} : { cause })
    this.name = 'AdminError'
    this.status = status
    this.code = code
    this.errors = errors
  }
}

/** The sandbox and the client that an admin client uses. */
export type AdminClientOptions = {
  /** The URL of the sandbox, such as `http://127.0.0.1:4310`; it may end with `/v1` or `/__admin`. */
  url: string
  /** The admin token, if the sandbox requires one. */
  token?: string | undefined
  /** The name of the client to use (default: the default client). */
  client?: string | undefined
}

const BASE_PATH = /^(?:\/@([^/]+))?(?:\/(?:v1|__admin))?\/*$/

/** The base URL of the admin API, without a `/` at its end. */
function adminBaseUrl({ url: text, client }: AdminClientOptions): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const path = url && /^https?:$/.test(url.protocol) ? BASE_PATH.exec(url.pathname) : null
  if (!url || !path) {
    throw new TypeError(
      `createAdminClient takes the url of a sandbox such as http://127.0.0.1:4310, not ${JSON.stringify(text)}`,
    )
  }
  const name = client ?? (path[1] && decodeURIComponent(path[1]))
  const result = ClientName.optional().safeParse(name)
  if (!result.success)
    throw new TypeError(
      `invalid client ${JSON.stringify(name)}: its name ${result.error.issues[0]!.message}`,
    )
  return `${url.origin}${name === undefined ? '' : `/@${name}`}/__admin`
}

function pathOf(url: string, { params, query }: CallArguments<CallId>): string {
  const values = (params ?? {}) as Record<string, unknown>
  const path = url.replace(/:(\w+)/g, (_, name: string) => {
    const value: unknown = values[name]
    // A URL path drops `.` and `..`, and the result would be the path of another call.
    if (typeof value !== 'string' || /^\.{0,2}$/.test(value))
      throw new TypeError(`${name} must be a name or an id, not ${JSON.stringify(value)}`)
    return encodeURIComponent(value)
  })
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {}))
    if (value !== undefined) search.set(name, String(value))
  return search.size === 0 ? path : `${path}?${search}`
}

const noResponse = (base: string, cause: unknown) => {
  const why = (cause as NodeJS.ErrnoException).code ?? (cause as Error).message
  return new AdminError(0, 'no_response', `No sandbox responds at ${base} (${why}).`, { cause })
}

/** Parses an error response; the server may not be a sandbox. `call` names the call in the message. */
function adminErrorOf(status: number, text: string, call: string): AdminError {
  try {
    const { error, message, errors } = JSON.parse(text) as {
      error: string
      message: string
      errors: AdminErrorField[]
    }
    return new AdminError(status, error, message, { errors })
  } catch {
    const message = `${call} responds with ${status} and a body that is not JSON. Check that it is a payout-sandbox.`
    return new AdminError(status, 'no_response', message)
  }
}

function createCaller(options: AdminClientOptions) {
  const base = adminBaseUrl(options)
  const { token } = options
  return async <Id extends CallId>(
    id: Id,
    args: CallArguments<Id> = {},
  ): Promise<ResponseBody<Id>> => {
    const call: AdminCall = ADMIN_CALLS.find((one) => one.id === id)!
    checkArgumentTypes(call, args)
    const { method, url } = call
    const target = new URL(base + pathOf(url, args as CallArguments<CallId>))
    const requestText =
      args.raw ?? (args.body === undefined ? undefined : JSON.stringify(args.body))
    const headers = {
      ...(token !== undefined && { 'x-admin-token': token }),
      ...(requestText !== undefined && {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(requestText),
      }),
      ...args.headers,
    }
    let response: { status: number; text: string }
    try {
      response = await exchange(target, { method, headers }, requestText)
    } catch (cause) {
      throw noResponse(base, cause)
    }
    const { status, text } = response
    const label = `${method} ${target.href}`
    if (status >= 400) throw adminErrorOf(status, text, label)
    try {
      return JSON.parse(text)
    } catch {
      throw adminErrorOf(status, text, label)
    }
  }
}

/** One event of the live stream of a client's world. */
export type SandboxEvent = {
  /** The id to resume the stream after this event, as `lastEventId`. */
  id: string
  /** `gap`: some requested events are no longer stored. */
  kind: StreamKind
  /** The fields of the kind, as listed in docs/testing.md (Watch it live). */
  data: Record<string, unknown>
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

function createStream(options: AdminClientOptions) {
  const base = adminBaseUrl(options)
  const { token } = options
  return async function* (resume: { lastEventId?: string } = {}): AsyncGenerator<SandboxEvent> {
    const { url } = ADMIN_CALLS.find(({ id }) => id === 'streamEvents')!
    const headers = {
      ...(token !== undefined && { 'x-admin-token': token }),
      ...(resume.lastEventId !== undefined && { 'last-event-id': resume.lastEventId }),
    }
    const response = await open(new URL(base + url), { headers }).catch((cause: unknown) => {
      throw noResponse(base, cause)
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
    if (response.statusCode !== 200) throw adminErrorOf(response.statusCode ?? 0, text, base + url)
  }
}

type BodyArguments<T> = undefined extends T ? [body?: T] : [body: T]

// The parameter types are inferred on purpose: the published types then contain them in full and do not import zod.
function createMethods(options: AdminClientOptions) {
  const call = createCaller(options)
  const withBody =
    <Id extends CallId>(id: Id) =>
    (...[body]: BodyArguments<Body<Id>>): Promise<ResponseBody<Id>> =>
      call(id, { body })
  const withField =
    <Id extends CallId, Field extends keyof Body<Id>>(id: Id, field: Field) =>
    (value: NonNullable<Body<Id>[Field]>): Promise<ResponseBody<Id>> =>
      call(id, { body: { [field]: value } as unknown as Body<Id> })
  const withQuery =
    <Id extends CallId>(id: Id) =>
    (query?: Query<Id>): Promise<ResponseBody<Id>> =>
      call(id, { query })
  const withId =
    <Id extends CallId>(id: Id) =>
    (resourceId: string, to: Body<Id>): Promise<ResponseBody<Id>> =>
      call(id, { params: { id: resourceId }, body: to })
  return {
    /** Whether the server listens, and whether its data file can be written. */
    health: () => call('getHealth'),
    /** Whether fixtures and data are loaded. */
    ready: () => call('getReady'),
    /** Resets this client to its fixtures, start clock and start seed (default: all parts). */
    reset: withBody('reset'),

    /** A summary of this client: its clock, its scenario and its numbers of rows. */
    client: () => call('readClient'),

    /** Users, read without calling the service: no rule counts the call, and the request log does not contain it. */
    users: {
      /** Users with their KYC records and bank accounts, newest first. */
      list: withQuery('readUsers'),
      get: (id: string) => call('readUser', { params: { id } }),
    },
    transactions: {
      /** Payments as in the transaction and in the history endpoints, newest first. */
      list: withQuery('readTransactions'),
      /** A payment with its events, all delivery attempts, and its pending timers. */
      get: (id: string) => call('readTransaction', { params: { id } }),
    },

    clients: {
      list: () => call('listClients'),
      /** Creates a client from fixtures or as a fork of another client. */
      create: withBody('createClient'),
      delete: (name: string) => call('deleteClient', { params: { name } }),
    },

    state: {
      /** The whole world as one JSON document. */
      get: () => call('getState'),
      /** Replaces the whole world. */
      put: withBody('putState'),
    },

    snapshots: {
      list: () => call('listSnapshots'),
      /** Saves the state under a name. */
      save: (name: string) => call('saveSnapshot', { body: { name } }),
      /** A snapshot in the format of `state.get`. */
      get: (name: string) => call('getSnapshot', { params: { name } }),
      delete: (name: string) => call('deleteSnapshot', { params: { name } }),
      restore: (name: string) => call('restoreSnapshot', { params: { name } }),
      /** The rows that were added, removed and changed since the snapshot. */
      diff: (name: string) => call('diffSnapshot', { params: { name } }),
    },

    clock: {
      get: () => call('getClock'),
      /** Freezes the clock at an ISO 8601 instant (default: the current time). */
      freeze: (at?: string) => call('freezeClock', { body: at === undefined ? {} : { at } }),
      /** Lets a frozen clock run again. */
      resume: () => call('resumeClock'),
      /** Sets the clock speed multiplier; 60 = one simulated minute per second. */
      speed: (factor: number) => call('setClockSpeed', { body: { factor } }),
      /** Moves the clock by a duration such as `2d`, or to an instant `{to}`. Resolves after all due timers have run. */
      advance: (by: string | { by: string } | { to: string }) =>
        call('advanceClock', { body: typeof by === 'object' ? by : { by } }),
      /** Moves the clock to the next timer and runs it. */
      next: () => call('advanceClockToNext'),
    },

    timers: {
      /** Pending timers, soonest first. */
      list: withQuery('listTimers'),
      delete: (id: string) => call('deleteTimer', { params: { id } }),
      /** Runs a timer now. */
      fire: (id: string) => call('fireTimer', { params: { id } }),
    },

    scenario: {
      list: () => call('listScenarios'),
      /** The active scenario and the number of hits of each rule. */
      get: () => call('getScenario'),
      /** The text of a scenario file, and the positions of its rules. */
      source: (name: string) => call('readScenario', { params: { name } }),
      /** Activates a scenario by its name. */
      use: (name: string) => call('setScenario', { body: { name } }),
      /** Activates a scenario by its definition, in the format of a scenario file. */
      define: withField('setScenario', 'definition'),
      /** Input values with a special meaning in the default scenario. */
      magicValues: () => call('listMagicValues'),
    },

    rules: {
      list: () => call('listRules'),
      /** Adds a rule with precedence over the scenario; with `times: 1` it applies once. */
      push: withBody('pushRule'),
      delete: (id: string) => call('deleteRule', { params: { id } }),
    },

    simulate: {
      /** Sets the status of a payment and cancels its scheduled steps. */
      transaction: withId('simulateTransaction'),
      /** Sets the result of a pending KYC record. */
      kyc: withId('simulateKyc'),
      /** Sets the result of a pending bank account. */
      bankAccount: withId('simulateBankAccount'),
    },

    webhooks: {
      /** Deliveries and their attempts, newest first. */
      deliveries: withQuery('listDeliveries'),
      /** A delivery with its body and every attempt. */
      delivery: (id: string) => call('getDelivery', { params: { id } }),
      /** Sends a delivery again now. */
      redeliver: (id: string) => call('redeliver', { params: { id } }),
      /** Sends an event about a resource (default: the newest one of its kind). */
      trigger: withBody('triggerWebhook'),
      /** Sends a payment’s events in every order that can happen, and finds an order that ends in another state. */
      explore: withBody('exploreWebhooks'),
    },

    requests: {
      /** Calls of the service, newest first. */
      list: withQuery('listRequests'),
      get: (id: string) => call('getRequest', { params: { id } }),
      clear: () => call('deleteRequests'),
      /** Calls that match conditions as in the `when` of a rule, or a method, path and status. */
      find: withBody('findRequests'),
      count: withBody('countRequests'),
      /** Throws with the closest calls if the number of matching calls is not the expected one (default: at least one). */
      verify: withBody('verifyRequests'),
    },

    /** The recording since the start, if `--record` is on: the text of a file for `payout-sandbox replay`. */
    recording: () => call('getRecording'),

    /** Resolves when a request, delivery, transaction or KYC record matches; throws `wait_timeout` after the timeout. */
    wait: withBody('wait'),
    /** The live events of this world, until the sandbox stops or the loop is left. */
    events: createStream(options),

    /** The built-in receiver of webhooks. */
    inbox: {
      /** Received webhooks, newest first. */
      list: withQuery('listInbox'),
      clear: () => call('clearInbox'),
      /** Posts a body to it, as a webhook does. */
      receive: (body: string, headers: Readonly<Record<string, string>> = {}) =>
        call('receiveWebhook', { raw: body, headers }),
    },
  }
}

/** A typed admin API client. Each method is one call, and rejects with `AdminError` if the call fails. */
export interface AdminClient extends ReturnType<typeof createMethods> {
  /** Returns an admin client for the world of another client. */
  forClient(name: string): AdminClient
}

/**
 * Creates a typed admin API client for a running sandbox; docs/admin-api.md describes each call. Throws `TypeError` if the
 * url is invalid.
 *
 * @example
 * const admin = createAdminClient({ url: 'http://127.0.0.1:4310', client: 'worker-3' })
 * await admin.clock.advance('2d')
 */
export function createAdminClient(options: AdminClientOptions): AdminClient {
  const forClient = (client: string) => createAdminClient({ ...options, client })
  return { ...createMethods(options), forClient }
}
