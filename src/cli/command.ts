import { meantByWord } from '../config/did-you-mean.ts'
import { BadOption } from '../config/options.ts'
import { closestWord } from '../model/closest-word.ts'

/** What a flag takes (`''`: nothing, it is a switch) and what it means. */
type Flag = readonly [takes: string, meaning: string]

/** A command line behind the command's name, split up; a flag that may be given again holds a list. */
export type Input = {
  words: readonly string[]
  /** What stands behind `--`, where the command takes a program to run. */
  program: readonly string[]
  flags: Readonly<Record<string, string | boolean | readonly string[]>>
  env: NodeJS.ProcessEnv
}

/** One command of the program, and all that its help text says. */
export type Command = {
  name: string
  /** What it does, in half a line. */
  summary: string
  /** Each way to call it, and what that does. */
  usage: readonly (readonly [words: string, does: string])[]
  flags: Readonly<Record<string, Flag>>
  examples: readonly string[]
  /** What stands behind `--` is a program with its arguments; elsewhere it is words like those in front. */
  takesProgram?: true
  /** Answers with the exit code. */
  run(input: Input): Promise<number>
}

/** A command that could not do its work: the message says why and what to do; the program ends with 1 unless told. */
export class CommandFailed extends Error {
  /** The refusal as it came, for programs. */
  readonly answer: unknown
  readonly exitCode: number

  constructor(message: string, answer?: unknown, exitCode = 1) {
    super(message)
    this.answer = answer
    this.exitCode = exitCode
  }
}

/** What each of these flags takes, to find the one that was meant. */
export const takenBy = (flags: Command['flags']): Record<string, string> =>
  Object.fromEntries(Object.entries(flags).map(([name, [takes]]) => [name, takes]))

/** A flag as it is typed. */
export const asFlag = (name: string, value?: string): string =>
  `--${name}${value === undefined ? '' : ` ${value}`}`

/** The flag that was meant by a word without its dashes: `--clock frozen` by `frozen`. */
export function flagMeantBy(word: string, flags: Command['flags']): string | undefined {
  const meant = meantByWord(word, takenBy(flags))
  return meant && asFlag(meant.name, meant.value)
}

/** The command of a name; throws which one, or which flag, was probably meant. */
export function commandOf(
  name: string,
  commands: readonly Command[],
  flags: Command['flags'] = {},
): Command {
  const found = commands.find((command) => command.name === name)
  if (found) return found
  const near =
    flagMeantBy(name, flags) ??
    closestWord(
      name,
      commands.map((command) => command.name),
    )
  throw new BadOption(
    `there is no command ${JSON.stringify(name)}; ${near ? `did you mean ${near}?` : 'see payout-sandbox --help'}`,
  )
}

const PROGRAM = 'payout-sandbox'

/** Lines of two columns, the left one as wide as its widest. */
export function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}   ${right}\n`).join('')
}

const flagRows = (flags: Command['flags']) =>
  Object.entries(flags).map(
    ([name, [takes, meaning]]) => [`--${name}${takes && ` ${takes}`}`, meaning] as const,
  )

/** The help text of one command. */
export function helpOf({ name, summary, usage, flags, examples }: Command): string {
  return [
    `${PROGRAM} ${name}: ${summary}\n\n`,
    columns(usage.map(([words, does]) => [`${PROGRAM} ${words}`, does])),
    Object.keys(flags).length > 0 ? `\nOptions\n${columns(flagRows(flags))}` : '',
    `\nExamples\n${examples.map((line) => `  ${PROGRAM} ${line}\n`).join('')}`,
  ].join('')
}

/** Holds words against what a call takes, such as `NAME`, `[AT]` or `[PART...]`; throws how to call it. */
export function checkWords(call: string, takes: string, words: readonly string[]): void {
  const names = takes === '' ? [] : takes.split(' ')
  const needed = names.filter((name) => !name.startsWith('['))
  const many = names.some((name) => name.includes('...'))
  const usage = `; use ${PROGRAM} ${call}${takes && ` ${takes}`}`
  if (words.length < needed.length)
    throw new BadOption(`${call} needs ${needed[words.length]}${usage}`)
  const extra = words[names.length]
  if (extra !== undefined && !many)
    throw new BadOption(`${call} takes no ${JSON.stringify(extra)}${usage}`)
}
