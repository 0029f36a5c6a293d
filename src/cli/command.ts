import { BadOption, REMOVED_COMMANDS } from '../config/options.ts'
import { roundedIn } from '../model/exact-json.ts'
import { isObject } from '../model/formats.ts'
import { closestWord } from '../model/words.ts'

/** The name of the value that a flag takes (`''` for a switch), and its description in the help text. */
type Flag = readonly [valueName: string, description: string]

export type Input = {
  /** The positional arguments after the name of the command. */
  args: readonly string[]
  /** The arguments after `--`, if the command runs a program. */
  program: readonly string[]
  /** The flags by name; a repeatable flag has a list of values. */
  flags: Readonly<Record<string, string | boolean | readonly string[]>>
  env: NodeJS.ProcessEnv
}

/** What a command prints: whole, or piece by piece. */
export type Output = string | Buffer | Generator<string>

export type Command = {
  name: string
  summary: string
  usage: readonly (readonly [syntax: string, description: string])[]
  flags: Readonly<Record<string, Flag>>
  examples: readonly string[]
  /** The positional arguments: `NAME`, `[AT]`, `[PART...]` (default: none). */
  syntax?: string
  /** The arguments after `--` are a program with its arguments. Otherwise they are positional arguments. */
  takesProgram?: true
  /** Runs a tool, whose code a build has in a bundle of its own. */
  isTool?: true
  /** Returns the exit code, or the output to print, which may be long. */
  run(input: Input): Promise<number | Output>
}

export const OUT_FLAG = {
  out: ['FILE', 'write to a file instead of standard output; an existing one is replaced'],
} as const satisfies Command['flags']

/** A command failed. The message says why and what to do; the process exits with `exitCode`. */
export class CommandFailed extends Error {
  /** The error response of the sandbox, for `--json`. */
  readonly response: unknown
  readonly exitCode: number

  constructor(message: string, response?: unknown, exitCode = 1) {
    super(message)
    this.response = response
    this.exitCode = exitCode
  }
}

/** Returns the command with this name. Otherwise throws `BadOption`, which says what took its place, or suggests a similar one. */
export function findCommand(name: string, commands: readonly Command[]): Command {
  const found = commands.find((command) => command.name === name)
  if (found) return found
  if (Object.hasOwn(REMOVED_COMMANDS, name))
    throw new BadOption(`the command ${name} was removed; ${REMOVED_COMMANDS[name]}`)
  const similar = closestWord(
    name,
    commands.map((command) => command.name),
  )
  throw new BadOption(
    `unknown command ${JSON.stringify(name)}; ${similar ? `did you mean ${similar}?` : 'see payout-sandbox --help'}`,
  )
}

const PROGRAM = 'payout-sandbox'

export function formatColumns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}   ${right}\n`).join('')
}

/** The flags that every command has, and their one-letter forms. */
export const GLOBAL_FLAGS: Command['flags'] = {
  help: ['', 'print help and exit'],
  version: ['', 'print the version and exit'],
}
export const SHORT_FLAGS: Readonly<Record<string, string>> = { help: 'h', version: 'v' }

export function formatFlags(flags: Command['flags']): string {
  const rows = Object.entries({ ...flags, ...GLOBAL_FLAGS }).map(
    ([name, [valueName, description]]) => {
      const short = SHORT_FLAGS[name] === undefined ? '' : `-${SHORT_FLAGS[name]}, `
      return [`${short}--${name}${valueName && ` ${valueName}`}`, description] as const
    },
  )
  return `Options:\n${formatColumns(rows)}`
}

export const formatExamples = (examples: readonly string[]): string =>
  `Examples:\n${examples.map((line) => `  ${PROGRAM} ${line}\n`).join('')}`

export const formatHelp = ({ name, summary, usage, flags, examples }: Command): string =>
  [
    `${PROGRAM} ${name}: ${summary}\n`,
    `Usage:\n${formatColumns(usage.map(([syntax, text]) => [`${PROGRAM} ${syntax}`, text]))}`,
    formatFlags(flags),
    formatExamples(examples),
  ].join('\n')

/** Throws `BadOption` if the number of positional arguments does not fit a syntax such as `NAME`, `[AT]` or `[PART...]`. */
export function checkArguments(call: string, syntax = '', args: readonly string[]): void {
  const names = syntax === '' ? [] : syntax.split(' ')
  const required = names.filter((name) => !name.startsWith('['))
  const isVariadic = names.some((name) => name.includes('...'))
  const usage = `; usage: ${PROGRAM} ${call}${syntax && ` ${syntax}`}`
  if (args.length < required.length)
    throw new BadOption(`${call} needs ${required[args.length]}${usage}`)
  const extra = args[names.length]
  if (extra !== undefined && !isVariadic)
    throw new BadOption(`unexpected argument ${JSON.stringify(extra)} for ${call}${usage}`)
}

export function parseJsonObject(label: string, text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {}
  const rounded = roundedIn(text)
  if (rounded !== undefined)
    throw new BadOption(`${label} has ${rounded}, which JSON rounds: put its digits in quotes`)
  if (isObject(value)) return value
  throw new BadOption(`${label} takes a JSON object in quotes, not ${JSON.stringify(text)}`)
}

export function numberFlag(flags: Input['flags'], name: string, min: number, max: number) {
  if (flags[name] === undefined) return undefined
  const text = String(flags[name])
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw new BadOption(
    `--${name} takes a whole number from ${min} to ${max}, not ${JSON.stringify(text)}`,
  )
}

const PLAIN = /^[\w@%+=:,./-]+$/
const CONTROL = /[\x00-\x1f\x7f]/g
const SECRET_FLAGS = ['--admin-token', '--token']

/** A control character would end the line, or be lost on a terminal. */
const escaped = (argument: string) =>
  argument
    .replaceAll(/[\\']/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replaceAll(CONTROL, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`)

function quote(argument: string): string {
  if (PLAIN.test(argument)) return argument
  if (argument.search(CONTROL) >= 0) return `$'${escaped(argument)}'`
  return `'${argument.replaceAll("'", "'\\''")}'`
}

export const quoteProgram = (words: readonly string[]): string => words.map(quote).join(' ')

/** Quotes arguments for a POSIX shell and joins them. Tokens are replaced by `T`. */
export function quoteShellArguments(args: readonly string[]): string {
  return args
    .map((argument, i) => {
      if (SECRET_FLAGS.includes(args[i - 1] ?? '')) return 'T'
      const secret = SECRET_FLAGS.find((flag) => argument.startsWith(`${flag}=`))
      return secret ? `${secret}=T` : quote(argument)
    })
    .join(' ')
}
