import type { Readings } from '../assumptions/readings.ts'
import { inOrderOf } from '../model/paging.ts'
import { stateText } from '../store/document-text.ts'
import { type Content, rowsOf } from '../store/table.ts'
import type { WorldAbout } from '../store/unit-of-work.ts'
import type { Snapshot } from '../store/worlds.ts'
import type { ActiveScenario, Rows, SettingRow } from '../tables/rows.ts'
import type { SandboxTables } from '../tables/tables.ts'
import type { ClockState } from '../time/clock.ts'
import { Profile, STATE_ROWS, TABLE_NAMES, type TableName } from './state.ts'

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
    profile: isOurs ? profile : orderProfileFields(profile),
    ...(isOurs && {
      start: Object.keys(as.about).length > 0 ? as.about : undefined,
      fixtures: base === '' ? undefined : base,
    }),
  }
}

const orderFields = Object.fromEntries(
  TABLE_NAMES.map((name) => [name, inOrderOf(STATE_ROWS[name])]),
) as Record<TableName, (row: object) => object>
const orderProfileFields = inOrderOf(Profile)

/** A world whose state is exported. */
export type ExportedWorld = {
  name: string
  tables: SandboxTables
  clockNow: () => ClockState
  assumptions: { notDefault: (scenario: ActiveScenario, called: Readings) => Readings }
  /** The secrets of webhooks in exported states, by id: an import into the same client needs none. */
  exportedSecrets: Map<string, string>
}

/** The JSON text of a state, without what belongs to this sandbox. */
function exported(state: Snapshot<Rows>, clock: ClockState, world: ExportedWorld): string {
  const { settings, webhook } = state.images
  const scenario = settingOf(settings, 'scenario')!
  const called = settingOf(settings, 'assumptions') ?? {}
  const head = headOf(state, { clock, assumptions: world.assumptions.notDefault(scenario, called) })
  for (const { webhook_id, webhook_secret } of rowsOf(webhook))
    world.exportedSecrets.set(webhook_id, webhook_secret)
  const tables = Object.fromEntries(
    TABLE_NAMES.map((name) => [name, rowsOf<object>(state.images[name]).map(orderFields[name])]),
  )
  tables['webhook'] = rowsOf(webhook).map(({ webhook_secret: _, ...row }) =>
    orderFields.webhook(row),
  )
  return [...stateText({ ...head, tables })].join('')
}

/** The present state of a client. */
export const exportState = (world: ExportedWorld): string =>
  exported(world.tables.now(), world.clockNow(), world)

/** The state of a snapshot. */
export function exportSnapshot(world: ExportedWorld, name: string): string {
  const state = world.tables.snapshots.get(name)!
  return exported(state, settingOf(state.images.settings, 'clock')!, world)
}
