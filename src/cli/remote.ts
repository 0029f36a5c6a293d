import {
  type AdminApi,
  clientInUrl,
  createCaller,
  type FailedCall,
  noResponseText,
  notJsonText,
  parseSandboxUrl,
  type Target,
  urlOfClient,
} from '../admin/caller.ts'
import { BadOption } from '../config/options.ts'
import { ClientName } from '../model/client.ts'
import { jsonLine } from '../model/words.ts'
import { type Command, CommandFailed, checkArguments, type Input } from './command.ts'
import { gatherSomeOptions, optionFlag } from './options.ts'
import { clockProgress } from './output.ts'

/** The host to connect to for a server that listens on `host`. */
const connectHost = (host: string): string =>
  host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host

function localUrl(input: Input): URL {
  const { port, host } = gatherSomeOptions(['host', 'port'], input)
  const name = connectHost(host)
  return new URL(`http://${name.includes(':') ? `[${name}]` : name}:${port}`)
}

function requireUrl(label: string, text: string): URL {
  const url = parseSandboxUrl(text)
  if (url) return url
  throw new BadOption(
    `${label} takes the URL of a sandbox such as http://127.0.0.1:4310 or http://127.0.0.1:4310/@worker-3, not ${JSON.stringify(text)}`,
  )
}

/** The URL of the sandbox: from `--url` or `--host` and `--port`, then from `PAYOUT_SANDBOX_URL`, then from other sources. */
function sandboxUrl(input: Input): URL {
  const { flags, env } = input
  const hasAddress = flags['port'] !== undefined || flags['host'] !== undefined
  if (flags['url'] !== undefined && hasAddress)
    throw new BadOption('--url excludes --port and --host: the URL has both')
  if (flags['url'] !== undefined) return requireUrl('--url', String(flags['url']))
  const fromVariable = env['PAYOUT_SANDBOX_URL']
  return fromVariable && !hasAddress
    ? requireUrl('PAYOUT_SANDBOX_URL', fromVariable)
    : localUrl(input)
}

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
  const inUrl = clientInUrl(url)
  if (urlFlag !== undefined && inUrl !== undefined && inUrl !== name.data)
    throw new BadOption(
      `--client ${name.data} and the /@${inUrl} of --url are two different clients; give only one`,
    )
  return urlOfClient(url, name.data)
}

function adminTokenOf(input: Input): string | undefined {
  const { 'admin-token': token } = gatherSomeOptions(['admin-token'], input)
  return token === 'none' ? undefined : token
}

const BAD_OPTION_EXIT = 2

/** The message of an error response. That of invalid input has only the first of several errors, so lists them all. */
function messageOf({ error, message, errors = [] }: NonNullable<FailedCall['body']>) {
  if (error !== 'validation_failed' || errors.length <= 1) return message
  const lines = errors.map((one) => `  ${one.field}: ${one.message}`)
  return ['The request is invalid:', ...lines].join('\n')
}

function commandFailure({ base }: Target, { url, status, body, cause }: FailedCall): CommandFailed {
  if (status === 0)
    return new CommandFailed(
      `${noResponseText(base.origin, cause)} Start one with payout-sandbox start, or set its address with --url or --port.`,
    )
  if (!body) return new CommandFailed(notJsonText(url, status))
  const hint = body.error === 'admin_token_required' ? ' On the command line: --admin-token T.' : ''
  return new CommandFailed(
    `${messageOf(body) ?? `${url} responds with ${status}`}${hint}`,
    body,
    // Every value in the request comes from the command line.
    body.error === 'validation_failed' ? BAD_OPTION_EXIT : 1,
  )
}

export const targetOf = (input: Input) => ({ base: clientUrl(input), token: adminTokenOf(input) })

export const namesClient = (input: Input): boolean =>
  input.flags['client'] !== undefined || clientInUrl(sandboxUrl(input)) !== undefined

export function connect(input: Input, more: Pick<Target, 'timeoutMs' | 'lateMs' | 'onLate'> = {}) {
  const target = { ...targetOf(input), ...more }
  return createCaller(target, (failed) => commandFailure(target, failed))
}

export const ADDRESS_FLAGS: Command['flags'] = {
  url: [
    'URL',
    'URL of the sandbox; may end with /@name of a client (default: built from --host and --port) (env: PAYOUT_SANDBOX_URL)',
  ],
  port: optionFlag('port', 'port of the sandbox, instead of --url'),
  host: optionFlag('host', 'address that the sandbox listens on, instead of --url'),
  client: ['NAME', 'client to use, same as /@name in the URL (default: the default client)'],
  'admin-token': optionFlag('admin-token', 'admin token of the sandbox, if it requires one'),
}

const REMOTE_FLAGS: Command['flags'] = {
  ...ADDRESS_FLAGS,
  json: ['', 'print the response or the error as one line of JSON'],
}
const { client: _, ...FLAGS_WITHOUT_CLIENT } = REMOTE_FLAGS

/** Throws `BadOption` if `--client` is beside an `--all`, which is about every client. */
export function refuseClientOfAll(command: string, { all, client }: Input['flags']) {
  if (all && client !== undefined)
    throw new BadOption(`${command} --all excludes --client: it is about all clients`)
}

/** The result of a subcommand: the response for `--json`, its text for people, and whether the exit code is 1. */
type CommandResult = { response: unknown; text: string; failed?: boolean }

export async function shown<T>(
  call: Promise<T>,
  textOf: (response: T) => string,
  hasFailed: (response: T) => boolean = () => false,
): Promise<CommandResult> {
  const response = await call
  return { response, text: textOf(response), failed: hasFailed(response) }
}

type Subcommand = {
  syntax?: string
  description: string
  /** The flags of this subcommand, in addition to `REMOTE_FLAGS`. Other subcommands reject them. */
  flags?: Command['flags']
} & (
  | {
      run(
        api: AdminApi,
        args: readonly string[],
        flags: Input['flags'],
        /** `*` if the command line names no client: for commands that are then about all clients. */
        client: '*' | undefined,
      ): Promise<CommandResult>
    }
  /** Calls no sandbox, so it takes no `REMOTE_FLAGS`. Returns the text to print. */
  | { print(args: readonly string[], input: Input): Promise<string> }
)

type RemoteCommand = {
  name: string
  summary: string
  examples: readonly string[]
  /** How long the sandbox may send nothing before a call fails, ms. */
  timeoutMs?: number
  /** Its calls can take minutes, in which the clock moves. */
  movesClock?: true
  /** It is about the whole process, so it takes no `--client`. */
  ofProcess?: true
} & (Subcommand | { subcommands: Readonly<Record<string, Subcommand>> })

/** Creates a command that calls the admin API of a running sandbox. The subcommand `''` has no name of its own. */
export function remoteCommand(definition: RemoteCommand): Command {
  const { name, summary, examples, timeoutMs, ofProcess } = definition
  const remoteFlags = ofProcess ? FLAGS_WITHOUT_CLIENT : REMOTE_FLAGS
  const subcommands = 'subcommands' in definition ? definition.subcommands : { '': definition }
  const callOf = (subcommand: string) => (subcommand === '' ? name : `${name} ${subcommand}`)
  return {
    name,
    summary,
    usage: Object.entries(subcommands).map(([one, { syntax = '', description }]) => [
      `${callOf(one)}${syntax && ` ${syntax}`}`,
      description,
    ]),
    flags: Object.assign({}, ...Object.values(subcommands).map(({ flags }) => flags), remoteFlags),
    examples,
    syntax: '[WORD...]',
    async run(input) {
      const [first = '', ...rest] = input.args
      const subcommand = Object.hasOwn(subcommands, first) ? first : ''
      const own = subcommands[subcommand]
      if (!own) {
        const found = first === '' ? '' : `, not ${JSON.stringify(first)}`
        throw new BadOption(
          `${name} takes one of ${Object.keys(subcommands).join(', ')}${found}; see payout-sandbox ${name} --help`,
        )
      }
      const args = subcommand === '' ? input.args : rest
      checkArguments(callOf(subcommand), own.syntax, args)
      const taken = { ...own.flags, ...('run' in own && remoteFlags) }
      for (const flag of Object.keys(input.flags))
        if (!Object.hasOwn(taken, flag))
          throw new BadOption(
            `${callOf(subcommand)} does not take --${flag}; see payout-sandbox ${name} --help`,
          )
      if ('print' in own) return own.print(args, input)
      const { json } = input.flags
      const client = namesClient(input) ? undefined : '*'
      const progress = definition.movesClock && clockProgress()
      const { response, text, failed } = await own
        .run(connect(input, { timeoutMs, ...progress }), args, input.flags, client)
        .catch((error) => {
          if (json && error instanceof CommandFailed && error.response !== undefined)
            process.stdout.write(jsonLine(error.response))
          throw error
        })
        .finally(() => progress?.end())
      const output = json ? jsonLine(response) : text
      if (!failed) return output
      process.stdout.write(output)
      return 1
    },
  }
}
