import * as z from 'zod'
import { isClockTime } from '../model/text.ts'
import { meantOptions, type TakenValues } from './did-you-mean.ts'

/** A number of a file as it is, or the digits of a flag or a variable; `Number` alone would take '', 5e3 and 0x10. */
const digits = (form: RegExp, error: string) =>
  z.union([z.number(), z.string().regex(form).transform(Number)], { error })

const wholeNumber = (from: number, to: number) => {
  const error = `takes a whole number from ${from} to ${to}`
  return digits(/^\d{1,16}$/, error).pipe(z.int({ error }).min(from, { error }).max(to, { error }))
}

const takes = <T extends string>(...words: [T, ...T[]]) =>
  z.enum(words, { error: `takes ${words.join(', ')}` })

const instant = z.iso
  .datetime({ offset: true })
  .refine((text) => isClockTime(Date.parse(text)))
  .transform((text) => new Date(text).toISOString())

const SPEED = 'takes a number above 0, up to 1000000, such as 60 or 0.5'

const flag = z
  .union([z.boolean(), z.enum(['true', 'false', '1', '0'])], { error: 'takes true or false' })
  .transform((value) => value === true || value === 'true' || value === '1')

const list = z
  .union([
    z.string().transform((text) => text.split(',').map((part) => part.trim())),
    z.array(z.string()),
  ])
  .pipe(z.array(z.string().min(1)))

const isHost = (text: string) =>
  /^(?:\[?[0-9a-f:.]+\]?|[^\s/\\?#@:[\]]+)$/i.test(text) &&
  URL.canParse(`http://${text.includes(':') && !text.startsWith('[') ? `[${text}]` : text}/`)

const HOST_WANTED = 'takes a host name or an IP address, without scheme, port or path'

/** The one list of options: what each accepts, its default, how that is shown and what it means. */
export const OPTIONS = {
  port: [wholeNumber(0, 65_535), 4310, 'N', 'port to listen on; 0 = a free one'],
  host: [z.string().min(1), '127.0.0.1', 'NAME', 'address to listen on'],
  data: [z.string().min(1), '.payout-sandbox/db.json', 'FILE', 'where state is kept'],
  memory: [flag, false, '', 'keep no state'],
  fixtures: [
    z.string().min(1),
    undefined,
    'PATH',
    'file or folder of JSON; default: the shipped set',
  ],
  scenario: [
    z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, { error: 'takes the name of a scenario' }),
    'default',
    'NAME',
    'the script at start',
  ],
  scenarios: [
    z.string().min(1),
    undefined,
    'DIR',
    'a folder of scenario files, and of folders with them; searched before the shipped set',
  ],
  watch: [flag, false, '', 'read the scenario files again when they change'],
  'random-seed': [
    wholeNumber(0, Number.MAX_SAFE_INTEGER),
    1,
    'N',
    'seed of ids, UTRs, chances and names',
  ],
  clock: [
    z.union([z.enum(['real', 'frozen']), instant], {
      error:
        'takes real, frozen, or an ISO 8601 instant from 1970 to 9999 such as 2026-01-01T00:00:00Z',
    }),
    'real',
    'real|frozen|ISO',
    'what the clock starts as; an instant is frozen',
  ],
  'clock-speed': [
    digits(/^\d{1,7}(\.\d{1,9})?$/, SPEED).pipe(
      z.number({ error: SPEED }).gt(0, { error: SPEED }).max(1_000_000, { error: SPEED }),
    ),
    1,
    'X',
    'client seconds a real second; 60 = a minute a second',
  ],
  auth: [takes('spec', 'strict', 'off'), 'spec', 'spec|strict|off', 'which calls need a token'],
  'admin-token': [
    z
      .string()
      .regex(/^[\x21-\x7e]{1,256}$/, { error: 'takes 1 to 256 visible ASCII characters, or none' }),
    undefined,
    'T|none',
    'token the admin API wants; default: none on a loopback host, else one is made and printed',
  ],
  'no-admin': [flag, false, '', 'serve no admin API but its health and ready'],
  fsync: [flag, false, '', 'answer a change only once the disk has it'],
  cors: [
    z.string().refine((value) => URL.canParse(value) && new URL(value).origin === value, {
      error: 'takes an origin such as http://localhost:3000',
    }),
    undefined,
    'ORIGIN',
    'let a browser app of that origin call /v1; other sites are refused',
  ],
  'allow-host': [
    list.refine((hosts) => hosts.every(isHost), { error: HOST_WANTED }),
    [],
    'NAME',
    'further Host names to answer to; may be given again',
  ],
  'webhook-allow': [
    list.refine((hosts) => hosts.every(isHost), {
      error: HOST_WANTED,
    }),
    [],
    'HOST',
    'public host that webhooks may go to; may be given again',
  ],
  'webhook-retries': [
    takes('fast', 'standard'),
    'fast',
    'fast|standard',
    'when attempts are made: within 2 minutes, or within a day',
  ],
  'webhook-time': [
    takes('wall', 'client'),
    'wall',
    'wall|client',
    'whose clock webhook-timestamp shows',
  ],
  'max-clients': [
    wholeNumber(1, 100_000),
    1000,
    'N',
    'how many clients there may be; a small heap allows fewer',
  ],
  'no-auto-clients': [flag, false, '', 'a new name in a base path makes no client'],
  'log-level': [
    takes('silent', 'error', 'warn', 'info', 'debug'),
    'info',
    'silent|error|warn|info|debug',
    'what is logged, on standard error',
  ],
  'log-format': [
    takes('pretty', 'json'),
    undefined,
    'pretty|json',
    'default: pretty on a terminal',
  ],
  record: [
    z.string().min(1),
    undefined,
    'FILE',
    'keep the run in a file for replay; needs --memory',
  ],
  explain: [flag, false, '', 'answers carry X-Sandbox-Client and X-Sandbox-Rule'],
  recover: [flag, false, '', 'of a damaged data file keep what is good; a copy is kept'],
  reset: [flag, false, '', 'in place of a damaged data file start anew; a copy is kept'],
} as const satisfies Record<string, readonly [z.ZodType, unknown, string, string]>

/** The name of an option, as on the command line. */
export type OptionName = keyof typeof OPTIONS

/** Every option with its value. */
export type Options = {
  [K in OptionName]:
    | z.output<(typeof OPTIONS)[K][0]>
    | ((typeof OPTIONS)[K][1] extends undefined ? undefined : never)
}

/** An option that can't be used: which, where it came from, and what it takes. */
export class BadOption extends Error {}

const NAMES = Object.keys(OPTIONS) as OptionName[]
const TAKEN: TakenValues = Object.fromEntries(NAMES.map((name) => [name, OPTIONS[name][2]]))

/** The environment variable of an option. */
export const variableOf = (name: string): string =>
  `PAYOUT_SANDBOX_${name.toUpperCase().replaceAll('-', '_')}`

/** Maps the key of an option in a file (`random_seed`) to its name, and back. A key with dashes becomes no name. */
export const swapDashes = (name: string): string =>
  name.replace(/[-_]/g, (character) => (character === '-' ? '_' : '-'))

/** One source of options: values by name, how to call a name of it in a message, and how to write an option there. */
export type OptionSource = {
  values: Readonly<Record<string, unknown>>
  called: (name: string) => string
  spelled: (name: string, value?: string) => string
}

/**
 * Takes each of these options from the first source that has it, checks it, and fills in the defaults. An option that
 * there is not is refused in any source.
 */
export function readSome<T extends OptionName>(
  names: readonly T[],
  sources: readonly OptionSource[],
): Pick<Options, T> {
  const options: Record<string, unknown> = {}
  for (const { values, called, spelled } of sources) {
    for (const name of Object.keys(values)) {
      if (!NAMES.includes(name as OptionName)) {
        throw unknownOption(called(name), name, TAKEN, spelled)
      }
    }
  }
  for (const name of names) {
    const source = sources.find(({ values }) => values[name] !== undefined)
    const [schema, fallback, takesWhat] = OPTIONS[name]
    if (!source) {
      options[name] = fallback
      continue
    }
    const value = source.values[name]
    const result = schema.safeParse(value)
    if (!result.success) {
      const why = result.error.issues[0]?.message ?? ''
      const expected = why.startsWith('takes') ? why : `takes ${takesWhat || 'true or false'}`
      const found = typeof value === 'number' ? String(value) : JSON.stringify(value)
      const shown = name === 'admin-token' ? '' : `, not ${found}`
      throw new BadOption(`${source.called(name)} ${expected}${shown}`)
    }
    options[name] = result.data
  }
  return options as Pick<Options, T>
}

/** Takes every option as `readSome` does, and checks that they go together. */
export function readOptions(sources: readonly OptionSource[]): Options {
  const read = readSome(NAMES, sources)
  const rank = (name: OptionName) => sources.findIndex(({ values }) => values[name] !== undefined)
  if (read.memory && rank('data') !== -1 && rank('data') <= rank('memory')) {
    if (rank('data') === rank('memory'))
      throw new BadOption('--memory and --data exclude each other')
    // What comes from nearer says more: a flag --data against a variable PAYOUT_SANDBOX_MEMORY.
    read.memory = false
  }
  if (read.record !== undefined && !read.memory)
    throw new BadOption(
      '--record needs --memory: a run starts from its fixtures, not from a data file',
    )
  if (read.record !== undefined && read.watch)
    throw new BadOption('--record and --watch exclude each other: a run has one set of scenarios')
  if (read.recover && read.reset) throw new BadOption('--recover and --reset exclude each other')
  return read
}

/** The refusal of an unknown option: it names the known ones that were probably meant. */
export function unknownOption(
  called: string,
  name: string,
  known: TakenValues,
  spelled: OptionSource['spelled'],
): BadOption {
  const meant = meantOptions(name, known).map((one) => spelled(one.name, one.value))
  const [last, ...others] = meant.reverse()
  const list = others.length > 0 ? `${others.reverse().join(', ')} or ${last}` : last
  return new BadOption(`unknown option ${called}${list ? ` (did you mean ${list}?)` : ''}`)
}
