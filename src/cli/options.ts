import { existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import {
  BadOption,
  OPTIONS,
  type OptionName,
  type OptionSource,
  type Options,
  readOptions,
  readSome,
  swapDashes,
  unknownOption,
  variableOf,
} from '../config/options.ts'
import { asFlag, type Command, commandOf, takenBy } from './command.ts'
import { shellWords } from './shell-words.ts'

const CONFIG_FILE = 'payout-sandbox.config.json'
const PREFIX = 'PAYOUT_SANDBOX_'
// Set by `exec` for its child, and by people for the remote commands; they are no options.
const OTHER_VARIABLES = ['PAYOUT_SANDBOX_URL', 'PAYOUT_SANDBOX_ADMIN_URL', 'PAYOUT_SANDBOX_TOKEN']

const NAMES = Object.keys(OPTIONS) as OptionName[]

const shownDefault = (fallback: unknown) =>
  fallback === undefined || fallback === false || String(fallback) === '' ? '' : ` (${fallback})`

/** The options of `start` as flags. */
export const START_FLAGS: Command['flags'] = Object.fromEntries(
  NAMES.map((name) => {
    const [, fallback, takes, meaning] = OPTIONS[name]
    return [name, [takes, `${meaning}${shownDefault(fallback)}`]]
  }),
)

const EVERYWHERE: Command['flags'] = {
  help: ['', 'this text'],
  version: ['', 'the version of the program'],
}
const SHORT: Readonly<Record<string, string>> = { help: 'h', version: 'v' }

type Token = ReturnType<typeof parseArgs>['tokens'] extends (infer T)[] | undefined ? T : never

/** A value that was left out makes the parser take the option behind it for the value. */
const lacksValue = ({ value, inlineValue }: Token & { kind: 'option' }) =>
  value === undefined || (!inlineValue && value.startsWith('--'))

// No flag begins with a digit: `-3m` is a duration, and `-1` a number.
const NEGATIVE = /^-(?:\.?\d|P)/

/** Takes each negative number or duration for one word; the parser reads it as short flags. */
function withNegativeWords(tokens: readonly Token[], args: readonly string[]): Token[] {
  return tokens.flatMap((token, i): Token[] => {
    const value = args[token.index]!
    if (token.kind !== 'option' || !NEGATIVE.test(value)) return [token]
    const isFirst = tokens[i - 1]?.index !== token.index
    return isFirst ? [{ kind: 'positional', index: token.index, value }] : []
  })
}

/** The refusal of a program without `--` in front of it, with the command line that was meant. */
const lacksDashes = (args: readonly string[], at: number) =>
  new BadOption(
    `exec runs a program that follows --; use payout-sandbox ${shellWords(args.slice(0, at))} -- ${shellWords(args.slice(at))}`,
  )

/** Refuses an unknown command or option, the first one first; what a known option lacks is found later. */
function refuseUnknown(
  args: readonly string[],
  tokens: readonly Token[],
  known: Command['flags'],
  commands: readonly Command[],
) {
  const named = tokens.find((token) => token.kind === 'positional')?.value ?? 'start'
  const own = commands.find(({ name }) => name === named)?.flags
  const check = (rawName: string, name: string) => {
    if (Object.hasOwn(known, name)) return
    // The flags of this command are meant rather than those of another one.
    throw unknownOption(rawName, name, takenBy({ ...own, ...known }), asFlag)
  }
  let command: Command | undefined
  for (const token of tokens) {
    if (token.kind === 'option-terminator') return
    if (token.kind === 'option') {
      check(token.rawName, token.name)
      const { value } = token
      if (value === undefined || !lacksValue(token)) continue
      if (value === '--') return
      const [rawName = ''] = value.split('=')
      return check(rawName, rawName.slice(2))
    }
    if (command?.takesProgram) throw lacksDashes(args, token.index)
    command ??= commandOf(token.value, commands, { ...own, ...known })
  }
}

/** Splits arguments into words, words behind `--`, and flags, by the flags that any of these commands takes. */
export function parseArguments(args: readonly string[], commands: readonly Command[]) {
  const known: Command['flags'] = Object.assign(
    {},
    ...commands.map(({ flags }) => flags),
    EVERYWHERE,
  )
  const parsed = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      Object.entries(known).map(([name, [takes]]) => [
        name,
        {
          type: takes === '' ? 'boolean' : 'string',
          ...(SHORT[name] !== undefined && { short: SHORT[name] }),
        },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const tokens = withNegativeWords(parsed.tokens, args)
  refuseUnknown(args, tokens, known, commands)
  const flags: Record<string, string | boolean | string[]> = {}
  const words: string[] = []
  const behind: string[] = []
  let ended = false
  for (const token of tokens) {
    if (token.kind === 'option-terminator') ended = true
    if (token.kind === 'positional') (ended ? behind : words).push(token.value)
    if (token.kind !== 'option') continue
    const { name, value } = token
    const [takes] = known[name]!
    // A switch of start may be set against its variable; any other one has no second value.
    if (takes === '' && value !== undefined && !Object.hasOwn(OPTIONS, name))
      throw new BadOption(`--${name} takes no value, not ${JSON.stringify(value)}`)
    if (value === '')
      throw new BadOption(`--${name} takes ${takes || 'true or false'}, and its value is empty`)
    if (takes === '') flags[name] = value ?? true
    else if (value === undefined || lacksValue(token))
      throw new BadOption(`--${name} takes ${takes}, and none follows it`)
    // A repeated option of one value is a slip; a list is meant to be repeated.
    else if (name === 'allow-host' || name === 'webhook-allow')
      flags[name] = [...((flags[name] as string[]) ?? []), value]
    else if (name in flags) throw new BadOption(`--${name} is given twice`)
    else flags[name] = value
  }
  return { words, behind, flags }
}

function fromEnvironment(env: NodeJS.ProcessEnv): OptionSource {
  const values: Record<string, unknown> = {}
  for (const [variable, value] of Object.entries(env)) {
    if (!variable.startsWith(PREFIX) || OTHER_VARIABLES.includes(variable)) continue
    // Compose files pass on what is not set as empty.
    values[variable.slice(PREFIX.length).toLowerCase().replaceAll('_', '-')] = value || undefined
  }
  values['port'] ??= env['PORT'] || undefined
  return {
    values,
    called: (name) => (name === 'port' && !env['PAYOUT_SANDBOX_PORT'] ? 'PORT' : variableOf(name)),
    spelled: (name, value) => `${variableOf(name)}${value === undefined ? '' : `=${value}`}`,
  }
}

function fromFile(): OptionSource {
  if (!existsSync(CONFIG_FILE)) return { values: {}, called: String, spelled: String }
  let values: unknown
  try {
    values = JSON.parse(readFileSync(CONFIG_FILE, 'utf8'))
  } catch (error) {
    throw new BadOption(`${CONFIG_FILE}: ${(error as Error).message}`)
  }
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    throw new BadOption(`${CONFIG_FILE}: must be an object of options such as {"port": 4310}`)
  }
  return {
    values: Object.fromEntries(
      Object.entries(values).map(([name, value]) => [swapDashes(name), value]),
    ),
    called: (name) => `${swapDashes(name)} of ${CONFIG_FILE}`,
    spelled: (name, value) =>
      value === undefined ? swapDashes(name) : `"${swapDashes(name)}": "${value}"`,
  }
}

const sourcesOf = (
  flags: Record<string, unknown>,
  env: NodeJS.ProcessEnv,
  defaults: Record<string, unknown> = {},
): OptionSource[] => [
  { values: flags, called: asFlag, spelled: asFlag },
  fromEnvironment(env),
  fromFile(),
  { values: defaults, called: asFlag, spelled: asFlag },
]

/** The options of this run: flag beats variable beats file, and each of them these defaults. */
export const gatherOptions = (...given: Parameters<typeof sourcesOf>): Options =>
  readOptions(sourcesOf(...given))

/** Some of the options, for a command that is no start: what the others hold is not looked at. */
export const gatherSome = <T extends OptionName>(
  names: readonly T[],
  ...given: Parameters<typeof sourcesOf>
): Pick<Options, T> => readSome(names, sourcesOf(...given))
