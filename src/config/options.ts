import * as z from 'zod'
import { givenReadings, type Readings, readingProblem } from '../assumptions/readings.ts'
import { isClockTime } from '../model/formats.ts'

/** Accepts a JSON number, or decimal digits from a flag or a variable. `Number` alone would accept '', 5e3 and 0x10. */
const decimal = (format: RegExp, error: string) =>
  z.union([z.number(), z.string().regex(format).transform(Number)], { error })

const wholeNumber = (from: number, to: number) => {
  const error = `takes a whole number from ${from} to ${to}`
  return decimal(/^\d{1,16}$/, error).pipe(z.int({ error }).min(from, { error }).max(to, { error }))
}

const oneOf = <T extends string>(...values: [T, ...T[]]) =>
  z.enum(values, { error: `takes ${values.slice(0, -1).join(', ')} or ${values.at(-1)}` })

const text = () => z.string().min(1)

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
  z
    .union([z.boolean(), z.enum(['true', 'false', '1', '0'])], { error: 'takes true or false' })
    .transform((value) => value === true || value === 'true' || value === '1')

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

const READING_ERROR = 'takes NAME=READING, such as idempotency_key=honoured'

/** The string `name=reading` as an entry; the name alone without `=`. */
function readingOf(text: string): [string, string] {
  const at = text.indexOf('=')
  return at < 0 ? [text, ''] : [text.slice(0, at).trim(), text.slice(at + 1).trim()]
}

/** Readings as `name=reading` texts of a flag or a variable, or as an object of a file or the library. */
const readings = () =>
  z
    .union(
      [list().transform((texts) => Object.fromEntries(texts.map(readingOf))), z.looseObject({})],
      {
        error: READING_ERROR,
      },
    )
    .transform((values, context): Readings => {
      const given = givenReadings(values)
      for (const [name, reading] of Object.entries(given)) {
        const problem = readingProblem(name, reading)
        if (problem === undefined) continue
        context.addIssue({ code: 'custom', message: `${READING_ERROR}: ${name} ${problem}` })
      }
      return given
    })

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
    'state to start from, or a whole db.json; never written',
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
    'folder of scenario files, subfolders included; takes precedence over the shipped ones',
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
  'clock-speed': [speed, 1, 'X', 'clock speed multiplier; 60 = one simulated minute per second'],
  assume: [
    readings,
    {},
    'NAME=READING',
    'reading of an assumption (repeatable); docs/assumptions.md lists them',
  ],
  'assume-file': [
    text,
    undefined,
    'FILE',
    'readings written by conform --save; --assume overrides them',
  ],
  auth: [
    () => oneOf('spec', 'strict', 'off'),
    undefined,
    'spec|strict|off',
    'which calls need an access token: spec = as in the contract, strict = all, off = none (default: spec); same as --assume token=MODE',
  ],
  'admin-token': [
    () =>
      z.string().regex(/^[\x21-\x7e]{1,256}$/, {
        error: 'takes 1 to 256 visible ASCII characters, or none',
      }),
    undefined,
    'T|none',
    'token of the admin API (default: none on a loopback host, else generated and printed)',
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
    'let pages of this origin call /v1',
  ],
  'allow-host': [hosts, [], 'NAME', 'additional Host header value to accept (repeatable)'],
  'webhook-allow': [hosts, [], 'HOST', 'public host to which webhooks may be sent (repeatable)'],
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
    "clock of the webhook-timestamp header: real or the client's",
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
  coverage: [flag, false, '', 'watch what the callers meet, for payout-sandbox coverage'],
  explain: [flag, false, '', 'add X-Sandbox-Client and X-Sandbox-Rule headers to responses'],
  recover: [flag, false, '', 'keep what can be read of a damaged data file, and a backup'],
  'discard-journal': [flag, false, '', 'keep an edited data file and drop its journal'],
  reset: [
    flag,
    false,
    '',
    'replace a damaged or incompatible data file, or with --state any; keeps a backup',
  ],
} as const satisfies Record<string, readonly [() => z.ZodType, unknown, string, string]>

/** The name of an option, as on the command line. */
export type OptionName = keyof typeof OPTIONS

export const OPTION_NAMES = Object.keys(OPTIONS) as OptionName[]

/** Every option with its value. */
export type Options = Readonly<{
  [K in OptionName]:
    | z.output<ReturnType<(typeof OPTIONS)[K][0]>>
    | ((typeof OPTIONS)[K][1] extends undefined ? undefined : never)
}>

/** An invalid option or argument. The message names it, its source, the value found and what is valid. */
export class BadOption extends Error {}

/** The environment variable of an option. */
export const variableOf = (name: string): string =>
  `PAYOUT_SANDBOX_${name.toUpperCase().replaceAll('-', '_')}`

/** Maps the key of an option in a file (`random_seed`) to its name, and back. A key with dashes becomes no name. */
export const swapDashes = (name: string): string =>
  name.replace(/[-_]/g, (character) => (character === '-' ? '_' : '-'))
