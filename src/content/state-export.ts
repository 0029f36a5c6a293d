import type { Readings } from '../assumptions/readings.ts'
import { inOrderOf } from '../model/paging.ts'
import { rowsText, stateText } from '../store/states.ts'
import { rowsOf } from '../store/table.ts'
import type { Snapshot } from '../store/worlds.ts'
import type { ActiveScenario, Rows } from '../tables/rows.ts'
import type { SandboxTables } from '../tables/tables.ts'
import type { ClockState } from '../time/clock.ts'
import { DOCUMENT_ROWS, Profile, TABLE_NAMES, type TableName } from './state-document.ts'
import { settingOf } from './stored-state.ts'

const orderFields = Object.fromEntries(
  TABLE_NAMES.map((name) => [name, inOrderOf(DOCUMENT_ROWS[name])]),
) as Record<TableName, (row: object) => object>
const orderProfileFields = inOrderOf(Profile)

type State = Pick<Snapshot<Rows>, 'images' | 'counter'>

/** The rows of a table as an exported state has them: without the secret of a webhook, which the world remembers. */
function* exportedRows(
  name: TableName,
  { images }: State,
  secrets: Map<string, string>,
): Generator<object> {
  for (const row of rowsOf<object>(images[name])) {
    if (name !== 'webhook') yield orderFields[name](row)
    else {
      const { webhook_secret, ...shown } = row as Rows['webhook']
      secrets.set(shown.webhook_id, webhook_secret)
      yield orderFields.webhook(shown)
    }
  }
}

/** A world whose state is exported. */
export type ExportedWorld = {
  name: string
  tables: SandboxTables
  clockNow: () => ClockState
  assumptions: { notDefault: (scenario: ActiveScenario, called: Readings) => Readings }
  exportedSecrets: Map<string, string>
}

/** The JSON text of a state. */
function exported(state: State, clock: ClockState, world: ExportedWorld): string {
  const { settings, client } = state.images
  const scenario = settingOf(settings, 'scenario')!
  const { name, definition, activated_at } = scenario
  const { mode, speed, anchor } = clock
  const [profile] = rowsOf(client)
  const called = settingOf(settings, 'assumptions') ?? {}
  const head = {
    format: 1,
    clock: { now: new Date(anchor).toISOString(), mode, speed },
    token_issued_at: new Date(settingOf(settings, 'token')?.issued_at ?? anchor).toISOString(),
    assumptions: world.assumptions.notDefault(scenario, called),
    scenario: {
      name,
      ...(definition && { definition }),
      ...(activated_at && { activated_at }),
    },
    draws: state.counter,
    profile: orderProfileFields(profile!),
  }
  const tables = TABLE_NAMES.map(
    (table) => [table, rowsText(exportedRows(table, state, world.exportedSecrets))] as const,
  )
  return [...stateText(head, tables)].join('')
}

/** The present state of a client. */
export const exportState = (world: ExportedWorld): string =>
  exported(world.tables.now(), world.clockNow(), world)

/** The state of a snapshot. */
export function exportSnapshot(world: ExportedWorld, name: string): string {
  const state = world.tables.snapshots.get(name)!
  return exported(state, settingOf(state.images.settings, 'clock')!, world)
}
