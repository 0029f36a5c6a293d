import type { Readings } from '../assumptions/readings.ts'
import { inOrderOf } from '../model/paging.ts'
import { stateText } from '../store/document-text.ts'
import { rowsOf } from '../store/table.ts'
import type { Snapshot } from '../store/worlds.ts'
import type { ActiveScenario, Rows } from '../tables/rows.ts'
import type { SandboxTables } from '../tables/tables.ts'
import type { ClockState } from '../time/clock.ts'
import { Profile, STATE_ROWS } from './state.ts'
import { headOf, settingOf, TABLE_NAMES, type TableName } from './state-rows.ts'

const orderFields = Object.fromEntries(
  TABLE_NAMES.map((name) => [name, inOrderOf(STATE_ROWS[name])]),
) as Record<TableName, (row: object) => object>
const orderProfileFields = inOrderOf(Profile)

/** A world whose state is exported. */
export type ExportedWorld = {
  name: string
  tables: SandboxTables
  clock: { present: () => ClockState }
  scenarios: {
    assumptions: { notDefault: (scenario: ActiveScenario, called: Readings) => Readings }
  }
  webhooks: { exportedSecrets: Map<string, string> }
}

/** The JSON text of a state, without what belongs to this sandbox. */
function exported(state: Snapshot<Rows>, clock: ClockState, world: ExportedWorld): string {
  const { settings, webhook } = state.images
  const scenario = settingOf(settings, 'scenario')!
  const called = settingOf(settings, 'assumptions') ?? {}
  const assumptions = world.scenarios.assumptions.notDefault(scenario, called)
  const head = headOf(state, { clock, assumptions })
  for (const { webhook_id, webhook_secret } of rowsOf(webhook))
    world.webhooks.exportedSecrets.set(webhook_id, webhook_secret)
  const tables = Object.fromEntries(
    TABLE_NAMES.map((name) => [name, rowsOf<object>(state.images[name]).map(orderFields[name])]),
  )
  tables['webhook'] = rowsOf(webhook).map(({ webhook_secret: _, ...row }) =>
    orderFields.webhook(row),
  )
  return [...stateText({ ...head, profile: orderProfileFields(head.profile), tables })].join('')
}

/** The present state of a client. */
export const exportState = (world: ExportedWorld): string =>
  exported(world.tables.now(), world.clock.present(), world)

/** The state of a snapshot. */
export const exportSnapshot = (world: ExportedWorld, state: Snapshot<Rows>): string =>
  exported(state, settingOf(state.images.settings, 'clock')!, world)
