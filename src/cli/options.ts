import { existsSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { homePath, readJson } from '../config/files.ts'
import {
  BadOption,
  OPTION_NAMES,
  OPTIONS,
  type OptionName,
  type Options,
  variableOf,
} from '../config/options.ts'
import {
  type OptionSource,
  readOptions,
  readSomeOptions,
  unknownOption,
} from '../config/read-options.ts'
import { isObject } from '../model/formats.ts'
import {
  type Command,
  findCommand,
  GLOBAL_FLAGS,
  type Input,
  quoteShellArguments,
  SHORT_FLAGS,
} from './command.ts'

const CONFIG_FILE = 'payout-sandbox.config.json'
const PREFIX = 'PAYOUT_SANDBOX_'
// These variables are no options: `exec` sets the first three, and the remote commands read PAYOUT_SANDBOX_URL. The clients
// of other languages find the program by PAYOUT_SANDBOX_BIN.
const OTHER_VARIABLES = [
  'PAYOUT_SANDBOX_URL',
  'PAYOUT_SANDBOX_ADMIN_URL',
  'PAYOUT_SANDBOX_TOKEN',
  'PAYOUT_SANDBOX_BIN',
  'PAYOUT_SANDBOX_RUN_DIR',
]

// The options with a list or several readings as their value.
const REPEATABLE: readonly string[] = OPTION_NAMES.filter(
  (name) => typeof OPTIONS[name].default === 'object',
)

/** An option as a flag; its description ends with the default value and the environment variable. */
export function optionFlag(
  name: OptionName,
  description: string = OPTIONS[name].description,
  defaultValue: unknown = OPTIONS[name].default,
): Command['flags'][string] {
  const hasDefault = typeof defaultValue === 'string' || typeof defaultValue === 'number'
  const shownDefault = hasDefault ? ` (default: ${defaultValue})` : ''
  const variable = `${variableOf(name)}${name === 'port' ? ' or PORT' : ''}`
  return [OPTIONS[name].valueName ?? '', `${description}${shownDefault} (env: ${variable})`]
}

export const START_FLAGS: Command['flags'] = Object.fromEntries(
  OPTION_NAMES.map((name) => [name, optionFlag(name)]),
)

// Each run of a sweep is in memory, with coverage of its own.
const NOT_OF_RUNS = new Set([
  ...['data', 'memory', 'watch', 'fsync', 'state'],
  ...['reset', 'coverage', 'log-level', 'log-format'],
])
export const SANDBOX_FLAGS = Object.fromEntries(
  Object.entries(START_FLAGS).filter(([name]) => !NOT_OF_RUNS.has(name)),
)

const PATHS = ['FILE', 'DIR', 'PATH']

const flagOf = (name: string) => `--${name}`

type Token = ReturnType<typeof parseArgs>['tokens'] extends (infer T)[] | undefined ? T : never
type OptionToken = Token & { kind: 'option' }

/** Whether a flag has no value: if the value is missing, the parser takes the next flag for it. */
const isValueMissing = ({ value, inlineValue }: OptionToken) =>
  value === undefined || (!inlineValue && value.startsWith('--'))

const missingDashes = (name: string, args: readonly string[], at: number) =>
  new BadOption(
    `${name} needs -- in front of the program; use payout-sandbox ${quoteShellArguments(args.slice(0, at))} -- ${quoteShellArguments(args.slice(at))}`,
  )

function rejectUnknown(
  args: readonly string[],
  tokens: readonly Token[],
  known: Command['flags'],
  commands: readonly Command[],
) {
  const name = tokens.find((token) => token.kind === 'positional')?.value ?? 'start'
  const own = commands.find((command) => command.name === name)?.flags
  const check = (rawName: string, name: string) => {
    if (Object.hasOwn(known, name)) return
    // Flags of this command come first in the suggestions.
    throw unknownOption(rawName, name, Object.keys({ ...own, ...known }), flagOf)
  }
  let command: Command | undefined
  for (const token of tokens) {
    if (token.kind === 'option-terminator') return
    if (token.kind === 'option') {
      check(token.rawName, token.name)
      const { value } = token
      if (value === undefined || !isValueMissing(token)) continue
      if (value === '--') return
      const [rawName = ''] = value.split('=')
      return check(rawName, rawName.slice(2))
    }
    if (command?.takesProgram) throw missingDashes(command.name, args, token.index)
    command ??= findCommand(token.value, commands)
  }
}

/** The value of a flag: `true` or the given text for a switch. Throws `BadOption` if the value is missing or not allowed. */
function flagValue(token: OptionToken, valueName: string): string | true {
  const { name, value } = token
  const isSwitch = valueName === ''
  // A switch of `start` accepts true and false, to override its variable; other switches accept no value.
  if (isSwitch && value !== undefined && !Object.hasOwn(OPTIONS, name))
    throw new BadOption(`--${name} takes no value, not ${JSON.stringify(value)}`)
  if (value === '')
    throw new BadOption(`--${name} takes ${valueName || 'true or false'}, not an empty value`)
  if (isSwitch) return value ?? true
  if (value === undefined || isValueMissing(token))
    throw new BadOption(`--${name} takes ${valueName}, but the value is missing`)
  return PATHS.includes(valueName) ? homePath(value) : value
}

/** The flags of all commands; those of the command of this line have priority: its --coverage may take a value. */
function knownFlags(args: readonly string[], commands: readonly Command[]): Command['flags'] {
  const named = args.map((word) => commands.find(({ name }) => name === word)).find(Boolean)
  const [first] = commands
  return Object.assign(
    {},
    ...[...commands, first!, named ?? first!].map(({ flags }) => flags),
    GLOBAL_FLAGS,
  )
}

/** Parses a command line into positional arguments, arguments after `--`, and flags of any of these commands. */
export function parseArguments(args: readonly string[], commands: readonly Command[]) {
  const known = knownFlags(args, commands)
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      Object.entries(known).map(([name, [valueName]]) => [
        name,
        {
          type: valueName === '' ? 'boolean' : 'string',
          ...(SHORT_FLAGS[name] !== undefined && { short: SHORT_FLAGS[name] }),
        },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  rejectUnknown(args, tokens, known, commands)
  const flags: Record<string, string | boolean | string[]> = {}
  const end = tokens.find(({ kind }) => kind === 'option-terminator')?.index ?? args.length
  const words = tokens.filter((token) => token.kind === 'positional')
  for (const token of tokens.filter((one) => one.kind === 'option')) {
    const { name } = token
    const value = flagValue(token, known[name]![0])
    if (REPEATABLE.includes(name))
      flags[name] = [...((flags[name] as string[]) ?? []), value as string]
    else if (known[name]![0] !== '' && name in flags)
      throw new BadOption(`--${name} must not be given twice`)
    else flags[name] = value
  }
  return {
    positionals: words.filter(({ index }) => index < end).map(({ value }) => homePath(value)),
    afterDashes: words.filter(({ index }) => index > end).map(({ value }) => value),
    flags,
  }
}

/** Whether Kubernetes or Docker made a variable for a service of this name: PAYOUT_SANDBOX_PORT=tcp://10.96.0.12:4310. */
const isServiceLink = (name: string, value = '') =>
  /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/.test(
    name,
  ) ||
  /^PAYOUT_SANDBOX_(?:\w+_)?ENV_/.test(name) ||
  (name.endsWith('_NAME') && value.startsWith('/')) ||
  (name.endsWith('PORT') && /^(?:tcp|udp|sctp):\/\//.test(value))

function fromEnvironment(env: NodeJS.ProcessEnv): OptionSource {
  const values: Record<string, unknown> = {}
  for (const [variable, value] of Object.entries(env)) {
    if (!variable.startsWith(PREFIX) || OTHER_VARIABLES.includes(variable)) continue
    if (isServiceLink(variable, value)) continue
    // Compose files pass an unset variable as an empty one.
    values[variable.slice(PREFIX.length).toLowerCase().replaceAll('_', '-')] = value || undefined
  }
  const isPort = values['port'] === undefined
  if (isPort && !isServiceLink('PORT', env['PORT'])) values['port'] = env['PORT'] || undefined
  return {
    values,
    label: (name) => (name === 'port' && isPort ? 'PORT' : variableOf(name)),
    nameOf: variableOf,
  }
}

const keyOf = (name: string) => name.replaceAll('-', '_')

function readConfigFile(): Record<string, unknown> {
  if (!existsSync(CONFIG_FILE)) return {}
  let values: unknown
  try {
    values = readJson(CONFIG_FILE)
  } catch (error) {
    throw new BadOption(`${CONFIG_FILE} ${(error as Error).message}`)
  }
  if (!isObject(values))
    throw new BadOption(`${CONFIG_FILE}: must be an object of options such as {"port": 4310}`)
  return values
}

/** What the config file says to a sweep alone. */
export function sweepKeys(): { workers?: string } {
  const { workers } = readConfigFile()
  return workers === undefined ? {} : { workers: String(workers) }
}

const fromFile = (): OptionSource => ({
  values: Object.fromEntries(
    Object.entries(readConfigFile())
      .filter(([name]) => name !== 'workers')
      .map(([name, value]) => [name.replaceAll('_', '-'), value]),
  ),
  label: (name) => `${keyOf(name)} of ${CONFIG_FILE}`,
  nameOf: keyOf,
})

/** The environment variables that set options, without those of these options. */
export const givenVariables = (env: NodeJS.ProcessEnv, without: readonly OptionName[]) =>
  OPTION_NAMES.filter((name) => !without.includes(name))
    .map(variableOf)
    .filter((variable) => env[variable])

/** The sources of options in the order of their precedence: command line, environment, config file, defaults. */
const sourcesOf = (
  flags: Record<string, unknown>,
  env: NodeJS.ProcessEnv,
  defaults: Record<string, unknown> = {},
): OptionSource[] => [
  { values: flags, label: flagOf },
  fromEnvironment(env),
  fromFile(),
  { values: defaults, label: flagOf },
]

export const gatherOptions = (...given: Parameters<typeof sourcesOf>): Options =>
  readOptions(sourcesOf(...given))

/** Reads only these options, of flags that may be no options, and does not validate the values of the others. Throws `BadOption`. */
export function gatherSomeOptions<T extends OptionName>(
  names: readonly T[],
  { flags, env }: Pick<Input, 'flags' | 'env'>,
): Pick<Options, T> {
  const own = Object.fromEntries(names.map((name) => [name, flags[name]]))
  return readSomeOptions(names, sourcesOf(own, env))
}
