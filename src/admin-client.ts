import { checkKinds } from './admin-arguments.ts'
import { ADMIN_CALLS } from './app.ts'
import { exchange, open } from './exchange.ts'
import type { AdminCall } from './http/admin.ts'
import { ClientName } from './model/client.ts'
import type { StreamKind } from './model/feed-kinds.ts'

type Call = (typeof ADMIN_CALLS)[number]
type CallId = Call['id']
type TypesOf<Id extends CallId> = NonNullable<Extract<Call, { id: Id }>['types']>
type Body<Id extends CallId> = TypesOf<Id>['body']
type Query<Id extends CallId> = TypesOf<Id>['query']
type Answer<Id extends CallId> = TypesOf<Id>['response']

type Sent<Id extends CallId> = {
  params?: TypesOf<Id>['params']
  query?: Query<Id>
  body?: Body<Id>
  /** A body that goes as it is. */
  raw?: string
  headers?: Readonly<Record<string, string>>
}

/** One field that a refusal names: its path, a code, and a sentence. */
export type AdminErrorField = { field: string; code: string; message: string }

/** A call of the admin API that was refused, or that nobody answered. */
export class AdminError extends Error {
  /** The HTTP status; 0 where there was no answer. */
  readonly status: number
  /** A word of docs/errors.md, or `no_answer`. */
  readonly code: string
  /** The fields at fault, or the nearest misses of a verification. */
  readonly errors: readonly AdminErrorField[]

  constructor(
    status: number,
    word: string,
    message: string,
    { errors = [], cause }: { errors?: readonly AdminErrorField[]; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? {} : { cause })
    this.name = 'AdminError'
    this.status = status
    this.code = word
    this.errors = errors
  }
}

/** Where a sandbox is, and whose world is meant. */
export type AdminClientOptions = {
  /** Of the sandbox, such as `http://127.0.0.1:4310`; a `/v1` or `/__admin` at its end does not matter. */
  url: string
  /** The admin token, where the sandbox wants one. */
  token?: string | undefined
  /** The client whose world is meant, by its name; the default one if not told. */
  client?: string | undefined
}

const BASE = /^(?:\/@([^/]+))?(?:\/(?:v1|__admin))?\/*$/

/** The address of the admin API, without a `/` at its end. */
function baseOf({ url: given, client }: AdminClientOptions): string {
  const url = URL.canParse(given) ? new URL(given) : undefined
  const path = url && /^https?:$/.test(url.protocol) ? BASE.exec(url.pathname) : null
  if (!url || !path) {
    throw new TypeError(
      `createAdminClient takes the url of a sandbox such as http://127.0.0.1:4310, not ${JSON.stringify(given)}`,
    )
  }
  const name = client ?? (path[1] && decodeURIComponent(path[1]))
  const named = ClientName.optional().safeParse(name)
  if (!named.success)
    throw new TypeError(
      `there is no client ${JSON.stringify(name)}: its name ${named.error.issues[0]!.message}`,
    )
  return `${url.origin}${name === undefined ? '' : `/@${name}`}/__admin`
}

function pathOf(url: string, { params, query }: Sent<CallId>): string {
  const values = (params ?? {}) as Record<string, unknown>
  const path = url.replace(/:(\w+)/g, (_, name: string) => {
    const value: unknown = values[name]
    // A path would lose dots, and be another call's.
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
  return new AdminError(0, 'no_answer', `No sandbox answers at ${base} (${why}).`, { cause })
}

/** The refusal in an answer of the admin API, or of whatever else answers there. */
function adminErrorOf(status: number, text: string, place: string): AdminError {
  try {
    const { error, message, errors } = JSON.parse(text) as {
      error: string
      message: string
      errors: AdminErrorField[]
    }
    return new AdminError(status, error, message, { errors })
  } catch {
    const message = `${place} answers ${status} and no JSON: is that a payout-sandbox?`
    return new AdminError(status, 'no_answer', message)
  }
}

function createCaller(options: AdminClientOptions) {
  const base = baseOf(options)
  const { token } = options
  return async <Id extends CallId>(id: Id, sent: Sent<Id> = {}): Promise<Answer<Id>> => {
    const known: AdminCall = ADMIN_CALLS.find((call) => call.id === id)!
    checkKinds(known, sent)
    const { method, url } = known
    const place = new URL(base + pathOf(url, sent as Sent<CallId>))
    const text = sent.raw ?? (sent.body === undefined ? undefined : JSON.stringify(sent.body))
    const headers = {
      ...(token !== undefined && { 'x-admin-token': token }),
      ...(text !== undefined && {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      }),
      ...sent.headers,
    }
    let found: { status: number; text: string }
    try {
      found = await exchange(place, { method, headers }, text)
    } catch (cause) {
      throw noResponse(base, cause)
    }
    const { status, text: answered } = found
    const where = `${method} ${place.href}`
    if (status >= 400) throw adminErrorOf(status, answered, where)
    try {
      return JSON.parse(answered)
    } catch {
      throw adminErrorOf(status, answered, where)
    }
  }
}

/** One thing that happened in a client's world. */
export type SandboxEvent = {
  /** Where to go on from. */
  id: string
  /** `gap`: some that were asked for are no longer kept. */
  kind: StreamKind
  /** What docs/testing.md (Watch it live) says for the kind. */
  data: Record<string, unknown>
}

/** What one block of a stream of server-sent events says; a comment says nothing. */
function eventOf(block: string): SandboxEvent | undefined {
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
  const base = baseOf(options)
  const { token } = options
  return async function* (given: { lastEventId?: string } = {}): AsyncGenerator<SandboxEvent> {
    const { url } = ADMIN_CALLS.find(({ id }) => id === 'streamEvents')!
    const headers = {
      ...(token !== undefined && { 'x-admin-token': token }),
      ...(given.lastEventId !== undefined && { 'last-event-id': given.lastEventId }),
    }
    const answer = await open(new URL(base + url), { headers }).catch((cause: unknown) => {
      throw noResponse(base, cause)
    })
    answer.setEncoding('utf8')
    let text = ''
    for await (const chunk of answer) {
      text += chunk
      if (answer.statusCode !== 200) continue
      const blocks = text.split('\n\n')
      text = blocks.pop()!
      for (const block of blocks) {
        const event = eventOf(block)
        if (event) yield event
      }
    }
    if (answer.statusCode !== 200) throw adminErrorOf(answer.statusCode ?? 0, text, base + url)
  }
}

type Taken<T> = undefined extends T ? [body?: T] : [body: T]

// The parameters' types are inferred on purpose: so the published types say them in full and need no zod.
function callsOf(options: AdminClientOptions) {
  const call = createCaller(options)
  const withBody =
    <Id extends CallId>(id: Id) =>
    (...[body]: Taken<Body<Id>>): Promise<Answer<Id>> =>
      call(id, { body })
  const withField =
    <Id extends CallId, Field extends keyof Body<Id>>(id: Id, field: Field) =>
    (value: NonNullable<Body<Id>[Field]>): Promise<Answer<Id>> =>
      call(id, { body: { [field]: value } as unknown as Body<Id> })
  const withQuery =
    <Id extends CallId>(id: Id) =>
    (query?: Query<Id>): Promise<Answer<Id>> =>
      call(id, { query })
  const ofOne =
    <Id extends CallId>(id: Id) =>
    (resourceId: string, to: Body<Id>): Promise<Answer<Id>> =>
      call(id, { params: { id: resourceId }, body: to })
  return {
    /** Whether the server listens, and whether its data file can be written. */
    health: () => call('getHealth'),
    /** Whether fixtures and data are loaded. */
    ready: () => call('getReady'),
    /** Back to the fixtures, start clock and start seed; all parts of this client if not told. */
    reset: withBody('reset'),

    /** This client in short: its clock, its scenario and how much it has. */
    client: () => call('readClient'),

    /** What is there, read without calling the service: no rule is spent, nothing is in the request log. */
    users: {
      /** Users with their KYC records and bank accounts, newest first. */
      list: withQuery('readUsers'),
      get: (id: string) => call('readUser', { params: { id } }),
    },
    transactions: {
      /** Payments in both views, newest first. */
      list: withQuery('readTransactions'),
      /** A payment with its events, every attempt, and what is still to happen to it. */
      get: (id: string) => call('readTransaction', { params: { id } }),
    },

    clients: {
      list: () => call('listClients'),
      /** Makes a client, of fixtures or as a fork of another one. */
      create: withBody('createClient'),
      delete: (name: string) => call('deleteClient', { params: { name } }),
    },

    state: {
      /** The whole world as one JSON document. */
      get: () => call('getState'),
      /** Puts a whole world in place of the present one. */
      put: withBody('putState'),
    },

    snapshots: {
      list: () => call('listSnapshots'),
      /** Keeps the state under a name. */
      save: (name: string) => call('saveSnapshot', { body: { name } }),
      /** A snapshot in the form of `state.get`. */
      get: (name: string) => call('getSnapshot', { params: { name } }),
      delete: (name: string) => call('deleteSnapshot', { params: { name } }),
      restore: (name: string) => call('restoreSnapshot', { params: { name } }),
      /** What was added, removed and changed since. */
      diff: (name: string) => call('diffSnapshot', { params: { name } }),
    },

    clock: {
      get: () => call('getClock'),
      /** Stops the clock, where it stands or at an ISO 8601 instant. */
      freeze: (at?: string) => call('freezeClock', { body: at === undefined ? {} : { at } }),
      /** Lets the clock tick on. */
      resume: () => call('resumeClock'),
      /** Client seconds a real second: 60 = a minute a second. */
      speed: (factor: number) => call('setClockSpeed', { body: { factor } }),
      /** Moves time by a duration such as `2d`, or to an instant `{to}`; answers when all that was due has settled. */
      advance: (by: string | { by: string } | { to: string }) =>
        call('advanceClock', { body: typeof by === 'object' ? by : { by } }),
      /** Jumps to the next timer and runs it. */
      next: () => call('advanceClockToNext'),
    },

    timers: {
      /** What is still to happen, soonest first. */
      list: withQuery('listTimers'),
      delete: (id: string) => call('deleteTimer', { params: { id } }),
      /** Runs a timer now. */
      fire: (id: string) => call('fireTimer', { params: { id } }),
    },

    scenario: {
      list: () => call('listScenarios'),
      /** The active one and how often each of its rules acted. */
      get: () => call('getScenario'),
      /** The text of a scenario's file, and where its rules stand in it. */
      source: (name: string) => call('readScenario', { params: { name } }),
      /** Activates a scenario by its name. */
      use: (name: string) => call('setScenario', { body: { name } }),
      /** Activates a scenario by its definition, as it stands in a scenario file. */
      define: withField('setScenario', 'definition'),
      /** Values to which the default scenario gives a meaning. */
      magicValues: () => call('listMagicValues'),
    },

    rules: {
      list: () => call('listRules'),
      /** Puts a rule in front of the scenario; `times: 1` ends it by itself. */
      push: withBody('pushRule'),
      delete: (id: string) => call('deleteRule', { params: { id } }),
    },

    simulate: {
      /** Moves a payment; its scheduled steps are dropped. */
      transaction: ofOne('simulateTransaction'),
      /** Decides about a pending KYC record. */
      kyc: ofOne('simulateKyc'),
      /** Decides about a pending bank account. */
      bankAccount: ofOne('simulateBankAccount'),
    },

    webhooks: {
      /** Deliveries and their attempts, newest first. */
      deliveries: withQuery('listDeliveries'),
      /** A delivery with its body and every attempt. */
      delivery: (id: string) => call('getDelivery', { params: { id } }),
      /** Sends a delivery once more, now. */
      redeliver: (id: string) => call('redeliver', { params: { id } }),
      /** Fires an event about a resource, the newest unless one is named. */
      trigger: withBody('triggerWebhook'),
      /** Sends a payment’s events in every order that may happen, and finds one that ends otherwise. */
      explore: withBody('exploreWebhooks'),
    },

    requests: {
      /** Calls of the service, newest first. */
      list: withQuery('listRequests'),
      get: (id: string) => call('getRequest', { params: { id } }),
      clear: () => call('deleteRequests'),
      /** Calls that match conditions as in the `when` of a rule, and method, path and status besides. */
      find: withBody('findRequests'),
      count: withBody('countRequests'),
      /** Throws, with the nearest misses, where the number of calls that match is not as told: at least one if not told. */
      verify: withBody('verifyRequests'),
    },

    /** The run since the start, where `--record` keeps it: the text of a file for `payout-sandbox replay`. */
    recording: () => call('getRecording'),

    /** Answers when a request, delivery, transaction or kyc is as told; throws `wait_timeout` where that is too late. */
    wait: withBody('wait'),
    /** What happens in this world, as it happens; ends when the sandbox stops, or by leaving the loop. */
    events: createStream(options),

    /** The built-in receiver of webhooks. */
    inbox: {
      /** What reached it, newest first. */
      list: withQuery('listInbox'),
      clear: () => call('clearInbox'),
      /** Hands it a body as a webhook would come. */
      receive: (body: string, headers: Readonly<Record<string, string>> = {}) =>
        call('receiveWebhook', { raw: body, headers }),
    },
  }
}

/** A typed client of the admin API: each method is one call, and throws `AdminError` where it is refused or nobody answers. */
export interface AdminClient extends ReturnType<typeof callsOf> {
  /** The same for the world of another client. */
  forClient(name: string): AdminClient
}

/**
 * A typed client of the admin API of a running sandbox; see `docs/admin-api.md` for what each call does. Throws
 * `TypeError` where the url is none.
 *
 * @example
 * const admin = createAdminClient({ url: 'http://127.0.0.1:4310', client: 'worker-3' })
 * await admin.clock.advance('2d')
 */
export function createAdminClient(options: AdminClientOptions): AdminClient {
  const forClient = (client: string) => createAdminClient({ ...options, client })
  return { ...callsOf(options), forClient }
}
