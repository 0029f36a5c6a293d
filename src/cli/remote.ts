import { BadOption } from '../config/options.ts'
import { jsonLine } from '../core/printable.ts'
import { type AdminApi, connect } from './admin-api.ts'
import { type Command, CommandFailed, checkWords, type Input } from './command.ts'

const FLAGS: Command['flags'] = {
  url: [
    'URL',
    'the sandbox, with /@name for a client; default: PAYOUT_SANDBOX_URL, else port 4310',
  ],
  port: ['N', 'in place of --url: the port of a sandbox on this machine'],
  host: ['NAME', 'with --port: the address that it listens on'],
  client: ['NAME', 'the client whose world is meant, as /@name in the URL'],
  'admin-token': ['T', 'the token that its admin API wants, if it wants one'],
  json: ['', 'print the answer as one line of JSON'],
}

/** What a call of the admin API gave: the answer for programs, how a person reads it, and whether it makes the exit code 1. */
type Told = { answer: unknown; text: string; failed?: boolean }

type Verb = {
  /** The words behind it: `NAME`, `[AT]`, `[PART...]`. */
  takes: string
  does: string
  /** Flags of this verb; another one refuses them. */
  flags?: Command['flags']
  run(api: AdminApi, words: readonly string[], flags: Input['flags']): Promise<Told>
}

/** Describes a command that uses only the admin API of a running sandbox. The verb `''` is the command by itself. */
export function remoteCommand(definition: {
  name: string
  summary: string
  verbs: Readonly<Record<string, Verb>>
  examples: readonly string[]
  /** How long the sandbox may be silent, ms. */
  silentMs?: number
}): Command {
  const { name, summary, verbs, examples, silentMs } = definition
  const known = Object.keys(verbs)
  const callOf = (verb: string) => (verb === '' ? name : `${name} ${verb}`)
  return {
    name,
    summary,
    usage: known.map((verb) => {
      const { takes, does } = verbs[verb]!
      return [`${callOf(verb)}${takes && ` ${takes}`}`, does]
    }),
    flags: { ...Object.assign({}, ...known.map((verb) => verbs[verb]!.flags)), ...FLAGS },
    examples,
    async run(input) {
      const [first = '', ...rest] = input.words
      const verb = Object.hasOwn(verbs, first) ? first : ''
      if (!Object.hasOwn(verbs, verb)) {
        const found = first === '' ? '' : `, not ${JSON.stringify(first)}`
        throw new BadOption(
          `${name} takes one of ${known.join(', ')}${found}; see payout-sandbox ${name} --help`,
        )
      }
      const words = verb === '' ? input.words : rest
      const { takes, flags = {}, run } = verbs[verb]!
      checkWords(callOf(verb), takes, words)
      for (const flag of Object.keys(input.flags))
        if (!Object.hasOwn(flags, flag) && !Object.hasOwn(FLAGS, flag))
          throw new BadOption(
            `${callOf(verb)} takes no --${flag}; see payout-sandbox ${name} --help`,
          )
      const { json } = input.flags
      const { answer, text, failed } = await run(
        connect(input, silentMs),
        words,
        input.flags,
      ).catch((error) => {
        // What programs read says why as well.
        if (json && error instanceof CommandFailed && error.answer !== undefined)
          process.stdout.write(jsonLine(error.answer))
        throw error
      })
      process.stdout.write(json ? jsonLine(answer) : text)
      return failed ? 1 : 0
    },
  }
}
