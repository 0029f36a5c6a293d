import type { Readings } from '../assumptions/readings.ts'
import { inOrderOf } from '../model/field-order.ts'
import { rowsText, stateText } from '../store/states.ts'
import { rowsOf } from '../store/table.ts'
import type { Snapshot } from '../store/worlds.ts'
import type { ActiveScenario, Rows } from '../tables/rows.ts'
import type { SandboxTables } from '../tables/tables.ts'
import type { ClockState } from '../time/clock.ts'
import { DOCUMENT_ROWS, Profile, TABLE_NAMES, type TableName } from './state-document.ts'
import { settingOf } from './stored-state.ts'

// A state with fewer rows is sent in one piece.
const FEW_ROWS = 2_000

/** The JSON text of a state, in pieces. */
export type StateText = { pieces: Iterable<string>; isLarge: boolean }

const orderFields = Object.fromEntries(
  TABLE_NAMES.map((name) => [name, inOrderOf(DOCUMENT_ROWS[name])]),
) as Record<TableName, (row: object) => object>
const orderProfileFields = inOrderOf(Profile)

type State = Pick<Snapshot<Rows>, 'images' | 'counter'>

/** The rows of a table as an exported state has them. */
function* exportedRows(
  name: TableName,
  { images }: State,
  onSecret: StateExportDeps['onSecret'],
): Generator<object> {
  for (const row of rowsOf<object>(images[name])) {
    if (name !== 'webhook') yield orderFields[name](row)
    else {
      const { webhook_secret: _, ...shown } = row as Rows['webhook']
      onSecret(row as Rows['webhook'])
      yield orderFields.webhook(shown)
    }
  }
}

/** The JSON text of a state, in pieces of one row. */
function exportedText(state: State, clock: ClockState, deps: StateExportDeps): Iterable<string> {
  const { settings, client } = state.images
  const scenario = settingOf(settings, 'scenario')!
  const { name, definition } = scenario
  const { mode, speed, anchor } = clock
  const [profile] = rowsOf(client)
  const head = {
    format: 1,
    clock: { now: new Date(anchor).toISOString(), mode, speed },
    token_issued_at: new Date(settingOf(settings, 'token')?.issued_at ?? anchor).toISOString(),
    assumptions: deps.readingsOf(scenario, settingOf(settings, 'assumptions') ?? {}),
    scenario: { name, ...(definition && { definition }) },
    draws: state.counter,
    profile: orderProfileFields(profile!),
  }
  const tables = TABLE_NAMES.map(
    (table) => [table, rowsText(exportedRows(table, state, deps.onSecret))] as const,
  )
  return stateText(head, tables)
}

export type StateExportDeps = {
  store: SandboxTables
  clockNow: () => ClockState
  /** The readings that are not the default, by the stored scenario and the readings that calls have chosen. */
  readingsOf: (scenario: ActiveScenario, called: Readings) => Readings
  /** Whether long work yields to other calls. */
  pauses: boolean
  /** Called for every exported webhook. */
  onSecret: (webhook: Rows['webhook']) => void
}

/** Exports the present state of a client, or that of a snapshot. */
export function createStateExport(deps: StateExportDeps) {
  const { store, clockNow, pauses } = deps
  function textOf(state: State, clock: ClockState): StateText {
    const rows = TABLE_NAMES.reduce((sum, name) => sum + state.images[name].rows.size, 0)
    return { pieces: exportedText(state, clock, deps), isLarge: pauses && rows > FEW_ROWS }
  }
  return {
    /** The present state. */
    present: () => textOf(store.now(), clockNow()),
    /** The state of a snapshot. */
    ofSnapshot(name: string) {
      const state = store.snapshots.get(name)!
      return textOf(state, settingOf(state.images.settings, 'clock')!)
    },
  }
}
