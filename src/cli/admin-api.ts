import { BadOption } from '../config/options.ts'
import { exchange } from '../exchange.ts'
import { ClientName } from '../model/client.ts'
import { CommandFailed, type Input } from './command.ts'
import { gatherSome } from './options.ts'

/** The host that a server which listens on `host` is asked at. */
const askedHost = (host: string): string =>
  host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host

/** The address that these options give a sandbox on this machine. */
function placeOf(flags: Input['flags'], env: Input['env']): URL {
  const { port, host } = gatherSome(
    ['host', 'port'],
    { port: flags['port'], host: flags['host'] },
    env,
  )
  const name = askedHost(host)
  return new URL(`http://${name.includes(':') ? `[${name}]` : name}:${port}`)
}

/** The address in a URL of a sandbox, without `/v1` and `/__admin`. */
function addressIn(called: string, given: string): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new BadOption(
      `${called} takes the URL of a sandbox such as http://127.0.0.1:4310 or http://127.0.0.1:4310/@worker-3, not ${JSON.stringify(given)}`,
    )
  }
  url.pathname = url.pathname.replace(/(?:\/(?:v1|__admin))?\/*$/, '')
  url.search = ''
  url.hash = ''
  return url
}

/** Where the sandbox is: the place that flags say, else `PAYOUT_SANDBOX_URL`, else the place of the other options. */
function sandboxOf({ flags, env }: Input): URL {
  const isPlaced = flags['port'] !== undefined || flags['host'] !== undefined
  if (flags['url'] !== undefined && isPlaced)
    throw new BadOption('--url excludes --port and --host: the URL has both')
  if (flags['url'] !== undefined) return addressIn('--url', String(flags['url']))
  const known = env['PAYOUT_SANDBOX_URL']
  return known && !isPlaced ? addressIn('PAYOUT_SANDBOX_URL', known) : placeOf(flags, env)
}

const CLIENT_AT_END = /\/@([^/]+)$/

/** Where the client that is meant has its world, without `/v1` and `/__admin`. */
function baseOf(input: Input): URL {
  const url = sandboxOf(input)
  const { client, url: given } = input.flags
  if (client === undefined) return url
  const named = ClientName.safeParse(client)
  if (!named.success)
    throw new BadOption(
      `--client takes the name of a client, such as worker-3, not ${JSON.stringify(client)}: it ${named.error.issues[0]!.message}`,
    )
  const inUrl = CLIENT_AT_END.exec(url.pathname)?.[1]
  if (given !== undefined && inUrl !== undefined && inUrl !== named.data)
    throw new BadOption(`--client ${named.data} and the /@${inUrl} of --url name two clients`)
  url.pathname = `${url.pathname.replace(CLIENT_AT_END, '').replace(/\/$/, '')}/@${named.data}`
  return url
}

function tokenOf({ flags, env }: Input): string | undefined {
  const given = { 'admin-token': flags['admin-token'] }
  const token = gatherSome(['admin-token'], given, env)['admin-token']
  return token === 'none' ? undefined : token
}

const BAD_OPTION = 2

// biome-ignore lint/suspicious/noExplicitAny: each command knows the shape of the answers it asks for.
type Answer = any

/** Calls the admin API of a running sandbox. Throws `CommandFailed` where none answers, or the call is refused: with 2 for a bad value. */
export function connect(input: Input, silentMs?: number) {
  const base = baseOf(input)
  const token = tokenOf(input)
  return async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object) => {
    const url = new URL(`${base.href.replace(/\/$/, '')}/__admin${path}`)
    const text = body && JSON.stringify(body)
    const headers = {
      ...(token !== undefined && { 'x-admin-token': token }),
      ...(text !== undefined && {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      }),
    }
    let found: { status: number; text: string }
    try {
      found = await exchange(url, { method, headers, ...(silentMs && { timeout: silentMs }) }, text)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      throw new CommandFailed(
        `No sandbox answers at ${base.origin} (${code ?? message}). Start one with payout-sandbox start, or say where it is with --url or --port.`,
      )
    }
    let answer: Answer
    try {
      answer = JSON.parse(found.text)
    } catch {
      throw new CommandFailed(
        `${url.href} answers ${found.status} and no JSON: is that a payout-sandbox?`,
      )
    }
    if (found.status < 400) return answer
    const hint = answer.error === 'admin_token_required' ? ' Here: --admin-token T.' : ''
    throw new CommandFailed(
      `${answer.message ?? `${url.href} answers ${found.status}`}${hint}`,
      answer,
      // All that is sent was on the command line.
      answer.error === 'validation_failed' ? BAD_OPTION : 1,
    )
  }
}

/** Calls the admin API: method, path below `/__admin`, body. */
export type AdminApi = ReturnType<typeof connect>
