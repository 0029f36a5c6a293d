import { BadOption } from '../config/options.ts'
import { jsonLine } from '../model/printable.ts'
import { type AdminApi, connect, namesClient } from './admin-api.ts'
import { type Command, CommandFailed, checkArguments, type Input } from './command.ts'
import { optionFlag } from './options.ts'

/** The flags that name a running sandbox and a client. */
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

/** The flags of every command that calls a running sandbox. */
const REMOTE_FLAGS: Command['flags'] = {
  ...ADDRESS_FLAGS,
  json: ['', 'print the response or the error as one line of JSON'],
}

/** The result of a subcommand: the response for `--json`, its text for people, and whether the exit code is 1. */
type CommandResult = { response: unknown; text: string; failed?: boolean }

type Subcommand = {
  /** The positional arguments: `NAME`, `[AT]`, `[PART...]`. */
  syntax: string
  description: string
  /** The flags of this subcommand, in addition to `REMOTE_FLAGS`. Other subcommands reject them. */
  flags?: Command['flags']
  run(
    api: AdminApi,
    args: readonly string[],
    flags: Input['flags'],
    /** `*` if the command line names no client: for commands that are then about all clients. */
    client: '*' | undefined,
  ): Promise<CommandResult>
}

/** A subcommand that calls no sandbox; it prints what `run` returns. */
type LocalSubcommand = Omit<Subcommand, 'run'> & {
  run(args: readonly string[], flags: Input['flags'], env: Input['env']): Promise<string>
}

/** Creates a command that calls the admin API of a running sandbox. The subcommand `''` has no name of its own. */
export function remoteCommand(definition: {
  name: string
  summary: string
  subcommands: Readonly<Record<string, Subcommand>>
  local?: Readonly<Record<string, LocalSubcommand>>
  examples: readonly string[]
  /** How long the sandbox may send nothing before a call fails, ms. */
  timeout_ms?: number
}): Command {
  const { name, summary, subcommands, local = {}, examples, timeout_ms: timeoutMs } = definition
  const all: Readonly<Record<string, LocalSubcommand | Subcommand>> = { ...subcommands, ...local }
  const names = Object.keys(all)
  const callOf = (subcommand: string) => (subcommand === '' ? name : `${name} ${subcommand}`)
  return {
    name,
    summary,
    usage: names.map((one) => {
      const { syntax, description } = all[one]!
      return [`${callOf(one)}${syntax && ` ${syntax}`}`, description]
    }),
    flags: {
      ...Object.assign({}, ...names.map((one) => all[one]!.flags)),
      ...REMOTE_FLAGS,
    },
    examples,
    async run(input) {
      const [first = '', ...rest] = input.args
      const subcommand = Object.hasOwn(all, first) ? first : ''
      if (!Object.hasOwn(all, subcommand)) {
        const found = first === '' ? '' : `, not ${JSON.stringify(first)}`
        throw new BadOption(
          `${name} takes one of ${names.join(', ')}${found}; see payout-sandbox ${name} --help`,
        )
      }
      const args = subcommand === '' ? input.args : rest
      const { syntax, flags } = all[subcommand]!
      checkArguments(callOf(subcommand), syntax, args)
      const isLocal = Object.hasOwn(local, subcommand)
      const taken = { ...flags, ...(!isLocal && REMOTE_FLAGS) }
      for (const flag of Object.keys(input.flags))
        if (!Object.hasOwn(taken, flag))
          throw new BadOption(
            `${callOf(subcommand)} does not take --${flag}; see payout-sandbox ${name} --help`,
          )
      if (isLocal) {
        process.stdout.write(await local[subcommand]!.run(args, input.flags, input.env))
        return 0
      }
      const { json } = input.flags
      const { response, text, failed } = await subcommands[subcommand]!.run(
        connect(input, timeoutMs),
        args,
        input.flags,
        namesClient(input) ? undefined : '*',
      ).catch((error) => {
        if (json && error instanceof CommandFailed && error.response !== undefined)
          process.stdout.write(jsonLine(error.response))
        throw error
      })
      process.stdout.write(json ? jsonLine(response) : text)
      return failed ? 1 : 0
    },
  }
}
