import type { Readings } from '../assumptions/readings.ts'
import { uuidOf } from '../runtime/random.ts'
import type { StateShape, StoredState } from '../store/states.ts'
import { type Content, rowsOf } from '../store/table.ts'
import type { WorldAbout } from '../store/unit-of-work.ts'
import type { BaseRows, Snapshot } from '../store/worlds.ts'
import type { Rows, SettingRow } from '../tables/rows.ts'
import { TABLES } from '../tables/tables.ts'
import type { ClockState } from '../time/clock.ts'
import type { State } from './state.ts'

// Every start reads this file, so it does not import the schemas.

/** The tables that a state has as rows; the client and the settings have their own fields in it. */
export type TableName = Exclude<keyof Rows, 'client' | 'settings'>
export const TABLE_NAMES = Object.keys(TABLES).filter(
  (name): name is TableName => name !== 'client' && name !== 'settings',
)

const isoOf = (ms: number) => new Date(ms).toISOString()

/** The value of a setting. */
export function settingOf<N extends SettingRow['name']>(settings: Content<SettingRow>, name: N) {
  const row = settings.rows.get(name)?.row
  return row?.value as Extract<SettingRow, { name: N }>['value'] | undefined
}

/** The fields of a state besides its tables: as the data file has them (`about`), or as they are exported. */
export function headOf(
  { base, counter, images: { settings, client } }: Snapshot<Rows>,
  as: { about: WorldAbout } | { clock: ClockState; assumptions: Readings },
) {
  const stored = settingOf(settings, 'clock')!
  const { name, definition, activated_at, startedAs } = settingOf(settings, 'scenario')!
  const { client: _, ...profile } = rowsOf(client)[0]!
  const isOurs = 'about' in as
  const { mode, speed, anchor, wallAnchor } = isOurs ? stored : as.clock
  return {
    format: 1,
    clock: {
      now: isoOf(anchor),
      mode,
      speed,
      ...(isOurs && { as_of: isoOf(wallAnchor), started_as: stored.startedAs }),
    },
    token_issued_at: isoOf(settingOf(settings, 'token')?.issued_at ?? anchor),
    ...(isOurs
      ? { assumptions_by_call: settingOf(settings, 'assumptions') }
      : { assumptions: as.assumptions }),
    scenario: { name, definition, activated_at, ...(isOurs && { started_as: startedAs }) },
    draws: counter,
    profile,
    ...(isOurs && {
      start: Object.keys(as.about).length > 0 ? as.about : undefined,
      fixtures: base === '' ? undefined : base,
    }),
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

/** The settings that the fields of a state say. */
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

/** The rows of all tables of a client with a state. */
export const rowsOfState = (client: string, state: State): BaseRows<Rows> => ({
  ...(state.tables as BaseRows<Rows>),
  client: [{ client, ...state.profile } as Rows['client']],
  settings: settingsIn(state),
})

/** How the data file has a client's world. */
export const STORED_STATE: StateShape<Rows> = {
  tables: TABLE_NAMES,
  headOf: (state, about) => headOf(state, { about }),
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
