import { BadOption } from '../config/options.ts'
import { exchange } from '../exchange.ts'
import { CommandFailed, type Input } from './command.ts'
import { gatherSome } from './options.ts'

/** The host that a server which listens on `host` is asked at. */
export const askedHost = (host: string): string =>
  host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host

/** Where the sandbox is, without `/v1` and `/__admin`: `--url`, else the variable, else where these options put it. */
function baseOf({ flags, env }: Input): URL {
  const [called, given] = flags['url']
    ? ['--url', String(flags['url'])]
    : ['PAYOUT_SANDBOX_URL', env['PAYOUT_SANDBOX_URL']]
  if (!given) {
    const { host, port } = gatherSome(['host', 'port'], {}, env)
    const name = askedHost(host)
    return new URL(`http://${name.includes(':') ? `[${name}]` : name}:${port}`)
  }
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

function tokenOf({ flags, env }: Input): string | undefined {
  const given = { 'admin-token': flags['admin-token'] }
  const token = gatherSome(['admin-token'], given, env)['admin-token']
  return token === 'none' ? undefined : token
}

const BAD_OPTION = 2

// biome-ignore lint/suspicious/noExplicitAny: each command knows the shape of the answers it asks for.
type Answer = any

/** Calls the admin API of a running sandbox. Throws `CommandFailed` where none answers, or the call is refused: with 2 for a bad value. */
export function connect(input: Input) {
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
      found = await exchange(url, { method, headers }, text)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      throw new CommandFailed(
        `No sandbox answers at ${base.origin} (${code ?? message}). Start one with payout-sandbox start, or say where it is with --url.`,
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
