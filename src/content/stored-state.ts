import type { StateShape, StoredState } from '../store/states.ts'
import type { Content } from '../store/table.ts'
import { rowsOf } from '../store/table.ts'
import type { WorldAbout } from '../store/unit-of-work.ts'
import type { Images } from '../store/worlds.ts'
import type { Rows, SettingRow } from '../tables/rows.ts'
import { TABLES } from '../tables/tables.ts'
import type { StoredHead, TableName } from './state-document.ts'

/** The tables that a state lists; the client and the settings have their own fields in it. */
export const TABLE_NAMES = Object.keys(TABLES).filter(
  (name): name is TableName => name !== 'client' && name !== 'settings',
)

const isoOf = (ms: number) => new Date(ms).toISOString()

/** The value of a setting. */
export function settingOf<N extends SettingRow['name']>(settings: Content<SettingRow>, name: N) {
  const row = settings.rows.get(name)?.row
  return row?.value as Extract<SettingRow, { name: N }>['value'] | undefined
}

/** The fields of a state besides its tables, as the data file has them. */
function headOf(
  { base, counter, images }: { base: string; counter: number; images: Images<Rows> },
  about: WorldAbout,
): Partial<StoredHead> {
  const { settings, client } = images
  const clock = settingOf(settings, 'clock')
  const token = settingOf(settings, 'token')
  const scenario = settingOf(settings, 'scenario')
  const [row] = rowsOf(client)
  const { client: _, ...profile } = row ?? {}
  return {
    format: 1,
    ...(clock && {
      clock: {
        now: isoOf(clock.anchor),
        mode: clock.mode,
        speed: clock.speed,
        as_of: isoOf(clock.wallAnchor),
        started_as: clock.startedAs,
      },
    }),
    ...(token && { token_issued_at: isoOf(token.issued_at) }),
    ...(settings.rows.has('assumptions') && {
      assumptions_by_call: settingOf(settings, 'assumptions'),
    }),
    ...(scenario && {
      scenario: {
        name: scenario.name,
        ...(scenario.definition && { definition: scenario.definition }),
        ...(scenario.activated_at && { activated_at: scenario.activated_at }),
        started_as: scenario.startedAs,
      },
    }),
    draws: counter,
    ...(row && { profile: profile as StoredHead['profile'] }),
    ...(Object.keys(about).length > 0 && { start: about }),
    ...(base !== '' && { fixtures: base }),
  }
}

/** The settings that the fields of a state say. */
export function settingsIn(state: Partial<StoredHead>): SettingRow[] {
  const { clock, token_issued_at: issued, assumptions_by_call: called, scenario } = state
  const rows: SettingRow[] = []
  if (issued !== undefined) rows.push({ name: 'token', value: { issued_at: Date.parse(issued) } })
  if (scenario) {
    const { started_as: startedAs = '', ...choice } = scenario
    rows.push({ name: 'scenario', value: { ...choice, startedAs } as never })
  }
  if (clock) {
    const { now, mode, speed, as_of: asOf, started_as: startedAs = '' } = clock
    const wallAnchor = asOf === undefined ? 0 : Date.parse(asOf)
    const value = { mode, speed, anchor: Date.parse(now), wallAnchor, startedAs }
    rows.push({ name: 'clock', value })
  }
  if (called) rows.push({ name: 'assumptions', value: called })
  return rows
}

/** How the data file has a client's state; an exported state is the same without what belongs to this sandbox. */
export const STORED_STATE: StateShape<Rows> = {
  tables: TABLE_NAMES,
  whole: 'default',
  headOf,
  read(fields: StoredState, client) {
    const { draws, profile, start, fixtures, ...head } = fields as unknown as Partial<StoredHead>
    return {
      about: start ?? {},
      base: fixtures ?? '',
      counter: draws ?? 0,
      rows: {
        client: profile ? [{ client, ...profile }] : [],
        settings: settingsIn(head),
      },
    }
  },
}
