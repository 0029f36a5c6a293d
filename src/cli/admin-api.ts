import { exchange } from '../admin/exchange.ts'
import { BadOption } from '../config/options.ts'
import { ClientName } from '../model/client.ts'
import type { FieldError } from '../model/errors.ts'
import { CommandFailed, type Input } from './command.ts'
import { gatherSomeOptions } from './options.ts'

/** The host to connect to for a server that listens on `host`. */
const connectHost = (host: string): string =>
  host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host

/** The URL of a sandbox on this machine, from the options `host` and `port`. */
function localUrl(flags: Input['flags'], env: Input['env']): URL {
  const { port, host } = gatherSomeOptions(
    ['host', 'port'],
    { port: flags['port'], host: flags['host'] },
    env,
  )
  const name = connectHost(host)
  return new URL(`http://${name.includes(':') ? `[${name}]` : name}:${port}`)
}

/** Parses the URL of a sandbox and removes `/v1` and `/__admin` from its end; `label` names the option in the message. */
function parseSandboxUrl(label: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new BadOption(
      `${label} takes the URL of a sandbox such as http://127.0.0.1:4310 or http://127.0.0.1:4310/@worker-3, not ${JSON.stringify(text)}`,
    )
  }
  url.pathname = url.pathname.replace(/(?:\/(?:v1|__admin))?\/*$/, '')
  url.search = ''
  url.hash = ''
  return url
}

/** The URL of the sandbox: from `--url` or `--host` and `--port`, then from `PAYOUT_SANDBOX_URL`, then from other sources. */
function sandboxUrl({ flags, env }: Input): URL {
  const hasAddress = flags['port'] !== undefined || flags['host'] !== undefined
  if (flags['url'] !== undefined && hasAddress)
    throw new BadOption('--url excludes --port and --host: the URL has both')
  if (flags['url'] !== undefined) return parseSandboxUrl('--url', String(flags['url']))
  const fromVariable = env['PAYOUT_SANDBOX_URL']
  return fromVariable && !hasAddress
    ? parseSandboxUrl('PAYOUT_SANDBOX_URL', fromVariable)
    : localUrl(flags, env)
}

const CLIENT_AT_END = /\/@([^/]+)$/

/** The base URL of the client to use, without `/v1` and `/__admin`. */
function clientUrl(input: Input): URL {
  const url = sandboxUrl(input)
  const { client, url: urlFlag } = input.flags
  if (client === undefined) return url
  const name = ClientName.safeParse(client)
  if (!name.success)
    throw new BadOption(
      `--client takes the name of a client, such as worker-3, not ${JSON.stringify(client)}: it ${name.error.issues[0]!.message}`,
    )
  const inUrl = CLIENT_AT_END.exec(url.pathname)?.[1]
  if (urlFlag !== undefined && inUrl !== undefined && inUrl !== name.data)
    throw new BadOption(
      `--client ${name.data} and the /@${inUrl} of --url are two different clients; give only one`,
    )
  url.pathname = `${url.pathname.replace(CLIENT_AT_END, '').replace(/\/$/, '')}/@${name.data}`
  return url
}

function adminTokenOf({ flags, env }: Input): string | undefined {
  const token = gatherSomeOptions(['admin-token'], { 'admin-token': flags['admin-token'] }, env)[
    'admin-token'
  ]
  return token === 'none' ? undefined : token
}

const BAD_OPTION_EXIT = 2

// biome-ignore lint/suspicious/noExplicitAny: each command knows the type of the response it requests.
type ResponseBody = any

/** The message of an error response. That of invalid input has only the first of several errors, so lists them all. */
function messageOf({ error, message, errors }: ResponseBody): string | undefined {
  if (error !== 'validation_failed' || !(errors?.length > 1)) return message
  const lines = (errors as FieldError[]).map((one) => `  ${one.field}: ${one.message}`)
  return ['The request is invalid:', ...lines].join('\n')
}

/**
 * Returns a function that calls the admin API of a running sandbox. It throws `CommandFailed` if the sandbox does not
 * respond (exit code 1), or responds with an error (exit code 2 for `validation_failed`, otherwise 1).
 */
export function connect(input: Input, timeoutMs?: number) {
  const base = clientUrl(input)
  const token = adminTokenOf(input)
  return async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object) => {
    const url = new URL(`${base.href.replace(/\/$/, '')}/__admin${path}`)
    const requestText = body && JSON.stringify(body)
    const headers = {
      ...(token !== undefined && { 'x-admin-token': token }),
      ...(requestText !== undefined && {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(requestText),
      }),
    }
    let result: { status: number; text: string }
    try {
      const options = { method, headers, ...(timeoutMs && { timeout: timeoutMs }) }
      result = await exchange(url, options, requestText)
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      throw new CommandFailed(
        `No sandbox responds at ${base.origin} (${code ?? message}). Start one with payout-sandbox start, or set its address with --url or --port.`,
      )
    }
    let response: ResponseBody
    try {
      response = JSON.parse(result.text)
    } catch {
      throw new CommandFailed(
        `${url.href} responds with ${result.status} and a body that is not JSON. Check that it is a payout-sandbox.`,
      )
    }
    if (result.status < 400) return response
    const hint =
      response.error === 'admin_token_required' ? ' On the command line: --admin-token T.' : ''
    throw new CommandFailed(
      `${messageOf(response) ?? `${url.href} responds with ${result.status}`}${hint}`,
      response,
      // Every value in the request comes from the command line.
      response.error === 'validation_failed' ? BAD_OPTION_EXIT : 1,
    )
  }
}

/** Calls the admin API: method, path below `/__admin`, body. Returns the parsed response. */
export type AdminApi = ReturnType<typeof connect>
