import * as z from 'zod'
import { givenReadings, type Readings, readingProblem } from '../assumptions/readings.ts'
import { isClockTime } from '../model/formats.ts'
import { homePath } from './files.ts'

/** Accepts a JSON number, or decimal digits from a flag or a variable. `Number` alone would accept '', 5e3 and 0x10. */
const decimal = (format: RegExp, error: string) =>
  z.union([z.number(), z.string().regex(format).transform(Number)], { error })

const wholeNumber = (from: number, to: number) => {
  const error = `takes a whole number from ${from} to ${to}`
  return decimal(/^\d{1,16}$/, error).pipe(z.int({ error }).min(from, { error }).max(to, { error }))
}

const oneOf = <T extends string>(...words: [T, ...T[]]) => ({
  type: () => z.enum(words, { error: `takes ${words.slice(0, -1).join(', ')} or ${words.at(-1)}` }),
  valueName: words.join('|'),
})

const text = () => z.string().min(1)
const path = () => text().transform(homePath)

const [TRUE, FALSE] = [
  ['true', 'yes', 'on', '1'],
  ['false', 'no', 'off', '0'],
]

const instant = () =>
  z.iso
    .datetime({ offset: true })
    .refine((value) => isClockTime(Date.parse(value)))
    .transform((value) => new Date(value).toISOString())

const speed = () => {
  const error = 'takes a number above 0, up to 1000000, such as 60 or 0.5'
  return decimal(/^\d{1,7}(\.\d{1,9})?$/, error).pipe(
    z.number({ error }).gt(0, { error }).max(1_000_000, { error }),
  )
}

const flag = () =>
  z.union([z.boolean(), z.stringbool({ truthy: TRUE, falsy: FALSE })], {
    error: 'takes true or false',
  })

const list = () =>
  z
    .union([
      z.string().transform((text) => text.split(',').map((part) => part.trim())),
      z.array(z.string()),
    ])
    .pipe(z.array(z.string().min(1)))

const isHost = (text: string) =>
  /^(?:\[?[0-9a-f:.]+\]?|[^\s/\\?#@:[\]]+)$/i.test(text) &&
  URL.canParse(`http://${text.includes(':') && !text.startsWith('[') ? `[${text}]` : text}/`)

const hosts = () =>
  list().refine((names) => names.every(isHost), {
    error: 'takes a host name or an IP address, without scheme, port and path',
  })

const isOrigin = (text: string) => URL.canParse(text) && new URL(text).origin === text

const origins = () =>
  list().refine((all) => all.every(isOrigin), {
    error: 'takes an origin such as http://localhost:3000',
  })

const READING_ERROR = 'takes NAME=READING, such as idempotency_key=honoured'

/** `name=reading` strings as an object; a string without `=` has an empty reading. */
const entriesOf = (texts: readonly string[]) =>
  Object.fromEntries(
    texts.map((text) => {
      const [name = '', ...reading] = text.split('=')
      return [name.trim(), reading.join('=').trim()]
    }),
  )

/** Readings as texts of a flag or a variable, or as an object of a file or the library. */
const readings = () =>
  z
    .union([list().transform(entriesOf), z.looseObject({})], { error: READING_ERROR })
    .transform((values, context): Readings => {
      const given = givenReadings(values)
      for (const [name, reading] of Object.entries(given)) {
        const problem = readingProblem(name, reading)
        if (problem === undefined) continue
        context.addIssue({ code: 'custom', message: `${READING_ERROR}: ${name} ${problem}` })
      }
      return given
    })

/** One option. The name of its value is what the help shows, such as `FILE`; a switch has none. */
type Option = {
  /** Creates its schema, only if the option is set. */
  type: () => z.ZodType
  default?: unknown
  valueName?: string
  description: string
}

const toggle = (description: string) => ({ type: flag, default: false, description })

const DEFINED = {
  port: {
    type: () => wholeNumber(0, 65_535),
    default: 4310,
    valueName: 'N',
    description: 'port to listen on; 0 picks a free port',
  },
  host: {
    type: text,
    default: '127.0.0.1',
    valueName: 'NAME',
    description: 'address to listen on',
  },
  data: {
    type: path,
    default: '.payout-sandbox/db.json',
    valueName: 'FILE',
    description: 'file that stores the state',
  },
  memory: toggle('keep all state in memory'),
  fixtures: {
    type: path,
    valueName: 'PATH',
    description: 'JSON file or folder with initial data (default: the shipped fixtures)',
  },
  state: {
    type: () => z.union([path(), z.looseObject({})]),
    valueName: 'FILE',
    description: 'state to start from, or a whole db.json; never written',
  },
  scenario: {
    type: () =>
      z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, { error: 'takes the name of a scenario' }),
    default: 'default',
    valueName: 'NAME',
    description: 'scenario that is active at start',
  },
  scenarios: {
    type: path,
    valueName: 'DIR',
    description: 'folder of scenario files; takes precedence over the shipped ones',
  },
  watch: toggle('reload scenario files when they change'),
  'random-seed': {
    type: () => wholeNumber(0, Number.MAX_SAFE_INTEGER),
    default: 1,
    valueName: 'N',
    description: 'seed of random ids, UTRs, names and probabilities',
  },
  clock: {
    type: () =>
      z.union([z.enum(['real', 'frozen']), instant()], {
        error:
          'takes real, frozen, or an ISO 8601 instant from 1970 to 9999 such as 2026-01-01T00:00:00Z',
      }),
    default: 'real',
    valueName: 'real|frozen|ISO',
    description: 'initial clock; an ISO 8601 instant is a frozen one',
  },
  'clock-speed': {
    type: speed,
    default: 1,
    valueName: 'X',
    description: 'clock speed; 60 = a minute per second',
  },
  assume: {
    type: readings,
    default: {},
    valueName: 'NAME=READING',
    description: 'reading of an assumption (repeatable); docs/assumptions.md lists them',
  },
  'assume-file': {
    type: path,
    valueName: 'FILE',
    description: 'readings written by conform --save; --assume overrides them',
  },
  auth: {
    ...oneOf('spec', 'strict', 'off'),
    description:
      'which calls need an access token: spec = as in the contract, strict = all, off = none (default: spec); same as --assume token=MODE',
  },
  'admin-token': {
    type: () =>
      z.string().regex(/^[\x21-\x7e]{1,256}$/, {
        error: 'takes 1 to 256 visible ASCII characters, or none',
      }),
    valueName: 'T|none',
    description:
      'token of the admin API (default: none on a loopback host, else generated and printed)',
  },
  'no-admin': toggle('disable the admin API, except health and ready'),
  fsync: toggle('fsync every write before responding'),
  cors: {
    type: origins,
    default: [],
    valueName: 'ORIGIN',
    description: 'let pages of this origin call /v1 (repeatable)',
  },
  'allow-host': {
    type: hosts,
    default: [],
    valueName: 'NAME',
    description: 'additional Host header value to accept (repeatable)',
  },
  'webhook-allow': {
    type: hosts,
    default: [],
    valueName: 'HOST',
    description: 'public host to which webhooks may be sent (repeatable)',
  },
  'webhook-retries': {
    ...oneOf('fast', 'standard'),
    default: 'fast',
    description: 'webhook retries: within 2 minutes, or within a day',
  },
  'webhook-time': {
    ...oneOf('wall', 'client'),
    default: 'wall',
    description: "clock of the webhook-timestamp header: real or the client's",
  },
  'max-clients': {
    type: () => wholeNumber(1, 100_000),
    default: 1000,
    valueName: 'N',
    description: 'maximum number of clients',
  },
  'no-auto-clients': toggle('do not create clients on first use'),
  'log-level': {
    ...oneOf('silent', 'error', 'warn', 'info'),
    default: 'info',
    description: 'log level; the log goes to standard error',
  },
  'log-format': {
    ...oneOf('pretty', 'json'),
    description: 'log format (default: pretty on a terminal, otherwise json)',
  },
  coverage: toggle('watch what the callers meet, for payout-sandbox coverage'),
  explain: toggle('add X-Sandbox-Client and X-Sandbox-Rule headers to responses'),
  reset: toggle('replace a damaged or incompatible data file, or with --state any; keeps a backup'),
} as const satisfies Record<string, Option>

export type OptionName = keyof typeof DEFINED

export const OPTIONS: Readonly<Record<OptionName, Option>> = DEFINED

export const OPTION_NAMES = Object.keys(OPTIONS) as OptionName[]

export type Options = Readonly<{
  [K in OptionName]:
    | z.output<ReturnType<(typeof DEFINED)[K]['type']>>
    | ((typeof DEFINED)[K] extends { default: unknown } ? never : undefined)
}>

/** An invalid option or argument. The message names it, its source, the value found and what is valid. */
export class BadOption extends Error {}

export const variableOf = (name: string): string =>
  `PAYOUT_SANDBOX_${name.toUpperCase().replaceAll('-', '_')}`

// Removed options, and the error that says what to use instead.
const REPEAT =
  '--clock frozen and --random-seed repeat a run, and requests export --har FILE keeps it for people'

/** The options by name: as a flag, a variable, a key of the config file and an option of the library. */
export const REMOVED_OPTIONS: Readonly<Record<string, string>> = {
  record: REPEAT,
  recover:
    'repair the data file or move its journal away, or use --reset, which starts with a new one and keeps backups',
  'discard-journal':
    'move the journal away, or use --reset, which starts with a new data file and keeps backups',
}

export const REMOVED_COMMANDS: Readonly<Record<string, string>> = {
  explore:
    'payout-sandbox sweep --only webhook tries each event late, repeated, reordered, dropped and forged',
  completion: 'payout-sandbox --help lists commands, payout-sandbox COMMAND --help its options',
  record: REPEAT,
  replay: REPEAT,
}
