import { BadOption } from '../config/options.ts'
import { VERSION } from '../config/version.ts'
import { printable } from '../core/printable.ts'
import { clock } from './clock.ts'
import { type Command, checkWords, columns, commandOf, helpOf } from './command.ts'
import { conform } from './conform.ts'
import { deliveries } from './deliveries.ts'
import { exec } from './exec.ts'
import { explore } from './explore.ts'
import { generate } from './generate.ts'
import { health } from './health.ts'
import { openapi } from './openapi.ts'
import { parseArguments } from './options.ts'
import { outliveReaders } from './output.ts'
import { record } from './record.ts'
import { replay } from './replay.ts'
import { requests } from './requests.ts'
import { reset } from './reset.ts'
import { scenario } from './scenario.ts'
import { snapshot } from './snapshot.ts'
import { start } from './start.ts'
import { trigger } from './trigger.ts'
import { validate } from './validate.ts'

const help: Command = {
  name: 'help',
  summary: 'print this text, or that of one command',
  usage: [
    ['help [COMMAND]', 'all commands and the options of start, or one command with its flags'],
  ],
  flags: {},
  examples: ['help', 'help exec'],
  async run({ words }) {
    checkWords('help', '[COMMAND]', words)
    const [name] = words
    return print(name === undefined ? overview() : helpOf(commandOf(name, COMMANDS)))
  },
}

/** Every command of the program. */
export const COMMANDS: readonly Command[] = [
  start,
  exec,
  validate,
  generate,
  scenario,
  clock,
  reset,
  requests,
  snapshot,
  trigger,
  deliveries,
  explore,
  record,
  replay,
  conform,
  health,
  openapi,
  help,
]

const overview = () => `payout-sandbox: a local sandbox of a payout and user-account service

${columns(COMMANDS.map(({ name, summary }) => [name, summary]))}
payout-sandbox help COMMAND, or COMMAND --help (-h), shows one of them; --version (-v) prints the version.
Without a command it is start, with these options:

${columns(Object.entries(start.flags).map(([name, [takes, meaning]]) => [`--${name}${takes && ` ${takes}`}`, meaning]))}
Each option but --json has a variable PAYOUT_SANDBOX_<OPTION> (also PORT) and a place in
payout-sandbox.config.json. Flag beats variable beats file.

Examples
${start.examples.map((line) => `  payout-sandbox ${line}\n`).join('')}`

/** Runs one command line and answers with the exit code (docs/cli.md: Exit codes). */
export async function main(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  outliveReaders(process)
  try {
    const {
      words: [name, ...words],
      behind,
      flags: { help: isHelp, version, ...flags },
    } = parseArguments(args, COMMANDS)
    if (version) return print(`${VERSION}\n`)
    if (isHelp && name === undefined) return print(overview())
    const command = commandOf(name ?? 'start', COMMANDS)
    if (isHelp) return print(helpOf(command))
    for (const flag of Object.keys(flags)) {
      if (Object.hasOwn(command.flags, flag)) continue
      const taken = Object.keys(command.flags).map((one) => `--${one}`)
      const takes = taken.length > 0 && taken.length < 8 ? `; it takes ${taken.join(', ')}` : ''
      throw new BadOption(`${command.name} takes no --${flag}${takes}`)
    }
    const { takesProgram } = command
    return await command.run({
      words: takesProgram ? words : [...words, ...behind],
      program: takesProgram ? behind : [],
      flags,
      env,
    })
  } catch (error) {
    const exitCode = error instanceof BadOption ? 2 : (error as { exitCode?: number }).exitCode
    const text =
      exitCode === undefined ? ((error as Error).stack ?? String(error)) : (error as Error).message
    process.stderr.write(printable(`payout-sandbox: ${text}\n`))
    return exitCode ?? 1
  }
}

function print(text: string): number {
  process.stdout.write(text)
  return 0
}
