import { existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import {
  BadOption,
  isSwitch,
  OPTIONS,
  type OptionName,
  type OptionSource,
  type Options,
  readOptions,
  variableOf,
} from '../config/options.ts'

const CONFIG_FILE = 'payout-sandbox.config.json'
const PREFIX = 'PAYOUT_SANDBOX_'
// Set by `exec` for its child, and by people for the remote commands; they are no options.
const OTHER_VARIABLES = ['PAYOUT_SANDBOX_URL', 'PAYOUT_SANDBOX_ADMIN_URL', 'PAYOUT_SANDBOX_TOKEN']

const NAMES = Object.keys(OPTIONS) as OptionName[]
const isOption = (name: string): name is OptionName => name in OPTIONS

/** Splits arguments into options and the rest; whether an option is known is checked with its value. */
export function parseArguments(args: readonly string[]) {
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries([
      ...NAMES.map((name) => [name, { type: isSwitch(name) ? 'boolean' : 'string' }] as const),
      ...['json', 'help', 'version'].map((name) => [name, { type: 'boolean' }] as const),
    ]),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const values: Record<string, unknown> = {}
  const positionals: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const { name, value } = token
    if (isOption(name) && !isSwitch(name)) {
      if (value === undefined || (!token.inlineValue && value.startsWith('--'))) {
        throw new BadOption(`--${name} takes ${OPTIONS[name][2]}, and none follows it`)
      }
      // A repeated option of one value is a slip; a list is meant to be repeated.
      if (name === 'allow-host' || name === 'webhook-allow')
        values[name] = [...((values[name] as string[]) ?? []), value]
      else if (name in values) throw new BadOption(`--${name} is given twice`)
      else values[name] = value
    } else {
      values[name] = value ?? true
    }
  }
  const { json = false, help = false, version = false, ...options } = values
  return {
    positionals,
    options,
    json: Boolean(json),
    help: Boolean(help),
    version: Boolean(version),
  }
}

function fromEnvironment(env: NodeJS.ProcessEnv): OptionSource {
  const values: Record<string, unknown> = {}
  for (const [variable, value] of Object.entries(env)) {
    if (!variable.startsWith(PREFIX) || OTHER_VARIABLES.includes(variable)) continue
    values[variable.slice(PREFIX.length).toLowerCase().replaceAll('_', '-')] = value
  }
  if (env['PORT'] !== undefined) values['port'] ??= env['PORT']
  return {
    values,
    called: (name) =>
      name === 'port' && env['PAYOUT_SANDBOX_PORT'] === undefined
        ? 'PORT'
        : variableOf(name as OptionName),
  }
}

function fromFile(): OptionSource {
  if (!existsSync(CONFIG_FILE)) return { values: {}, called: String }
  let values: unknown
  try {
    values = JSON.parse(readFileSync(CONFIG_FILE, 'utf8'))
  } catch (error) {
    throw new BadOption(`${CONFIG_FILE}: ${(error as Error).message}`)
  }
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    throw new BadOption(`${CONFIG_FILE}: must be an object of options such as {"port": 4310}`)
  }
  return { values: values as Record<string, unknown>, called: (name) => `${CONFIG_FILE}: ${name}` }
}

/** The options of this run: flag beats variable beats file. */
export const gatherOptions = (flags: Record<string, unknown>, env: NodeJS.ProcessEnv): Options =>
  readOptions([{ values: flags, called: (name) => `--${name}` }, fromEnvironment(env), fromFile()])

/** One line an option, for the help text. */
export const optionLines = (): string =>
  NAMES.map((name) => {
    const [, fallback, takes, meaning] = OPTIONS[name]
    const left = `  --${name}${takes ? ` ${takes}` : ''}`.padEnd(34)
    const shown =
      fallback === undefined || fallback === false || String(fallback) === ''
        ? ''
        : ` (${fallback})`
    return `${left} ${meaning}${shown}`
  }).join('\n')
