import { BadOption } from '../config/options.ts'
import { VERSION } from '../config/package.ts'
import { printable } from '../model/words.ts'
import { certify } from './certify.ts'
import {
  type Command,
  checkArguments,
  findCommand,
  formatColumns,
  formatExamples,
  formatFlags,
  formatHelp,
} from './command.ts'
import { conform } from './conform.ts'
import { client, openapi, schema } from './documents.ts'
import { exec } from './exec.ts'
import { generate, validate } from './files.ts'
import { mcp } from './mcp.ts'
import { parseArguments } from './options.ts'
import { discardDrafts, ignoreGoneReaders, prepareFile, print } from './output.ts'
import { assumptions, scenario } from './scenario.ts'
import { health, start } from './start.ts'
import { reconcile, statement } from './statement.ts'
import { sweep } from './sweep.ts'
import { coverage, deliveries, requests, trigger, wait } from './traffic.ts'
import { clock, reset, snapshot, state } from './world.ts'

const help: Command = {
  name: 'help',
  summary: 'print help for the program or one command',
  usage: [
    ['help', 'list all commands and the options of start'],
    ['help COMMAND', 'print usage, options and examples'],
  ],
  flags: {},
  examples: ['help', 'help exec'],
  syntax: '[COMMAND]',
  run: async ({ args: [name] }) =>
    name === undefined ? overview() : formatHelp(findCommand(name, COMMANDS)),
}

export const COMMANDS: readonly Command[] = [
  start,
  exec,
  sweep,
  certify,
  validate,
  generate,
  scenario,
  assumptions,
  clock,
  reset,
  requests,
  wait,
  coverage,
  snapshot,
  state,
  trigger,
  deliveries,
  statement,
  reconcile,
  conform,
  mcp,
  health,
  openapi,
  schema,
  client,
  help,
]

const overview = () => `payout-sandbox: a local sandbox of a payout and user-account service

Usage:
${formatColumns([
  ['payout-sandbox [start] [OPTIONS]', 'start a sandbox'],
  ['payout-sandbox COMMAND [OPTIONS]', 'run a command'],
  ['payout-sandbox COMMAND --help', 'print the usage, options and examples of a command'],
])}
Commands:
${formatColumns(COMMANDS.map(({ name, summary }) => [name, summary]))}
${formatFlags(start.flags)}
Options can also be set as environment variables or in payout-sandbox.config.json, by their names without dashes in front.
Command-line options override environment variables, and environment variables override the file.

${formatExamples(start.examples)}`

/** Runs one command line and returns the exit code; `loadTools` returns this function of the bundle that has the tools. */
export async function main(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  loadTools?: () => Promise<typeof main>,
): Promise<number> {
  ignoreGoneReaders(process)
  try {
    const {
      positionals: [name, ...rest],
      afterDashes,
      flags: { help: isHelp, version, ...flags },
    } = parseArguments(args, COMMANDS)
    if (version) return await print(`${VERSION}\n`)
    if (isHelp && name === undefined) return await print(overview())
    const command = findCommand(name ?? 'start', COMMANDS)
    if (isHelp) return await print(formatHelp(command))
    for (const flag of Object.keys(flags)) {
      if (Object.hasOwn(command.flags, flag)) continue
      const known = Object.keys(command.flags).map((one) => `--${one}`)
      const hint = known.length > 0 && known.length < 10 ? `; it takes ${known.join(', ')}` : ''
      throw new BadOption(`${command.name} does not take --${flag}${hint}`)
    }
    if (command.isTool && loadTools) return await (await loadTools())(args, env)
    const { takesProgram } = command
    const words = takesProgram ? rest : [...rest, ...afterDashes]
    checkArguments(command.name, command.syntax, words)
    const program = takesProgram ? afterDashes : []
    const { out } = flags
    const save = out === undefined ? undefined : prepareFile('--out', String(out))
    const result = await command.run({ args: words, program, flags, env })
    if (typeof result === 'number') return result
    if (!save) return await print(result)
    save(result)
    return 0
  } catch (error) {
    const exitCode = error instanceof BadOption ? 2 : (error as { exitCode?: number }).exitCode
    const text =
      exitCode === undefined ? ((error as Error).stack ?? String(error)) : (error as Error).message
    process.stderr.write(printable(`payout-sandbox: ${text}\n`))
    return exitCode ?? 1
  } finally {
    discardDrafts()
  }
}
