// The one way to the server: admin calls of the client that the page's own path names.

/** One admin call; `path` follows `/__admin`. */
export type Call = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  body?: unknown
}

/** What a call led to, where its status does not say it: a webhook that was sent may have been refused. */
export type Effect = { text: string; isBad: boolean }

/** Reads from the answer of a call what it led to. */
export type EffectOf<T> = (answer: T) => Effect | Promise<Effect | undefined>

/** A call that is made: its status (none as yet; 0: no answer came), what it led to, and what was refused, if anything was. */
export type Made = Call & { status?: number; effect?: Effect; problem?: string }

/** A call that was refused, or not answered: status 0. */
export class CallError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const CLIENT = /^\/@([^/]+)\//.exec(location.pathname)?.[1]
/** The client's base path: empty for the default client. */
export const BASE = CLIENT === undefined ? '' : `/@${CLIENT}`
const TOKEN = 'payout-sandbox admin token'

/** Asks somebody for the admin token; `problem` says what was wrong with the last one, `undefined` is a no. */
type Ask = (problem: string | undefined) => Promise<string | undefined>

let ask: Ask = async () => undefined
let asked: Promise<void> | undefined
let isDeclined = false

/** Names who asks for the admin token when the server wants one. */
export function onTokenNeeded(asks: Ask) {
  ask = asks
}

/** Fetches with a token. Throws `CallError` where no answer comes. */
async function fetchWith(token: string | null, url: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers)
  try {
    if (token !== null) headers.set('x-admin-token', token)
  } catch {
    throw new CallError(0, 'This is no token: it has characters that no header can carry.')
  }
  try {
    return await fetch(url, { ...init, headers })
  } catch {
    throw new CallError(0, 'The sandbox does not answer. Is it running?')
  }
}

type Refusal = { message?: string; error?: string }

async function refusalOf(response: Response): Promise<Refusal> {
  try {
    return await response.json()
  } catch {
    return {}
  }
}

const wantsToken = ({ error }: Refusal) => error === 'admin_token_required'

/** What is wrong with a token, if anything is. */
async function problemWith(token: string): Promise<string | undefined> {
  try {
    const response = await fetchWith(token, '/__admin/clients', {})
    const isRejected = !response.ok && wantsToken(await refusalOf(response))
    return isRejected ? 'The token was refused.' : undefined
  } catch (error) {
    return (error as CallError).message
  }
}

async function askForToken(): Promise<void> {
  for (let problem: string | undefined; ; ) {
    const token = await ask(problem)
    isDeclined = token === undefined
    if (token === undefined) throw new CallError(401, 'The admin API wants its token.')
    problem = await problemWith(token)
    if (problem !== undefined) continue
    sessionStorage.setItem(TOKEN, token)
    return
  }
}

/** Asks for the token once, however many calls want it at the same time. Throws `CallError` where none is given. */
export function takeToken(): Promise<void> {
  asked ??= askForToken().finally(() => {
    asked = undefined
  })
  return asked
}

/** Fetches with the admin token, which is asked for when it is missing or wrong. */
async function fetchAsked(url: string, init: RequestInit): Promise<Response> {
  const token = sessionStorage.getItem(TOKEN)
  const response = await fetchWith(token, url, init)
  if (response.ok) return response
  const refusal = await refusalOf(response)
  if (wantsToken(refusal) && !isDeclined) {
    // Another call may have brought it meanwhile.
    if (sessionStorage.getItem(TOKEN) === token) await takeToken()
    return fetchAsked(url, init)
  }
  throw new CallError(response.status, refusal.message ?? `The server answered ${response.status}.`)
}

/** The status of a call for a client that was deleted. */
export const GONE = 410

let isUnsure = false

/** The client may have been deleted: a call at its base path would make another one of its name. */
export function beUnsure() {
  isUnsure = CLIENT !== undefined
}

async function beSure() {
  const { clients } = await (await fetchAsked('/__admin/clients', {})).json()
  if (!clients.some(({ name }: { name: string }) => name === CLIENT))
    throw new CallError(GONE, `The client ${CLIENT} was deleted.`)
  isUnsure = false
}

/** Makes an admin call of the client. Throws `CallError`. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  if (isUnsure) await beSure()
  return fetchAsked(`${BASE}/__admin${path}`, init)
}

/** Reads something of the sandbox. */
export const read = async <T>(path: string): Promise<T> => (await request(path)).json()

const watchers = new Set<(made: Made) => void>()

/** Hands over every call that changes something, when it is made and when it is answered. */
export function watchCalls(watcher: (made: Made) => void): () => void {
  watchers.add(watcher)
  return () => void watchers.delete(watcher)
}

/** Hands over every such call when it is answered. */
export const onMade = (listener: (made: Made) => void): (() => void) =>
  watchCalls((made) => {
    if (made.status !== undefined) listener(made)
  })

function tell(made: Made) {
  for (const watcher of [...watchers]) watcher(made)
}

/** Makes a call and tells all who watch. Throws `CallError`. */
export async function make<T>(call: Call, effectOf?: EffectOf<T>): Promise<T> {
  const { method, path, body } = call
  const json = body !== undefined && {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  }
  tell(call)
  try {
    const response = await request(path, { method, ...json })
    const answer = (await response.json()) as T
    const effect = await effectOf?.(answer)
    tell({ ...call, status: response.status, ...(effect && { effect }) })
    return answer
  } catch (error) {
    const { status, message } = error as CallError
    tell({ ...call, status: status ?? 0, problem: message })
    throw error
  }
}

/** A call as a line to read. */
export const textOf = ({ method, path, body }: Call): string =>
  `${method} ${BASE}/__admin${path}${body === undefined ? '' : ` ${JSON.stringify(body)}`}`

/** A text as one word of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** A request as a line for a POSIX shell. */
export function curlOf({
  method,
  url,
  headers = {},
  body,
}: {
  method: string
  url: string
  headers?: Readonly<Record<string, string>>
  body?: string | undefined
}): string {
  return [
    `curl -X ${method} ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${quoted(body)}`]),
  ].join(' ')
}

/** An admin call as a line for a POSIX shell; the token stays a name, so that it lands in no history. */
export const curlOfCall = ({ method, path, body }: Call): string => {
  const token = sessionStorage.getItem(TOKEN) === null ? '' : ' -H "X-Admin-Token: $ADMIN_TOKEN"'
  const line = curlOf({
    method,
    url: `${location.origin}${BASE}/__admin${path}`,
    ...(body !== undefined && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  })
  return line + token
}
