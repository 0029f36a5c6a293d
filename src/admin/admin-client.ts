import type { AdminCallId } from '../model/admin-routes.ts'
import { ClientName } from '../model/client.ts'
import type { SandboxEvent } from '../model/feed-kinds.ts'
import { DEFAULT_LIMIT } from '../model/logged-request.ts'
import {
  adminBase,
  type CallArguments,
  type CallBody,
  type CallQuery,
  createCaller,
  type FailedCall,
  noResponseText,
  notJsonText,
  parseSandboxUrl,
  type ResponseBody,
  readEvents,
  type Target,
} from './caller.ts'

type Page = { requests: readonly unknown[]; next: string | null }
type Asked = { limit?: number | undefined; cursor?: string | undefined }

/** Returns a call of the request log that follows `next` until it has as many calls as `limit` says, or all. */
export const allPages =
  <Query extends Asked, One extends Page>(read: (query?: Query) => Promise<One>) =>
  async (query?: Query): Promise<One> => {
    let page = await read(query)
    const { limit = DEFAULT_LIMIT } = query ?? {}
    while (page.next && page.requests.length < limit) {
      const rest = { limit: limit - page.requests.length, cursor: page.next }
      const { requests, next } = await read({ ...query, ...rest } as Query)
      page = { ...page, requests: [...page.requests, ...requests], next }
    }
    return page
  }

/** Returns a call of the request log that asks for an archive. */
const asArchive =
  <Query>(read: (query?: Query) => Promise<unknown>) =>
  async (query?: Query) =>
    (await read({ ...query, format: 'har' } as Query)) as {
      log: { version: '1.2'; creator: object; entries: readonly Record<string, unknown>[] }
    }

type BodyArguments<T> = undefined extends T ? [body?: T] : [body: T]

/** Returns functions that make the methods of the library's client: each checks its arguments and sends one call. */
function createTypedCalls(options: AdminClientOptions) {
  const target = targetOf(options)
  const errorOf = (failed: FailedCall) => adminErrorOf(target, failed)
  const send = createCaller(target, errorOf)
  async function call<Id extends AdminCallId>(
    id: Id,
    args: CallArguments<Id> & { raw?: string; headers?: Readonly<Record<string, string>> } = {},
  ): Promise<ResponseBody<Id>> {
    // Imported late: the routes' schemas load the whole server.
    const { checkArguments } = await import('./admin-arguments.ts')
    checkArguments(id, args)
    return send(id, args)
  }
  return {
    call,
    withBody:
      <Id extends AdminCallId>(id: Id) =>
      (...[body]: BodyArguments<CallBody<Id>>): Promise<ResponseBody<Id>> =>
        call(id, { body }),
    withField:
      <Id extends AdminCallId, Field extends keyof CallBody<Id>>(id: Id, field: Field) =>
      (value: NonNullable<CallBody<Id>[Field]>): Promise<ResponseBody<Id>> =>
        call(id, { body: { [field]: value } as unknown as CallBody<Id> }),
    withList:
      <Id extends AdminCallId, Field extends keyof CallBody<Id>>(id: Id, field: Field) =>
      async (
        list: NonNullable<CallBody<Id>[Field]>,
        more?: Omit<CallBody<Id>, Field>,
      ): Promise<ResponseBody<Id>> => {
        if (!Array.isArray(list)) throw new TypeError(`${id} takes an array of ${String(field)}`)
        return call(id, { body: { [field]: list, ...more } as unknown as CallBody<Id> })
      },
    withQuery:
      <Id extends AdminCallId>(id: Id) =>
      (query?: CallQuery<Id>): Promise<ResponseBody<Id>> =>
        call(id, { query }),
    withId:
      <Id extends AdminCallId>(id: Id) =>
      (resourceId: string, to: CallBody<Id>): Promise<ResponseBody<Id>> =>
        call(id, { params: { id: resourceId }, body: to }),
    events: (resume: { lastEventId?: string } = {}) => readEvents(target, errorOf, resume),
  }
}

export type { SandboxEvent } from '../model/feed-kinds.ts'

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

/** The sandbox and the client of these options. Throws `TypeError` if the url or the name of the client is invalid. */
function targetOf({ url: text, client, token }: AdminClientOptions): Target {
  const url = parseSandboxUrl(text)
  const path = url && /^\/(?:@([^/]+))?$/.exec(url.pathname)
  if (!path)
    throw new TypeError(
      `createAdminClient takes the url of a sandbox such as http://127.0.0.1:4310, not ${JSON.stringify(text)}`,
    )
  const name = client ?? (path[1] && decodeURIComponent(path[1]))
  const result = ClientName.optional().safeParse(name)
  if (!result.success)
    throw new TypeError(
      `invalid client ${JSON.stringify(name)}: its name ${result.error.issues[0]!.message}`,
    )
  return { base: new URL(name === undefined ? '/' : `/@${name}`, url.origin), token }
}

/** The error of a failed call; the server may not be a sandbox. */
function adminErrorOf(target: Target, { method, url, status, body, cause }: FailedCall) {
  if (status === 0)
    return new AdminError(0, 'no_response', noResponseText(adminBase(target), cause), { cause })
  if (!body) return new AdminError(status, 'no_response', notJsonText(`${method} ${url}`, status))
  const { error, message, errors } = body
  return new AdminError(status, error!, message!, errors && { errors })
}

// The parameter types are inferred on purpose: the published types then contain them in full and do not import zod.

/** The calls that read and change a client's world. */
function createWorldMethods(options: AdminClientOptions) {
  const { call, withBody, withList, withQuery, withId } = createTypedCalls(options)
  return {
    /** Whether the server listens, and whether its data file can be written. */
    health: () => call('getHealth'),
    /** Whether fixtures and data are loaded. */
    ready: () => call('getReady'),
    /** Resets this client to its fixtures, start clock and start seed (default: all parts). */
    reset: withBody('reset'),

    /** A summary of this client: its clock, its scenario and its numbers of rows. */
    client: () => call('readClient'),
    /** What happened to its payouts, webhooks and calls. */
    summary: withQuery('readSummary'),

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

    /** What the bank reports for days in India (default: all), as the scenario changes it. */
    statement: withQuery('getStatement'),
    /** Compares your books with what happened, or with a statement. */
    reconcile: withList('reconcile', 'rows'),

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
      /** Sets the clock speed multiplier; 60 = one simulated minute per second. A frozen clock resumes. */
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

    simulate: {
      /** Sets the status of a payment and cancels its scheduled steps. */
      transaction: withId('simulateTransaction'),
      /** Sets the result of a pending KYC record. */
      kyc: withId('simulateKyc'),
      /** Sets the result of a pending bank account. */
      bankAccount: withId('simulateBankAccount'),
    },
  }
}

/** The calls that decide how the service responds, and those that observe what happens. */
function createTrafficMethods(options: AdminClientOptions) {
  const { call, withBody, withField, withQuery, events } = createTypedCalls(options)
  return {
    scenario: {
      list: () => call('listScenarios'),
      /** The active scenario and the number of hits of each rule. */
      get: withQuery('getScenario'),
      /** The text of a scenario file, and the positions of its rules. */
      source: (name: string) => call('readScenario', { params: { name } }),
      /** Activates a scenario by its name. */
      use: (name: string) => call('setScenario', { body: { name } }),
      /** Activates a scenario by its definition, in the format of a scenario file. */
      define: withField('setScenario', 'definition'),
      /** Input values with a special meaning in the default scenario. */
      magicValues: () => call('listMagicValues'),
    },

    /** The readings of the points that the contract leaves open (docs/assumptions.md). */
    assumptions: {
      /** Every assumption, its readings, and the one in force. */
      list: () => call('listAssumptions'),
      /** Chooses readings by assumption, such as `{idempotency_key: 'honoured'}`; `null` undoes an earlier choice. */
      set: withBody('setAssumptions'),
    },

    rules: {
      list: () => call('listRules'),
      /** Adds a rule with precedence over the scenario; with `times: 1` it applies once. */
      push: withBody('pushRule'),
      delete: (id: string) => call('deleteRule', { params: { id } }),
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
    },

    requests: {
      /** Calls of the service, newest first (default: 50; the log has at most 1,000). */
      list: allPages(withQuery('listRequests')),
      /** The same calls as HAR 1.2, oldest first, for browsers, Postman and proxies (default: all of the log). */
      har: asArchive(withQuery('listRequests')),
      get: (id: string) => call('getRequest', { params: { id } }),
      clear: withQuery('deleteRequests'),
      /** Calls that match conditions as in the `when` of a rule, or a method, path and status. */
      find: allPages(withBody('findRequests')),
      count: withBody('countRequests'),
      /** Throws with the closest calls if the number of matching calls is not the expected one (default: at least one). */
      verify: withBody('verifyRequests'),
    },

    /** The built-in receiver of webhooks. */
    inbox: {
      /** Received webhooks, newest first. */
      list: withQuery('listInbox'),
      clear: () => call('clearInbox'),
      /** Posts a body to it, as a webhook does. */
      receive: (body: string, headers: Readonly<Record<string, string>> = {}) =>
        call('receiveWebhook', { raw: body, headers }),
    },

    /** What the callers of all clients have met since the process started; no reset clears it. */
    coverage: () => call('getCoverage'),

    /** Resolves when a request, delivery, transaction or KYC record matches; throws `wait_timeout` after the timeout. */
    wait: withBody('wait'),
    /** The live events of this world, until the sandbox stops or the loop is left. */
    events: (resume?: { lastEventId?: string }): AsyncGenerator<SandboxEvent> => events(resume),
  }
}

/** A typed admin API client. Each method is one call, and rejects with `AdminError` if the call fails. */
export interface AdminClient
  extends ReturnType<typeof createWorldMethods>,
    ReturnType<typeof createTrafficMethods> {
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
  return { ...createWorldMethods(options), ...createTrafficMethods(options), forClient }
}
