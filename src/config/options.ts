import * as z from 'zod'
import { readAssumeFile } from './assume-file.ts'
import { suggestOptions, type ValueNames } from './did-you-mean.ts'
import {
  decimal,
  flag,
  HOST_ERROR,
  instant,
  isHost,
  list,
  oneOf,
  readings,
  SPEED_ERROR,
  text,
  wholeNumber,
} from './option-schemas.ts'

/** All options: schema, created only if the option is set, default, value name (`''` for a switch) and description. */
export const OPTIONS = {
  port: [() => wholeNumber(0, 65_535), 4310, 'N', 'port to listen on; 0 picks a free port'],
  host: [text, '127.0.0.1', 'NAME', 'address to listen on'],
  data: [text, '.payout-sandbox/db.json', 'FILE', 'file that stores the state'],
  memory: [flag, false, '', 'keep all state in memory and write no data file'],
  fixtures: [
    text,
    undefined,
    'PATH',
    'JSON file or folder with the initial data (default: the shipped fixtures)',
  ],
  state: [
    () => z.union([text(), z.looseObject({})]),
    undefined,
    'FILE',
    'state to start from, of state export, or a whole db.json; it is never written',
  ],
  scenario: [
    () => z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, { error: 'takes the name of a scenario' }),
    'default',
    'NAME',
    'scenario that is active at start',
  ],
  scenarios: [
    text,
    undefined,
    'DIR',
    'folder of scenario files, including subfolders; it takes precedence over the shipped scenarios',
  ],
  watch: [flag, false, '', 'reload scenario files when they change'],
  'random-seed': [
    () => wholeNumber(0, Number.MAX_SAFE_INTEGER),
    1,
    'N',
    'seed of random ids, UTRs, names and probabilities',
  ],
  clock: [
    () =>
      z.union([z.enum(['real', 'frozen']), instant()], {
        error:
          'takes real, frozen, or an ISO 8601 instant from 1970 to 9999 such as 2026-01-01T00:00:00Z',
      }),
    'real',
    'real|frozen|ISO',
    'initial clock; an ISO 8601 instant starts a frozen clock at that time',
  ],
  'clock-speed': [
    () =>
      decimal(/^\d{1,7}(\.\d{1,9})?$/, SPEED_ERROR).pipe(
        z
          .number({ error: SPEED_ERROR })
          .gt(0, { error: SPEED_ERROR })
          .max(1_000_000, { error: SPEED_ERROR }),
      ),
    1,
    'X',
    'clock speed multiplier; 60 = one simulated minute per second',
  ],
  assume: [
    readings,
    {},
    'NAME=READING',
    'reading of an open point of the contract (repeatable); docs/assumptions.md lists them',
  ],
  'assume-file': [
    text,
    undefined,
    'FILE',
    'readings that conform --save has written; --assume has priority over them',
  ],
  auth: [
    () => oneOf('spec', 'strict', 'off'),
    undefined,
    'spec|strict|off',
    'which calls need an access token: spec = those of the contract, strict = all, off = none (default: spec); the same as --assume token=MODE',
  ],
  'admin-token': [
    () =>
      z.string().regex(/^[\x21-\x7e]{1,256}$/, {
        error: 'takes 1 to 256 visible ASCII characters, or none',
      }),
    undefined,
    'T|none',
    'token that the admin API requires (default: none on a loopback host, otherwise generated and printed)',
  ],
  'no-admin': [flag, false, '', 'disable the admin API, except health and ready'],
  fsync: [flag, false, '', 'fsync every write before responding'],
  cors: [
    () =>
      z.string().refine((value) => URL.canParse(value) && new URL(value).origin === value, {
        error: 'takes an origin such as http://localhost:3000',
      }),
    undefined,
    'ORIGIN',
    'allow browser apps of this origin to call /v1; all other sites are rejected',
  ],
  'allow-host': [
    () => list().refine((hosts) => hosts.every(isHost), { error: HOST_ERROR }),
    [],
    'NAME',
    'additional Host header value to accept (repeatable)',
  ],
  'webhook-allow': [
    () =>
      list().refine((hosts) => hosts.every(isHost), {
        error: HOST_ERROR,
      }),
    [],
    'HOST',
    'public host to which webhooks may be sent (repeatable)',
  ],
  'webhook-retries': [
    () => oneOf('fast', 'standard'),
    'fast',
    'fast|standard',
    'webhook retry schedule: all attempts within 2 minutes, or within a day',
  ],
  'webhook-time': [
    () => oneOf('wall', 'client'),
    'wall',
    'wall|client',
    'clock of the webhook-timestamp header: real time, or the clock of the client',
  ],
  'max-clients': [() => wholeNumber(1, 100_000), 1000, 'N', 'maximum number of clients'],
  'no-auto-clients': [flag, false, '', 'do not create clients on first use'],
  'log-level': [
    () => oneOf('silent', 'error', 'warn', 'info', 'debug'),
    'info',
    'silent|error|warn|info|debug',
    'log level; the log goes to standard error',
  ],
  'log-format': [
    () => oneOf('pretty', 'json'),
    undefined,
    'pretty|json',
    'log format (default: pretty on a terminal, otherwise json)',
  ],
  record: [text, undefined, 'FILE', 'record the run to a file, for replay; requires --memory'],
  explain: [flag, false, '', 'add X-Sandbox-Client and X-Sandbox-Rule headers to responses'],
  recover: [flag, false, '', 'keep all that can be read of a damaged data file, and a backup'],
  'discard-journal': [flag, false, '', 'keep an edited data file and drop the changes beside it'],
  reset: [
    flag,
    false,
    '',
    'replace a damaged or incompatible data file, or with --state any, with a new one (a backup is kept)',
  ],
} as const satisfies Record<string, readonly [() => z.ZodType, unknown, string, string]>

/** The name of an option, as on the command line. */
export type OptionName = keyof typeof OPTIONS

/** Every option with its value. */
export type Options = {
  [K in OptionName]:
    | z.output<ReturnType<(typeof OPTIONS)[K][0]>>
    | ((typeof OPTIONS)[K][1] extends undefined ? undefined : never)
}

/** An invalid option or argument. The message names it, its source, the value found and what is valid. */
export class BadOption extends Error {}

const NAMES = Object.keys(OPTIONS) as OptionName[]
const VALUE_NAMES: ValueNames = Object.fromEntries(NAMES.map((name) => [name, OPTIONS[name][2]]))

/** The environment variable of an option. */
export const variableOf = (name: string): string =>
  `PAYOUT_SANDBOX_${name.toUpperCase().replaceAll('-', '_')}`

/** Maps the key of an option in a file (`random_seed`) to its name, and back. A key with dashes becomes no name. */
export const swapDashes = (name: string): string =>
  name.replace(/[-_]/g, (character) => (character === '-' ? '_' : '-'))

/** One source of options, such as the command line or the environment. */
export type OptionSource = {
  /** The values by option name; `undefined` means not set. */
  values: Readonly<Record<string, unknown>>
  /** How a message names an option of this source, such as `--port` or `PAYOUT_SANDBOX_PORT`. */
  label: (name: string) => string
  /** How a user writes an option in this source, such as `--clock frozen`. */
  format: (name: string, value?: string) => string
}

/**
 * Reads these options, each from the first source that sets it, validates them and fills in the defaults. Throws
 * `BadOption` on an invalid value, and on an unknown option in any source.
 */
export function readSomeOptions<T extends OptionName>(
  names: readonly T[],
  sources: readonly OptionSource[],
): Pick<Options, T> {
  const options: Record<string, unknown> = {}
  for (const { values, label, format } of sources) {
    for (const name of Object.keys(values)) {
      if (!NAMES.includes(name as OptionName)) {
        throw unknownOption(label(name), name, VALUE_NAMES, format)
      }
    }
  }
  for (const name of names) {
    const source = sources.find(({ values }) => values[name] !== undefined)
    const [schemaOf, defaultValue, valueName] = OPTIONS[name]
    if (!source) {
      options[name] = defaultValue
      continue
    }
    const value = source.values[name]
    const result = schemaOf().safeParse(value)
    if (!result.success) {
      const issue = result.error.issues[0]?.message ?? ''
      const expected = issue.startsWith('takes') ? issue : `takes ${valueName || 'true or false'}`
      const found = typeof value === 'number' ? String(value) : JSON.stringify(value)
      const suffix = name === 'admin-token' ? '' : `, not ${found}`
      throw new BadOption(`${source.label(name)} ${expected}${suffix}`)
    }
    options[name] = result.data
  }
  return options as Pick<Options, T>
}

/** Reads all options as `readSomeOptions` does. Also throws `BadOption` on options that exclude each other. */
export function readOptions(sources: readonly OptionSource[]): Options {
  const options = readSomeOptions(NAMES, sources)
  const sourceIndex = (name: OptionName) =>
    sources.findIndex(({ values }) => values[name] !== undefined)
  const dataSource = sourceIndex('data')
  if (options.memory && dataSource !== -1 && dataSource <= sourceIndex('memory')) {
    if (dataSource === sourceIndex('memory'))
      throw new BadOption('--memory and --data exclude each other')
    // A source of higher precedence wins: a flag --data overrides a variable PAYOUT_SANDBOX_MEMORY.
    options.memory = false
  }
  if (options.auth !== undefined) {
    const { token } = options.assume
    const [auth, assume] = [sourceIndex('auth'), sourceIndex('assume')]
    if (auth === assume && token !== undefined && token !== options.auth)
      throw new BadOption('--auth and --assume token exclude each other; use one of them')
    if (auth <= assume || token === undefined)
      options.assume = { ...options.assume, token: options.auth }
  }
  const file = options['assume-file']
  if (file !== undefined) {
    const read = readAssumeFile(file)
    if ('problem' in read) {
      const { label } = sources[sourceIndex('assume-file')]!
      throw new BadOption(`${label('assume-file')}: ${read.problem}`)
    }
    // A reading that is chosen by its name has priority, wherever it is chosen.
    options.assume = { ...read.readings, ...options.assume }
  }
  if (options.record !== undefined && !options.memory)
    throw new BadOption(
      '--record needs --memory: a recorded run starts from its fixtures, not from a data file',
    )
  if (options.record !== undefined && options.state !== undefined)
    throw new BadOption(
      '--record and --state exclude each other: a recorded run starts from its fixtures',
    )
  if (options.record !== undefined && options.watch)
    throw new BadOption(
      '--record and --watch exclude each other: the scenarios of a recorded run must not change',
    )
  if (options.recover && options.reset)
    throw new BadOption('--recover and --reset exclude each other')
  return options
}

/** The error for an unknown option. Its message suggests the known options that are similar. */
export function unknownOption(
  label: string,
  name: string,
  known: ValueNames,
  format: OptionSource['format'],
): BadOption {
  const suggestions = suggestOptions(name, known).map((one) => format(one.name, one.value))
  const [last, ...others] = suggestions.reverse()
  const list = others.length > 0 ? `${others.reverse().join(', ')} or ${last}` : last
  return new BadOption(`unknown option ${label}${list ? ` (did you mean ${list}?)` : ''}`)
}
