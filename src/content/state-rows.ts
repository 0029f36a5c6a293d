import { uuidOf } from '../runtime/random.ts'
import type { StateShape, StoredState } from '../store/states.ts'
import type { BaseRows } from '../store/worlds.ts'
import type { Rows, SettingRow } from '../tables/rows.ts'
import { type State, TABLE_NAMES } from './state.ts'
import { headOf } from './write-state.ts'

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
