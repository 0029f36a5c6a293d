// The one way to the server: admin calls of the client that the page's own path names.

/** One admin call; `path` follows `/__admin`. */
export type Call = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  path: string
  body?: unknown
}

/** A call that was made: its status (0: no answer came), and what was refused, if anything was. */
export type Made = Call & { status: number; problem?: string }

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

let askForToken = (): Promise<string> => Promise.reject(new CallError(401, 'No token'))
let asked: Promise<void> | undefined

/** Names who asks for the admin token when the server wants one. */
export function onTokenNeeded(ask: () => Promise<string>) {
  askForToken = ask
}

/** Asks once, however many calls want it at the same time. */
function takeToken(): Promise<void> {
  asked ??= askForToken()
    .then((token) => sessionStorage.setItem(TOKEN, token))
    .finally(() => {
      asked = undefined
    })
  return asked
}

/** Fetches with the admin token, which is asked for when it is missing or wrong. Throws `CallError`. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  const token = sessionStorage.getItem(TOKEN)
  const headers = { ...init.headers, ...(token !== null && { 'x-admin-token': token }) }
  let response: Response
  try {
    response = await fetch(`${BASE}/__admin${path}`, { ...init, headers } as RequestInit)
  } catch {
    throw new CallError(0, 'The sandbox does not answer. Is it running?')
  }
  if (response.ok) return response
  const text = await response.text()
  let error: { message?: string; error?: string } = {}
  try {
    error = JSON.parse(text)
  } catch {}
  if (error.error === 'admin_token_required') {
    // Another call may have brought it meanwhile.
    if (sessionStorage.getItem(TOKEN) === token) await takeToken()
    return request(path, init)
  }
  throw new CallError(response.status, error.message ?? `The server answered ${response.status}.`)
}

/** Reads something of the sandbox. */
export const read = async <T>(path: string): Promise<T> => (await request(path)).json()

const listeners = new Set<(made: Made) => void>()

/** Hands over every call that changes something, when it is answered. */
export function onMade(listener: (made: Made) => void): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Makes a call and tells all who listen. Throws `CallError`. */
export async function make<T>(call: Call): Promise<T> {
  const { method, path, body } = call
  const json = body !== undefined && {
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  }
  const tell = (made: Made) => {
    for (const listener of listeners) listener(made)
  }
  try {
    const response = await request(path, { method, ...json })
    const answer = (await response.json()) as T
    tell({ ...call, status: response.status })
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
