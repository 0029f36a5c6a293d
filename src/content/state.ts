import * as z from 'zod'
import { type Readings, readingProblem } from '../assumptions/readings.ts'
import { AccountNumber, IfscCode } from '../model/bank-account.ts'
import { ClientRow } from '../model/client.ts'
import { isClockTime, isObject, isoOf, named, Timestamp } from '../model/formats.ts'
import { MAX_PAISE } from '../model/payment.ts'
import { AnyEmail, AnyMobile } from '../model/user.ts'
import { CreateWebhook } from '../model/webhook.ts'
import { uuidOf } from '../runtime/random.ts'
import { FORMAT } from '../store/errors.ts'
import type { StateShape, StoredState } from '../store/states.ts'
import { rowsOf } from '../store/table.ts'
import type { WorldAbout } from '../store/unit-of-work.ts'
import type { BaseRows, Snapshot } from '../store/worlds.ts'
import { ROWS, type Rows, type SettingRow } from '../tables/rows.ts'
import { settingOf } from '../tables/tables.ts'
import { checkTimer } from './timer-payloads.ts'

const { url, webhook_secret } = CreateWebhook.shape

/** The tables that a state has as rows; the client and the settings have their own fields in it. */
export type TableName = keyof typeof ROWS
export const TABLE_NAMES = Object.keys(ROWS) as TableName[]

/** The rows of a state: as they are stored, but a person may have written them, so some fields are checked more. */
export const STATE_ROWS = {
  ...ROWS,
  users: ROWS.users.extend({ email: AnyEmail, mobile: AnyMobile }),
  bank_accounts: ROWS.bank_accounts.extend({ account_number: AccountNumber, ifsc_code: IfscCode }),
  payments: ROWS.payments.extend({ paise: z.int().min(0).max(MAX_PAISE) }),
  webhook: ROWS.webhook.extend({ url, webhook_secret: webhook_secret.optional() }),
  timers: ROWS.timers.superRefine(checkTimer),
}

const tables = Object.fromEntries(
  Object.entries(STATE_ROWS).map(([name, row]) => [name, z.array(row as z.ZodType)]),
) as unknown as { [K in keyof typeof STATE_ROWS]: z.ZodArray<(typeof STATE_ROWS)[K]> }

function checkReadings(readings: Readings, context: z.RefinementCtx) {
  for (const [name, reading] of Object.entries(readings)) {
    const problem = readingProblem(name, reading)
    if (problem !== undefined) context.addIssue({ code: 'custom', path: [name], message: problem })
  }
}
const StoredReadings = z.record(z.string(), z.string()).superRefine(checkReadings)

// The counter of the random series must stay exact: near 2^53, adding 1 has no effect. The numbers above this limit are
// never used up.
const MAX_DRAWS = 2 ** 48

const IDS = { client_id: true, access_token: true } as const
/** What an exported state says about the client. */
export const Profile = ClientRow.omit({ client: true, ...IDS })

/** A whole world as JSON: in `clients` of db.json, and as it is exported, imported and started from. */
export const State = named('State', {
  format: z.literal(1),
  clock: z.strictObject({
    now: Timestamp.refine((text) => isClockTime(Date.parse(text)), {
      error: 'must not be before the year 1970',
    }),
    mode: z.enum(['real', 'frozen']),
    speed: z.number().gt(0).max(1_000_000),
    /** In the data file: when the client's time was `now`, on the clock of the machine. */
    as_of: Timestamp.optional(),
    /** In the data file: the clock options of the start; with others, a start applies them. */
    started_as: z.string().optional(),
  }),
  /** When the access token was issued (default: now). */
  token_issued_at: Timestamp.optional(),
  /** The readings that are not the default. */
  assumptions: StoredReadings.optional(),
  /** In the data file: the readings that calls have chosen. */
  assumptions_by_call: StoredReadings.optional(),
  scenario: z.strictObject({
    name: z.string(),
    definition: z.looseObject({}).optional(),
    activated_at: Timestamp.optional(),
    /** In the data file: the start scenario; with another one, a start applies it. */
    started_as: z.string().optional(),
  }),
  draws: z.int().min(0).max(MAX_DRAWS),
  /** In the data file: the options of the call that created the client. */
  start: z.looseObject({}).optional(),
  /** In the data file: the key of the fixtures that the client started with. */
  fixtures: z.string().optional(),
  profile: Profile.extend(ClientRow.pick(IDS).partial().shape),
  tables: z.strictObject(tables),
})
export type State = z.infer<typeof State>

/** A whole `db.json`, of which a call or a client takes one state. */
export const DataFile = z
  .looseObject({ format: z.literal(FORMAT), clients: z.record(z.string(), z.looseObject({})) })
  .meta({ id: 'DataFile' })

/** Whether a value is a whole data file, or is meant to be one. */
export const isDataFile = (value: unknown): value is { clients: Record<string, unknown> } =>
  isObject(value) && isObject(value['clients'])

// ---- a state and its rows

/** The fields of a state besides its tables, as the data file has them. */
export function headOf(
  { base, counter, images: { settings, client } }: Snapshot<Rows>,
  about: WorldAbout = {},
) {
  const { anchor, mode, speed, wallAnchor, startedAs: clockStart } = settingOf(settings, 'clock')!
  const { name, definition, activated_at, startedAs } = settingOf(settings, 'scenario')!
  const { client: _, ...profile } = rowsOf(client)[0]!
  return {
    format: 1,
    clock: { now: isoOf(anchor), mode, speed, as_of: isoOf(wallAnchor), started_as: clockStart },
    token_issued_at: isoOf(settingOf(settings, 'token')?.issued_at ?? anchor),
    assumptions_by_call: settingOf(settings, 'assumptions'),
    scenario: { name, definition, activated_at, started_as: startedAs },
    draws: counter,
    profile,
    start: Object.keys(about).length > 0 ? about : undefined,
    fixtures: base === '' ? undefined : base,
  }
}

/** What a client has that a state without ids and secrets lacks. */
export type Known = {
  client_id?: string | undefined
  access_token?: string | undefined
  secretOf?: (webhook: string) => string | undefined
}

/** A state that has all ids and secrets: its own, else those that are known, else fixed ones, so that others can know them. */
export function withSecrets(client: string, state: State, known: Known = {}): State {
  const { profile, tables } = state
  const {
    client_id = known.client_id ?? uuidOf(`client ${client}`),
    access_token = known.access_token ??
      (client === 'default' ? 'sbx_test_token' : `sbx_${client}`),
  } = profile
  const complete = { ...state, profile: { client_id, access_token, ...profile } }
  if (tables.webhook.every((row) => row.webhook_secret !== undefined)) return complete
  const webhook = tables.webhook.map((row) => ({
    ...row,
    webhook_secret: row.webhook_secret ?? known.secretOf?.(row.webhook_id) ?? `whsec_${client}`,
  }))
  return { ...complete, tables: { ...tables, webhook } }
}

function settingsIn(state: State): SettingRow[] {
  const { clock, scenario, token_issued_at: issued = clock.now } = state
  const { now, mode, speed, as_of: asOf, started_as: clockStart = '' } = clock
  const { started_as: startedAs = '', ...choice } = scenario
  const { assumptions = {} } = state
  const called =
    state.assumptions_by_call ?? (Object.keys(assumptions).length > 0 ? assumptions : undefined)
  const wallAnchor = asOf === undefined ? 0 : Date.parse(asOf)
  return [
    { name: 'token', value: { issued_at: Date.parse(issued) } },
    { name: 'scenario', value: { ...choice, startedAs } as never },
    {
      name: 'clock',
      value: { mode, speed, anchor: Date.parse(now), wallAnchor, startedAs: clockStart },
    },
    ...(called ? [{ name: 'assumptions' as const, value: called }] : []),
  ]
}

export const rowsOfState = (client: string, state: State): BaseRows<Rows> => ({
  ...(state.tables as BaseRows<Rows>),
  client: [{ client, ...state.profile } as Rows['client']],
  settings: settingsIn(state),
})

/** How the data file has a client's world. */
export const STORED_STATE: StateShape<Rows> = {
  tables: TABLE_NAMES,
  headOf,
  read(stored: StoredState, client) {
    const state = stored as unknown as State
    const { client: profile, settings } = rowsOfState(client, state)
    return {
      about: state.start ?? {},
      base: state.fixtures ?? '',
      counter: state.draws,
      rows: { client: profile!, settings: settings! },
    }
  },
}
