import type { ResponseBody, UncheckedArguments } from '../../admin/caller.ts'
import { type AdminCallId, adminTarget } from '../../model/admin-routes.ts'
import type { OperationId } from '../../scenarios/operations-and-events.ts'
import {
  CallError,
  errorBodyOf,
  errorOf,
  fetchService,
  GONE_TEXT,
  isServiceCall,
  type SERVICE_ROOT,
  serviceHeaders,
} from './service.ts'

// All calls to the server, for the client that the page's path names.

export type CallId = AdminCallId | OperationId

export type Response<Id extends CallId> = Id extends AdminCallId ? ResponseBody<Id> : unknown

/** One call; `path` follows `root`. */
export type Call<Id extends CallId = CallId> = {
  id: Id
  method: string
  root: '/__admin' | typeof SERVICE_ROOT
  path: string
  body?: unknown
}

export function callOf<Id extends AdminCallId>(
  id: Id,
  args: UncheckedArguments<Id> = {},
): Call<Id> {
  const { body } = args
  return { id, root: '/__admin', ...adminTarget(id, args), ...(body !== undefined && { body }) }
}

/** The effect of a call, if its status does not show it: the receiver may have rejected a webhook; or what a form shows. */
export type Effect = { text: string; isBad: boolean; isShown?: boolean }

export type EffectOf<T> = (response: T) => Effect | Promise<Effect | undefined>

/** A call of a button: its status (missing: pending; 0: none), its effect, and the error message if it failed. */
export type SentCall = Call & { label: string; status?: number; effect?: Effect; problem?: string }

const CLIENT = /^\/@([^/]+)\//.exec(location.pathname)?.[1]
/** The client's base path: empty for the default client. */
export const BASE = CLIENT === undefined ? '' : `/@${CLIENT}`
const TOKEN = 'payout-sandbox admin token'
// Without the base path, which would create its client.
const CLIENTS_URL = `/__admin${callOf('listClients').path}`

/** Asks the user for the admin token; `problem` says what was wrong with the last one. Returns `undefined` if the user cancels. */
type Ask = (problem: string | undefined) => Promise<string | undefined>

let ask: Ask = async () => undefined
let tokenRequest: Promise<void> | undefined
let isDeclined = false

export function setAsk(next: Ask) {
  ask = next
}

/** Sends one request, with a token if there is one. Throws `CallError` if there is no response. */
async function fetchOnce(token: string | null, url: string, init: RequestInit) {
  const headers = new Headers(init.headers)
  if (token !== null) headers.set('x-admin-token', token)
  return fetch(url, { ...init, headers }).catch(() => {
    throw new CallError(0, GONE_TEXT)
  })
}

async function askForToken(problem: string | undefined): Promise<void> {
  const token = await ask(problem)
  isDeclined = token === undefined
  if (token === undefined) throw new CallError(401, 'The admin API requires its token.')
  if (/[^\x20-\xff]/.test(token))
    return askForToken('This is not a valid token: it has characters that a header cannot contain.')
  sessionStorage.setItem(TOKEN, token)
}

/** Asks for the token once, even if several calls need it at the same time. Throws `CallError` if the user cancels. */
export function requestToken(problem?: string): Promise<void> {
  tokenRequest ??= askForToken(problem).finally(() => {
    tokenRequest = undefined
  })
  return tokenRequest
}

async function fetchWithToken(url: string, init: RequestInit): ReturnType<typeof fetch> {
  const token = sessionStorage.getItem(TOKEN)
  const response = await fetchOnce(token, url, init)
  if (response.ok) return response
  const errorBody = await errorBodyOf(response)
  if (errorBody.error === 'admin_token_required' && !isDeclined) {
    // Another call may already have stored a new token.
    if (sessionStorage.getItem(TOKEN) === token)
      await requestToken(token === null ? undefined : 'The server rejected the token.')
    return fetchWithToken(url, init)
  }
  throw errorOf(response.status, errorBody)
}

/** The status of a call for a client that was deleted. */
export const GONE = 410

let mustCheckClient = false

/** Makes the next call check first that the client still exists: a call at its base path would create it again. */
export function checkClientFirst() {
  mustCheckClient = CLIENT !== undefined
}

async function checkClient() {
  const response = await fetchWithToken(CLIENTS_URL, {})
  const { clients }: ResponseBody<'listClients'> = await response.json()
  if (!clients.some(({ name }) => name === CLIENT))
    throw new CallError(GONE, `The client ${CLIENT} was deleted.`)
  mustCheckClient = false
}

export async function request(path: string, init: RequestInit = {}) {
  if (mustCheckClient) await checkClient()
  return fetchWithToken(`${BASE}/__admin${path}`, init)
}

export const read = async <Id extends AdminCallId>({ path }: Call<Id>): Promise<ResponseBody<Id>> =>
  (await request(path)).json()

async function fetchCall(call: Call, init: RequestInit) {
  if (!isServiceCall(call)) return request(call.path, init)
  if (mustCheckClient) await checkClient()
  return fetchService(urlOf(call), init)
}

/** The event of a call that changes something: when it is sent, and when its response arrives. */
export type CallEvent = CustomEvent<SentCall>
const notify = (sent: SentCall) => dispatchEvent(new CustomEvent('call', { detail: sent }))

/** Sends a call and tells the page. Throws `CallError`; with `isShown`, its caller shows the message. */
export async function send<Id extends CallId>(
  call: Call<Id>,
  label: string,
  effectOf?: EffectOf<Response<Id>>,
  isShown = false,
): Promise<Response<Id>> {
  const { method, body } = call
  const json = body !== undefined && {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  }
  notify({ ...call, label })
  try {
    // A call without a body ends even if the page is closed.
    const response = await fetchCall(call, { method, keepalive: body === undefined, ...json })
    const responseBody: Response<Id> = await response.json()
    const effect = await effectOf?.(responseBody)
    notify({ ...call, label, status: response.status, ...(effect && { effect }) })
    return responseBody
  } catch (error) {
    const { status, message } = error as CallError
    // A gateway's error says nothing about what the service did.
    const text =
      status >= 500 ? `got ${status}; it may have been carried out` : `rejected (${status})`
    const rejected = { effect: { text, isBad: true, isShown } }
    const end = isShown && status ? rejected : { problem: message }
    notify({ ...call, label, status: status ?? 0, ...end })
    throw error
  }
}

const urlOf = ({ root, path }: Call): string => `${BASE}${root}${path}`

export const textOf = (call: Call): string =>
  `${call.method} ${urlOf(call)}${call.body === undefined ? '' : ` ${JSON.stringify(call.body)}`}`

/** Quotes a string for a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** With the token, unless the sandbox has an admin token: then its secrets stay out of a shell's history. */
export const serviceToken = () =>
  sessionStorage.getItem(TOKEN) === null ? serviceHeaders() : { authorization: 'Bearer TOKEN' }

export function curlOf(
  method: string,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: unknown,
): string {
  return [
    `curl -X ${method} ${quoted(`${location.origin}${BASE}${url}`)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${quoted(JSON.stringify(body))}`]),
  ].join(' ')
}

/** Formats a call as a curl command; the admin token is a variable, so that the shell history does not contain it. */
export function curlOfCall(call: Call): string {
  const { method, root, path, body } = call
  const headers = {
    ...(isServiceCall(call) && serviceToken()),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  const line = curlOf(method, root + path, headers, body)
  const needsToken = !isServiceCall(call) && sessionStorage.getItem(TOKEN) !== null
  return needsToken ? `${line} -H "X-Admin-Token: $ADMIN_TOKEN"` : line
}

// The names of the rows that the console shows.

export type Client = ResponseBody<'readClient'>
export type Clock = Client['clock']
export type Timer = ResponseBody<'listTimers'>['timers'][number]
export type User = ResponseBody<'readUser'>
export type PaymentWithAll = ResponseBody<'readTransaction'>
export type Payment = PaymentWithAll['transaction']
export type Delivery = PaymentWithAll['deliveries'][number]
export type Attempt = Delivery['attempts'][number]
export type LoggedRequest = ResponseBody<'getRequest'>
/** A call of the service in short, as the event stream sends it. */
export type ShortRequest = PaymentWithAll['requests'][number]
